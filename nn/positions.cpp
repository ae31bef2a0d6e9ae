#include <attograd/core/create.h>
#include <attograd/nn/positions.h>

namespace attograd::nn {

Tensor sinusoid(int64_t length, int64_t width, DType dtype) {
  check<ValueError>(length >= 0 && width > 0,
                    "sinusoid: the length must be >= 0 and the width > 0, got ", length, " and ",
                    width);
  check<DTypeError>(is_floating(dtype), "sinusoid: must be f32 or f64, got ", dtype);
  const Tensor t = unsqueeze(cast(arange(0, length), DType::f64), 1);  // [T, 1]
  const Tensor two_i = cast(arange(0, width, 2), DType::f64);          // [pairs]
  const Tensor angle = t / pow(10000.0, two_i / static_cast<double>(width));
  const Tensor pairs = stack({sin(angle), cos(angle)}, 2);             // [T, pairs, 2]
  const Tensor channels = reshape(pairs, {length, 2 * pairs.dim(1)});  // [T, C], or one too many
  return cast(slice(channels, 1, 0, width), dtype);                    // [T, C]
}

LearnedPositions::LearnedPositions(int64_t longest, int64_t width, Rng& rng) {
  check<ValueError>(longest > 0 && width > 0,
                    "LearnedPositions: sizes must be > 0, got longest = ", longest,
                    " and width = ", width);
  weight = init::normal({longest, width}, 1, rng);
}

Tensor LearnedPositions::operator()(int64_t length) const {
  const int64_t longest = weight.dim(0);
  check<ShapeError>(1 <= length && length <= longest,
                    "LearnedPositions: the length of a sequence must be in [1, longest = ", longest,
                    "], got ", length, "; pass the last ", longest);
  return slice(weight, 0, 0, length);
}

}  // namespace attograd::nn

#include <cmath>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/nn/init.h>

namespace attograd::nn::init {
namespace {

Tensor leaf(Tensor values) { return values.set_requires_grad(); }

/// 1 / sqrt(fan), or 0 where there is nothing to add up.
double scale(int64_t fan) { return fan > 0 ? 1 / std::sqrt(static_cast<double>(fan)) : 0; }

}  // namespace

Tensor zeros(const Shape& shape) { return leaf(attograd::zeros(shape)); }
Tensor ones(const Shape& shape) { return leaf(attograd::ones(shape)); }

Tensor uniform(const Shape& shape, double low, double high, Rng& rng) {
  return leaf(low + (high - low) * rand(shape, rng));
}

Tensor normal(const Shape& shape, double deviation, Rng& rng) {
  return leaf(deviation * randn(shape, rng));
}

Tensor fan_in_uniform(const Shape& shape, int64_t fan_in, Rng& rng) {
  return uniform(shape, -scale(fan_in), scale(fan_in), rng);
}

Tensor xavier_uniform(int64_t out, int64_t in, Rng& rng) {
  const double bound = std::sqrt(6.0) * scale(in + out);
  return uniform({out, in}, -bound, bound, rng);
}

Tensor xavier_normal(int64_t out, int64_t in, Rng& rng) {
  return normal({out, in}, std::sqrt(2.0) * scale(in + out), rng);
}

Tensor kaiming_uniform(int64_t out, int64_t in, Rng& rng) {
  const double bound = std::sqrt(6.0) * scale(in);
  return uniform({out, in}, -bound, bound, rng);
}

Tensor kaiming_normal(int64_t out, int64_t in, Rng& rng) {
  return normal({out, in}, std::sqrt(2.0) * scale(in), rng);
}

}  // namespace attograd::nn::init

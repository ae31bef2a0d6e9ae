#include <cfloat>
#include <cmath>
#include <limits>
#include <numbers>

#include <attograd/core/kernels/philox.h>
#include <attograd/core/random.h>

namespace attograd {
namespace {

// The same numbers everywhere: doubles are rounded after every operation. (And products are not
// fused with sums: this file is compiled with -ffp-contract=off.)
static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0);

/// Stream 0 is the generator's own; those handed out count from 1.
std::array<uint32_t, 4> own_block(uint64_t seed, uint64_t index) {
  return kernels::philox4x32(
      {0, 0, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32)},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// ln x. The libraries' logarithms differ in the last bit from one platform to the next; IEEE 754
/// leaves no choice in what this one does. With x = m 2^e and t = (m - 1) / (m + 1):
/// ln x = e ln 2 + 2 (t + t^3 / 3 + t^5 / 5 + ...)
double portable_log(double x) {
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < 1 / std::numbers::sqrt2) {
    m *= 2;
    --e;
  }
  const double t = (m - 1) / (m + 1);  // at most 0.172, so the terms beyond t^23 are below 1e-19
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * (t * t) + 1.0 / k;
  return e * std::numbers::ln2 + 2 * t * sum;
}

template <class Draw>
Tensor drawn(const Shape& shape, DType dtype, const char* op, Draw draw) {
  Array array(shape, dtype);
  dispatch<Floating>(op, dtype, [&]<class T>() {
    T* out = array.mutable_data<T>();
    for (int64_t i = 0; i < array.numel(); ++i) out[i] = draw.template operator()<T>();
  });
  return Tensor(std::move(array));
}

}  // namespace

uint32_t Rng::next_u32() {
  const uint64_t word = state_.position % 4;
  if (word == 0) block_ = own_block(state_.seed, state_.position / 4);
  ++state_.position;
  return block_[word];
}

uint64_t Rng::next_u64() {
  const uint64_t low = next_u32();
  return uint64_t{next_u32()} << 32 | low;
}

double Rng::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

double Rng::normal() {
  double u = 0, s = 0;
  while (s == 0 || s >= 1) {  // a point in the unit disc, without its centre
    u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    s = u * u + v * v;
  }
  return u * std::sqrt(-2 * portable_log(s) / s);
}

int64_t Rng::below(int64_t n) {
  check<ValueError>(n >= 1, "below: n must be >= 1, got ", n);
  const auto range = static_cast<uint64_t>(n);
  // 2^64 is no multiple of n: without its first 2^64 mod n words every remainder is as frequent.
  const uint64_t excess = (0 - range) % range;
  uint64_t word = next_u64();
  while (word < excess) word = next_u64();
  return static_cast<int64_t>(word % range);
}

RandomStream Rng::next_stream() { return {state_.seed, ++state_.streams}; }

void Rng::set_state(const RngState& state) {
  state_ = state;
  block_ = own_block(state.seed, state.position / 4);
}

Tensor rand(const Shape& shape, Rng& rng, DType dtype) {
  return drawn(shape, dtype, "rand", [&]<class T>() {
    // To the nearest, the last f32 below 1 would be missed by half a step: 1 would come out.
    constexpr auto kSteps = static_cast<double>(uint64_t{1} << std::numeric_limits<T>::digits);
    return static_cast<T>(std::floor(rng.uniform() * kSteps) / kSteps);
  });
}

Tensor randn(const Shape& shape, Rng& rng, DType dtype) {
  return drawn(shape, dtype, "randn", [&]<class T>() { return static_cast<T>(rng.normal()); });
}

}  // namespace attograd

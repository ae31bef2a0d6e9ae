#pragma once

#include <array>
#include <cstdint>

#include <attograd/core/tensor.h>

namespace attograd {

/// Where a generator stands: with it a resumed training draws the numbers it would have drawn.
struct RngState {
  uint64_t seed = 0;
  uint64_t position = 0;  // 32-bit words drawn so far
  uint64_t streams = 0;   // streams handed out so far
  friend bool operator==(const RngState&, const RngState&) = default;
};

/// Random numbers of their own for an operation on many elements: the Philox blocks at {counter,
/// 0}, {counter, 1} ... under the key `seed`, whichever thread asks for them (kernels/dropout.h).
struct RandomStream {
  uint64_t seed;
  uint64_t counter;
};

/// Random numbers from Philox4x32-10 (kernels/philox.h). All of them, the normal ones too, are the
/// same on every platform with IEEE 754 doubles, whatever the number of threads. Copies draw the
/// same numbers. Not for cryptography, and not to be shared by threads.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_{.seed = seed} {}

  uint32_t next_u32();
  uint64_t next_u64();
  /// In [0, 1): a multiple of 2^-53.
  double uniform();
  /// Mean 0, variance 1 (the polar method: Marsaglia and Bray 1964).
  double normal();
  /// In {0, ..., n - 1}, each equally likely. Throws ValueError unless n >= 1.
  int64_t below(int64_t n);
  /// Numbers that neither this generator's own draws nor another of its streams contain.
  RandomStream next_stream();

  const RngState& state() const { return state_; }
  void set_state(const RngState& state);

 private:
  RngState state_;
  std::array<uint32_t, 4> block_{};  // what word position % 4 is taken from, unless that is 0
};

/// A new constant with independent elements uniform in [0, 1), drawn in row-major order. In f32
/// they are those of f64, rounded down.
/// Throws    DTypeError unless f32 or f64
Tensor rand(const Shape& shape, Rng& rng, DType dtype = DType::f32);
/// A new constant with independent elements of mean 0 and variance 1, drawn in row-major order. In
/// f32 they are those of f64, rounded.
/// Throws    DTypeError unless f32 or f64
Tensor randn(const Shape& shape, Rng& rng, DType dtype = DType::f32);

}  // namespace attograd

#pragma once

#include <cstdint>

namespace attograd::kernels {

/// y = x / (1 - p) where kept, else 0; an element is dropped with probability p. p = 1 gives zeros.
/// y may be x. Whether element i is kept depends on seed, counter and i alone, neither on the type
/// nor on threads: on word (i / 32) % 4 of the Philox block number 32 (i / 128) + i % 32, at
/// {counter, number} under the key seed (two words each, the low one first). The gradient is
/// the same function of g.
template <class T>
void dropout(int64_t n, double p, uint64_t seed, uint64_t counter, const T* x, T* y);

}  // namespace attograd::kernels

#pragma once

#include <cstdint>

namespace attograd::kernels {

// All arrays are contiguous [rows, cols], the layout in which a row is one run of memory: it is
// read from the cache in every pass after the first. float sums run over short blocks that add up
// in double. x and y, or g and dx, may be the same array. rows and cols may be 0.

/// y = exp(x - max) / sum exp(x - max) in every row. -inf has weight 0; a row of nothing but -inf,
/// or with +inf or NaN, is NaN.
template <class T>
void softmax(int64_t rows, int64_t cols, const T* x, T* y);

/// dx = y (g - sum g y), y being softmax(x). A weight of exactly 0 has gradient 0 if g is finite.
template <class T>
void softmax_vjp(int64_t rows, int64_t cols, const T* g, const T* y, T* dx);

/// y = x - max - log sum exp(x - max).
template <class T>
void log_softmax(int64_t rows, int64_t cols, const T* x, T* y);

/// dx = g - exp(y) sum g, y being log_softmax(x).
template <class T>
void log_softmax_vjp(int64_t rows, int64_t cols, const T* g, const T* y, T* dx);

}  // namespace attograd::kernels

#pragma once

#include <cstdint>

namespace attograd::kernels {

/// y += x.
template <class T>
void add_into(int64_t n, const T* x, T* y);

/// Sum of x^2 in double. It is cut at fixed places: no thread count changes it.
template <class T>
double sum_of_squares(int64_t n, const T* x);

/// out[c] = sum over rows of x[r, c], the gradient of a bias. x is contiguous [rows, cols]. float
/// sums run over short blocks of rows that add up in double; they are cut at fixed rows, so no
/// thread count changes them.
template <class T>
void column_sum(int64_t rows, int64_t cols, const T* x, T* out);

}  // namespace attograd::kernels

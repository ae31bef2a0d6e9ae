#pragma once

#include <cstdint>

namespace attograd::kernels {

// x, y, g, dx are contiguous [rows, cols]: the statistics of a row are one run of memory. weight
// and bias are [cols], null for 1 and 0; mean and rstd are [rows]. Statistics take two passes over
// the row, the mean first, so that a large mean does not cancel the variance; float sums run over
// short blocks that add up in double.
// A row whose squares overflow is scaled by a power of two first: its statistics are then
// those of the scaled row, and a negative rstd says so.

/// y = (x - mean) rstd weight + bias, rstd = 1 / sqrt(var + eps), var the biased variance (Ba et
/// al. 2016, eq. 3). mean and rstd, which layer_norm_vjp needs, may be null.
template <class T>
void layer_norm(int64_t rows, int64_t cols, double eps, const T* x, const T* weight, const T* bias,
                T* y, T* mean, T* rstd);

/// With n = (x - mean) rstd and h = g weight:
/// dx = rstd (h - mean(h) - n mean(h n)), dweight = sum over rows of g n, dbias = sum over rows of
/// g. Any of dx, dweight, dbias may be null. The sums over rows are cut at fixed rows: no thread
/// count changes them.
template <class T>
void layer_norm_vjp(int64_t rows, int64_t cols, const T* g, const T* x, const T* weight,
                    const T* mean, const T* rstd, T* dx, T* dweight, T* dbias);

/// y = x rstd weight, rstd = 1 / sqrt(mean(x^2) + eps) (Zhang and Sennrich 2019, eq. 4). rstd may
/// be null.
template <class T>
void rms_norm(int64_t rows, int64_t cols, double eps, const T* x, const T* weight, T* y, T* rstd);

/// With n = x rstd and h = g weight: dx = rstd (h - n mean(h n)), dweight = sum over rows of g n.
/// Either may be null.
template <class T>
void rms_norm_vjp(int64_t rows, int64_t cols, const T* g, const T* x, const T* weight,
                  const T* rstd, T* dx, T* dweight);

}  // namespace attograd::kernels

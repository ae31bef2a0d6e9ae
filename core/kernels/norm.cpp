#include <algorithm>
#include <cmath>
#include <vector>

#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/norm.h>
#include <attograd/core/kernels/rows.h>

namespace attograd::kernels {
namespace {

/// Calls run(w, b) with w(i) = weight[i], or 1 if null, and b(i) = bias[i], or 0: constants to the
/// compiler, so that no loop asks for every element whether there is one.
template <class T, class F>
void with_affine(const T* weight, const T* bias, const F& run) {
  const auto w = [weight](int64_t i) { return weight[i]; };
  const auto b = [bias](int64_t i) { return bias[i]; };
  const auto one = [](int64_t) { return T{1}; };
  const auto zero = [](int64_t) { return T{0}; };
  if (weight && bias) return run(w, b);
  if (weight) return run(w, zero);
  if (bias) return run(one, b);
  run(one, zero);
}

/// x - mean for a mean of two parts: as one T it would be off by its rounding, and so would the
/// row.
template <class T>
struct Centred {
  const T* x;
  T high, low;
  T operator()(int64_t i) const { return (x[i] - high) - low; }
};

template <class T, class W, class B>
[[gnu::always_inline]] inline void layer_norm_row(int64_t n, double eps, const T* x, const W& w,
                                                  const B& b, T* y, T* mean, T* rstd) {
  // The mean as a distance from x[0], so that a large common part does not round the sum.
  const T first = n > 0 ? x[0] : T{0};
  const double distance =
      sum_of<T>(n, [&](int64_t i) { return x[i] - first; }) / static_cast<double>(n);
  const T high = static_cast<T>(static_cast<double>(first) + distance);
  const Centred<T> d{x, high, static_cast<T>(static_cast<double>(first - high) + distance)};
  const double var = sum_of<T>(n, [&](int64_t i) { return d(i) * d(i); }) / static_cast<double>(n);
  const T scale = static_cast<T>(1 / std::sqrt(var + eps));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = d(i) * scale * w(i) + b(i);
  if (mean) *mean = high;
  if (rstd) *rstd = scale;
}

/// The row's gradients: dx, unless null, and its share of dweight and dbias, unless null.
template <class T, class W>
[[gnu::always_inline]] inline void layer_norm_row_vjp(int64_t n, const T* g, const T* x, const W& w,
                                                      T mean, T rstd, T* dx, double* dweight,
                                                      double* dbias) {
  const auto count = static_cast<double>(n);
  const auto low = static_cast<T>(sum_of<T>(n, [&](int64_t i) { return x[i] - mean; }) / count);
  const Centred<T> d{x, mean, low};
  if (dx) {
    // h = g weight is kept in dx: computed twice, it may be rounded once and fused with a sum once,
    // and would not cancel.
    const T mean_h =
        static_cast<T>(sum_of<T>(n, [&](int64_t i) { return dx[i] = g[i] * w(i); }) / count);
    const T slope =
        static_cast<T>(sum_of<T>(n, [&](int64_t i) { return dx[i] * d(i); }) / count) * rstd * rstd;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = rstd * (dx[i] - mean_h - d(i) * slope);
  }
  if (dweight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dweight[i] += static_cast<double>(g[i] * (d(i) * rstd));
  }
  if (dbias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dbias[i] += static_cast<double>(g[i]);
  }
}

template <class T>
void round_to(const double* sums, int64_t n, T* out) {
  std::transform(sums, sums + n, out, [](double sum) { return static_cast<T>(sum); });
}

}  // namespace

template <class T>
void layer_norm(int64_t rows, int64_t cols, double eps, const T* x, const T* weight, const T* bias,
                T* y, T* mean, T* rstd) {
  with_affine(weight, bias, [=](const auto& w, const auto& b) {
    for_each_row(rows, cols, [&](int64_t r) {
      layer_norm_row(cols, eps, x + r * cols, w, b, y + r * cols, mean ? mean + r : nullptr,
                     rstd ? rstd + r : nullptr);
    });
  });
}

template <class T>
void layer_norm_vjp(int64_t rows, int64_t cols, const T* g, const T* x, const T* weight,
                    const T* mean, const T* rstd, T* dx, T* dweight, T* dbias) {
  with_affine<T>(weight, nullptr, [=](const auto& w, const auto&) {
    const auto sums =
        sums_over_rows(rows, cols, 2 * cols, [&](int64_t begin, int64_t end, double* sum) {
          vectorized([&] {
            for (int64_t r = begin; r < end; ++r) {
              layer_norm_row_vjp(cols, g + r * cols, x + r * cols, w, mean[r], rstd[r],
                                 dx ? dx + r * cols : nullptr, dweight ? sum : nullptr,
                                 dbias ? sum + cols : nullptr);
            }
          });
        });
    if (dweight) round_to(sums.data(), cols, dweight);
    if (dbias) round_to(sums.data() + cols, cols, dbias);
  });
}

template <class T>
void rms_norm(int64_t rows, int64_t cols, double eps, const T* x, const T* weight, T* y, T* rstd) {
  with_affine<T>(weight, nullptr, [=](const auto& w, const auto&) {
    for_each_row(rows, cols, [&](int64_t r) {
      const T* p = x + r * cols;
      const double mean =
          sum_of<T>(cols, [&](int64_t i) { return p[i] * p[i]; }) / static_cast<double>(cols);
      const T scale = static_cast<T>(1 / std::sqrt(mean + eps));
#pragma omp simd
      for (int64_t i = 0; i < cols; ++i) y[r * cols + i] = p[i] * scale * w(i);
      if (rstd) rstd[r] = scale;
    });
  });
}

template <class T>
void rms_norm_vjp(int64_t rows, int64_t cols, const T* g, const T* x, const T* weight,
                  const T* rstd, T* dx, T* dweight) {
  with_affine<T>(weight, nullptr, [=](const auto& w, const auto&) {
    const auto sums =
        sums_over_rows(rows, cols, cols, [&](int64_t begin, int64_t end, double* sum) {
          vectorized([&] {
            for (int64_t r = begin; r < end; ++r) {
              const T *gr = g + r * cols, *xr = x + r * cols;
              const T scale = rstd[r];
              if (dx) {
                const auto h = [&](int64_t i) { return gr[i] * w(i); };
                const double dot = sum_of<T>(cols, [&](int64_t i) { return h(i) * xr[i]; });
                const T slope = static_cast<T>(dot / static_cast<double>(cols)) * scale * scale;
                T* out = dx + r * cols;
#pragma omp simd
                for (int64_t i = 0; i < cols; ++i) out[i] = scale * (h(i) - xr[i] * slope);
              }
              if (dweight) {
#pragma omp simd
                for (int64_t i = 0; i < cols; ++i)
                  sum[i] += static_cast<double>(gr[i] * xr[i] * scale);
              }
            }
          });
        });
    if (dweight) round_to(sums.data(), cols, dweight);
  });
}

template void layer_norm(int64_t, int64_t, double, const float*, const float*, const float*, float*,
                         float*, float*);
template void layer_norm(int64_t, int64_t, double, const double*, const double*, const double*,
                         double*, double*, double*);
template void layer_norm_vjp(int64_t, int64_t, const float*, const float*, const float*,
                             const float*, const float*, float*, float*, float*);
template void layer_norm_vjp(int64_t, int64_t, const double*, const double*, const double*,
                             const double*, const double*, double*, double*, double*);
template void rms_norm(int64_t, int64_t, double, const float*, const float*, float*, float*);
template void rms_norm(int64_t, int64_t, double, const double*, const double*, double*, double*);
template void rms_norm_vjp(int64_t, int64_t, const float*, const float*, const float*, const float*,
                           float*, float*);
template void rms_norm_vjp(int64_t, int64_t, const double*, const double*, const double*,
                           const double*, double*, double*);

}  // namespace attograd::kernels

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

/// A row divided by the power of two that brings its largest |x| into [1, 2), where squares do
/// not overflow. A row with infinities or NaN stays as it is.
template <class T>
struct Scaled {
  std::vector<T> x;
  int exponent = 0;

  [[gnu::noinline, gnu::cold]] const T* take(int64_t n, const T* row) {
    x.assign(row, row + n);
    exponent = 0;
    T largest = 0;
    for (const T v : x) largest = std::max(largest, std::fabs(v));
    if (largest > 0 && std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); }))
      exponent = std::ilogb(largest);
    for (T& v : x) v = std::ldexp(v, -exponent);
    return x.data();
  }

  /// The gradient of the row from that of the scaled one, which stands in dx, unless null.
  [[gnu::noinline, gnu::cold]] void give_back(int64_t n, T* dx) const {
    for (int64_t i = 0; dx && i < n; ++i) dx[i] = std::ldexp(dx[i], -exponent);
  }
};

template <class T, class W, class B>
[[gnu::always_inline]] inline bool layer_norm_row(int64_t n, double eps, const T* x, const W& w,
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
  return std::isfinite(var);
}

/// The same for a row whose squares overflow: mean and -rstd are those of the scaled row.
template <class T, class W, class B>
[[gnu::noinline, gnu::cold]] void scaled_layer_norm_row(int64_t n, double eps, const T* x,
                                                        const W& w, const B& b, T* y, T* mean,
                                                        T* rstd) {
  Scaled<T> scaled;
  const T* row = scaled.take(n, x);
  layer_norm_row(n, std::ldexp(eps, -2 * scaled.exponent), row, w, b, y, mean, rstd);
  if (rstd) *rstd = -*rstd;
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

template <class T, class W>
[[gnu::always_inline]] inline bool rms_norm_row(int64_t n, double eps, const T* x, const W& w, T* y,
                                                T* rstd) {
  const double mean = sum_of<T>(n, [&](int64_t i) { return x[i] * x[i]; }) / static_cast<double>(n);
  const T scale = static_cast<T>(1 / std::sqrt(mean + eps));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale * w(i);
  if (rstd) *rstd = scale;
  return std::isfinite(mean);
}

template <class T, class W>
[[gnu::noinline, gnu::cold]] void scaled_rms_norm_row(int64_t n, double eps, const T* x, const W& w,
                                                      T* y, T* rstd) {
  Scaled<T> scaled;
  const T* row = scaled.take(n, x);
  rms_norm_row(n, std::ldexp(eps, -2 * scaled.exponent), row, w, y, rstd);
  if (rstd) *rstd = -*rstd;
}

template <class T, class W>
[[gnu::always_inline]] inline void rms_norm_row_vjp(int64_t n, const T* g, const T* x, const W& w,
                                                    T rstd, T* dx, double* dweight) {
  if (dx) {
    const auto h = [&](int64_t i) { return g[i] * w(i); };
    const double dot = sum_of<T>(n, [&](int64_t i) { return h(i) * x[i]; });
    const T slope = static_cast<T>(dot / static_cast<double>(n)) * rstd * rstd;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = rstd * (h(i) - x[i] * slope);
  }
  if (dweight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dweight[i] += static_cast<double>(g[i] * x[i] * rstd);
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
      const T* row = x + r * cols;
      T *out = y + r * cols, *m = mean ? mean + r : nullptr, *s = rstd ? rstd + r : nullptr;
      if (!layer_norm_row(cols, eps, row, w, b, out, m, s))
        scaled_layer_norm_row(cols, eps, row, w, b, out, m, s);
    });
  });
}

template <class T>
void layer_norm_vjp(int64_t rows, int64_t cols, const T* g, const T* x, const T* weight,
                    const T* mean, const T* rstd, T* dx, T* dweight, T* dbias) {
  with_affine<T>(weight, nullptr, [=](const auto& w, const auto&) {
    const auto sums =
        sums_over_rows(rows, cols, 2 * cols, [&](int64_t begin, int64_t end, double* sum) {
          Scaled<T> scaled;
          vectorized([&] {
            for (int64_t r = begin; r < end; ++r) {
              T* out = dx ? dx + r * cols : nullptr;
              const bool is_scaled = rstd[r] < 0;
              const T* row = is_scaled ? scaled.take(cols, x + r * cols) : x + r * cols;
              layer_norm_row_vjp(cols, g + r * cols, row, w, mean[r], std::fabs(rstd[r]), out,
                                 dweight ? sum : nullptr, dbias ? sum + cols : nullptr);
              if (is_scaled) scaled.give_back(cols, out);
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
      const T* row = x + r * cols;
      T *out = y + r * cols, *s = rstd ? rstd + r : nullptr;
      if (!rms_norm_row(cols, eps, row, w, out, s)) scaled_rms_norm_row(cols, eps, row, w, out, s);
    });
  });
}

template <class T>
void rms_norm_vjp(int64_t rows, int64_t cols, const T* g, const T* x, const T* weight,
                  const T* rstd, T* dx, T* dweight) {
  with_affine<T>(weight, nullptr, [=](const auto& w, const auto&) {
    const auto sums =
        sums_over_rows(rows, cols, cols, [&](int64_t begin, int64_t end, double* sum) {
          Scaled<T> scaled;
          vectorized([&] {
            for (int64_t r = begin; r < end; ++r) {
              T* out = dx ? dx + r * cols : nullptr;
              const bool is_scaled = rstd[r] < 0;
              const T* row = is_scaled ? scaled.take(cols, x + r * cols) : x + r * cols;
              rms_norm_row_vjp(cols, g + r * cols, row, w, std::fabs(rstd[r]), out,
                               dweight ? sum : nullptr);
              if (is_scaled) scaled.give_back(cols, out);
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

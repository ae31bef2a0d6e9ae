#include <attograd/core/kernels/rows.h>
#include <attograd/core/kernels/softmax.h>
#include <attograd/core/kernels/vector_math.h>

namespace attograd::kernels {
namespace {

template <class T>
[[gnu::always_inline]] inline void softmax_row(int64_t n, const T* x, T* y) {
  const T max = max_of(n, x);
  const double sum = sum_of<T>(n, [&](int64_t i) { return y[i] = exp_weight(x[i] - max); });
  const T scale = static_cast<T>(1 / sum);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] *= scale;
}

template <class T>
[[gnu::always_inline]] inline void log_softmax_row(int64_t n, const T* x, T* y) {
  const T max = max_of(n, x);
  const T log_sum =
      static_cast<T>(log(sum_of<T>(n, [&](int64_t i) { return exp_weight(x[i] - max); })));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - max) - log_sum;
}

}  // namespace

template <class T>
void softmax(int64_t rows, int64_t cols, const T* x, T* y) {
  for_each_row(rows, cols, [=](int64_t r) { softmax_row(cols, x + r * cols, y + r * cols); });
}

template <class T>
void softmax_vjp(int64_t rows, int64_t cols, const T* g, const T* y, T* dx) {
  for_each_row(rows, cols, [=](int64_t r) {
    const T *gr = g + r * cols, *yr = y + r * cols;
    T* dxr = dx + r * cols;
    const T dot = static_cast<T>(sum_of<T>(cols, [&](int64_t i) { return gr[i] * yr[i]; }));
#pragma omp simd
    for (int64_t i = 0; i < cols; ++i) dxr[i] = yr[i] * (gr[i] - dot);
  });
}

template <class T>
void log_softmax(int64_t rows, int64_t cols, const T* x, T* y) {
  for_each_row(rows, cols, [=](int64_t r) { log_softmax_row(cols, x + r * cols, y + r * cols); });
}

template <class T>
void log_softmax_vjp(int64_t rows, int64_t cols, const T* g, const T* y, T* dx) {
  for_each_row(rows, cols, [=](int64_t r) {
    const T *gr = g + r * cols, *yr = y + r * cols;
    T* dxr = dx + r * cols;
    const T sum = static_cast<T>(sum_of<T>(cols, [&](int64_t i) { return gr[i]; }));
#pragma omp simd
    for (int64_t i = 0; i < cols; ++i) dxr[i] = gr[i] - exp_weight(yr[i]) * sum;
  });
}

template void softmax(int64_t, int64_t, const float*, float*);
template void softmax(int64_t, int64_t, const double*, double*);
template void softmax_vjp(int64_t, int64_t, const float*, const float*, float*);
template void softmax_vjp(int64_t, int64_t, const double*, const double*, double*);
template void log_softmax(int64_t, int64_t, const float*, float*);
template void log_softmax(int64_t, int64_t, const double*, double*);
template void log_softmax_vjp(int64_t, int64_t, const float*, const float*, float*);
template void log_softmax_vjp(int64_t, int64_t, const double*, const double*, double*);

}  // namespace attograd::kernels

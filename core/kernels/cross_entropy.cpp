#include <attograd/core/kernels/cross_entropy.h>
#include <attograd/core/kernels/rows.h>
#include <attograd/core/kernels/vector_math.h>

namespace attograd::kernels {

template <class T>
void cross_entropy(int64_t rows, int64_t classes, const T* logits, const int64_t* targets,
                   int64_t ignore_index, double label_smoothing, T* loss, T* logsumexp) {
  for_each_row(rows, classes, [=](int64_t r) {
    loss[r] = logsumexp[r] = 0;
    if (targets[r] == ignore_index) return;
    const T* x = logits + r * classes;
    const T max = max_of(classes, x);
    const double log_sum =
        log(sum_of<T>(classes, [&](int64_t i) { return exp_weight(x[i] - max); }));
    logsumexp[r] = static_cast<T>(static_cast<double>(max) + log_sum);
    // Distances to the maximum, so that what the logits have in common cancels exactly.
    double y = (1 - label_smoothing) * (log_sum - static_cast<double>(x[targets[r]] - max));
    if (label_smoothing != 0) {  // else a class that cannot occur would enter as 0 times inf
      const double mean =
          sum_of<T>(classes, [&](int64_t i) { return x[i] - max; }) / static_cast<double>(classes);
      y += label_smoothing * (log_sum - mean);
    }
    loss[r] = static_cast<T>(y);
  });
}

template <class T>
void cross_entropy_vjp(int64_t rows, int64_t classes, const T* g, const T* logits,
                       const int64_t* targets, int64_t ignore_index, double label_smoothing,
                       const T* logsumexp, T* dlogits) {
  const T spread = static_cast<T>(label_smoothing / static_cast<double>(classes));
  for_each_row(rows, classes, [=](int64_t r) {
    const T* x = logits + r * classes;
    T* dx = dlogits + r * classes;
    if (targets[r] == ignore_index) {
      std::fill(dx, dx + classes, T{0});
      return;
    }
    // logsumexp is rounded, so the weights add up to 1 only after division by their sum.
    const T shift = logsumexp[r];
    const T scale = static_cast<T>(
        1 / sum_of<T>(classes, [&](int64_t i) { return dx[i] = exp(x[i] - shift); }));
    const T gr = g[r];
    const T target = dx[targets[r]] * scale - static_cast<T>(1 - label_smoothing);
#pragma omp simd
    for (int64_t i = 0; i < classes; ++i) dx[i] = gr * (dx[i] * scale - spread);
    dx[targets[r]] = gr * (target - spread);
  });
}

template void cross_entropy(int64_t, int64_t, const float*, const int64_t*, int64_t, double, float*,
                            float*);
template void cross_entropy(int64_t, int64_t, const double*, const int64_t*, int64_t, double,
                            double*, double*);
template void cross_entropy_vjp(int64_t, int64_t, const float*, const float*, const int64_t*,
                                int64_t, double, const float*, float*);
template void cross_entropy_vjp(int64_t, int64_t, const double*, const double*, const int64_t*,
                                int64_t, double, const double*, double*);

}  // namespace attograd::kernels

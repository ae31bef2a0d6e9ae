#include <cmath>

#include <attograd/core/kernels/adamw.h>
#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/parallel.h>

namespace attograd::kernels {

template <class T>
void adamw(int64_t n, const AdamWStep& s, const T* g, T* w, T* m, T* v) {
  // What does not depend on the element is computed in double, once.
  const auto step = static_cast<double>(s.step);
  const T keep = static_cast<T>(1 - s.lr * s.weight_decay);
  const T rate = static_cast<T>(s.lr / (1 - std::pow(s.beta1, step)));
  const T correction = static_cast<T>(1 / std::sqrt(1 - std::pow(s.beta2, step)));
  const T beta1 = static_cast<T>(s.beta1), rest1 = static_cast<T>(1 - s.beta1);
  const T beta2 = static_cast<T>(s.beta2), rest2 = static_cast<T>(1 - s.beta2);
  const T eps = static_cast<T>(s.eps);
  parallel_for(n, kThreadWork, [=](int64_t begin, int64_t end) {
    vectorized([&] {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        m[i] = beta1 * m[i] + rest1 * g[i];
        v[i] = beta2 * v[i] + rest2 * (g[i] * g[i]);
        w[i] = keep * w[i] - rate * m[i] / (std::sqrt(v[i]) * correction + eps);
      }
    });
  });
}

template void adamw(int64_t, const AdamWStep&, const float*, float*, float*, float*);
template void adamw(int64_t, const AdamWStep&, const double*, double*, double*, double*);

}  // namespace attograd::kernels

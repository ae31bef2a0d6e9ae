#include <bit>
#include <cmath>
#include <numbers>

#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/gelu.h>
#include <attograd/core/kernels/parallel.h>
#include <attograd/core/kernels/vector_math.h>

namespace attograd::kernels {
namespace {

template <class T>
inline constexpr T kInvSqrtPi2 = static_cast<T>(0.39894228040143267794);  // 1 / sqrt(2 pi)

/// Phi(x) of the standard normal distribution and e^(-x^2 / 2), which is its density but for a
/// factor.
template <class T>
struct Normal {
  T cdf, bell;
};

/// Both from one exponential, e^(-x^2 / 2) = e^(-z^2) with z = |x| / sqrt 2. The lower tail keeps
/// its relative precision: no 1 - (1 - tiny).
[[gnu::always_inline]] inline Normal<float> normal(float x) {
  const float a = select(x * x < 400, std::fabs(x), 20);  // both are 0 from there on
  const auto high =
      std::bit_cast<float>(std::bit_cast<uint32_t>(a) & 0xFFFFF000u);  // its square is exact
  const float bell = exp_weight(-0.5f * high * high, -0.5f * (a - high) * (a + high));
  const float tail = 0.5f * bell * scaled_erfc(a * static_cast<float>(std::numbers::sqrt2 / 2));
  return {select(x < 0, tail, 1 - tail), bell};
}

inline Normal<double> normal(double x) {
  return {0.5 * std::erfc(x * -(std::numbers::sqrt2 / 2)), std::exp(-0.5 * x * x)};
}

/// s = (1 + tanh u) / 2 = sigmoid(2 u), which cancels nowhere, and ds/dx = s (1 - s) (2 u)'. Beyond
/// 40 s is 0 or 1 to the last bit, and u finite.
template <class T>
struct Gate {
  T s, slope;
};

template <class T>
[[gnu::always_inline]] inline Gate<T> gate(T x) {
  constexpr T kTwice = static_cast<T>(2 * 0.79788456080286535588);  // 2 sqrt(2 / pi)
  constexpr T kCubic = static_cast<T>(0.044715);
  const T c = x < -40 ? -40 : x > 40 ? 40 : x;
  const T e = exp_weight(-std::fabs(kTwice * c * (1 + kCubic * c * c)));
  const T larger = 1 / (1 + e), smaller = e * larger;
  return {c < 0 ? smaller : larger, smaller * larger * (kTwice * (1 + 3 * kCubic * c * c))};
}

/// y[i] = f(i) for all i, vectorised and on all threads.
template <class T, class F>
void for_each(int64_t n, T* y, const F& f) {
  parallel_for(n, kThreadWork / 2, [&](int64_t begin, int64_t end) {
    vectorized([&] {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) y[i] = f(i);
    });
  });
}

}  // namespace

template <class T>
void gelu(int64_t n, const T* x, T* y) {
  for_each(n, y, [=](int64_t i) { return bounded_below(x[i]) * normal(x[i]).cdf; });
}

template <class T>
void gelu_vjp(int64_t n, const T* g, const T* x, T* dx) {
  for_each(n, dx, [=](int64_t i) {
    const Normal<T> p = normal(x[i]);
    return g[i] * (p.cdf + bounded(x[i]) * p.bell * kInvSqrtPi2<T>);
  });
}

template <class T>
void gelu_tanh(int64_t n, const T* x, T* y) {
  for_each(n, y, [=](int64_t i) { return bounded_below(x[i]) * gate(x[i]).s; });
}

template <class T>
void gelu_tanh_vjp(int64_t n, const T* g, const T* x, T* dx) {
  for_each(n, dx, [=](int64_t i) {
    const Gate<T> u = gate(x[i]);
    return g[i] * (u.s + bounded(x[i]) * u.slope);
  });
}

template void gelu(int64_t, const float*, float*);
template void gelu(int64_t, const double*, double*);
template void gelu_vjp(int64_t, const float*, const float*, float*);
template void gelu_vjp(int64_t, const double*, const double*, double*);
template void gelu_tanh(int64_t, const float*, float*);
template void gelu_tanh(int64_t, const double*, double*);
template void gelu_tanh_vjp(int64_t, const float*, const float*, float*);
template void gelu_tanh_vjp(int64_t, const double*, const double*, double*);

}  // namespace attograd::kernels

#pragma once

#include <cstdint>

namespace attograd::kernels {

/// y = x Phi(x), Phi the normal distribution: x (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel
/// 2016). y may be x.
template <class T>
void gelu(int64_t n, const T* x, T* y);

/// dx = g (Phi(x) + x phi(x)), phi the normal density. dx may be g.
template <class T>
void gelu_vjp(int64_t n, const T* g, const T* x, T* dx);

/// y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3): GPT-2's approximation of gelu.
template <class T>
void gelu_tanh(int64_t n, const T* x, T* y);

/// dx = g ((1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2), u' = sqrt(2 / pi) (1 + 0.134145 x^2).
template <class T>
void gelu_tanh_vjp(int64_t n, const T* g, const T* x, T* dx);

}  // namespace attograd::kernels

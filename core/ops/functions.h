#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Elementary functions of f32 and f64; ops/elementwise.h has what holds for all elementwise
// operations. d is the derivative by which the gradient is multiplied.

/// e^x. d = y.
Tensor exp(const Tensor& x);
/// e^x - 1, exact for small x. d = e^x.
Tensor expm1(const Tensor& x);
/// Natural logarithm, NaN for x < 0. d = 1 / x, infinite at 0.
Tensor log(const Tensor& x);
/// log(1 + x), exact for small x. d = 1 / (1 + x), infinite at -1.
Tensor log1p(const Tensor& x);
/// Square root, NaN for x < 0. d = 1 / (2 y), infinite at 0: norm(x), not sqrt(sum(square(x))), has
/// a gradient at 0.
Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x). d = -1 / (2 x sqrt(x)), infinite at 0.
Tensor rsqrt(const Tensor& x);
/// d = cos(x).
Tensor sin(const Tensor& x);
/// d = -sin(x).
Tensor cos(const Tensor& x);
/// d = 1 - y^2.
Tensor tanh(const Tensor& x);
/// The error function 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x. d = 2 / sqrt(pi)
/// e^(-x^2).
Tensor erf(const Tensor& x);

}  // namespace attograd

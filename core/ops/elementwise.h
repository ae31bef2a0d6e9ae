#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Elementwise operations. Shapes: the operands broadcast (NumPy rules) and share one dtype; a
// number next to a Tensor takes the Tensor's dtype. Gradient: any order. Throws ShapeError or
// DTypeError. Cost: one pass.
//
// Where a derivative is unbounded (sqrt, rsqrt, log, pow, division at 0), a gradient of exactly 0
// from above gives exactly 0, so that a value which `where` or a mask discarded never becomes NaN
// on the way back.

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);  // f32, f64: a / 0 is inf or NaN
Tensor operator-(const Tensor& x);

Tensor operator+(const Tensor& a, double b);
Tensor operator-(const Tensor& a, double b);
Tensor operator*(const Tensor& a, double b);
Tensor operator/(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(double a, const Tensor& b);

Tensor exp(const Tensor& x);
/// Natural logarithm. log'(0) = inf.
Tensor log(const Tensor& x);
Tensor tanh(const Tensor& x);

/// The same tensor at a new place in the graph, so that it can be differentiated for one of its
/// uses only.
Tensor alias(const Tensor& x);
/// The same numbers in another dtype. Gradient: between f32 and f64. Throws NumericError for a
/// number that i64 cannot hold (NaN, infinity, too large).
Tensor cast(const Tensor& x, DType dtype);

}  // namespace attograd

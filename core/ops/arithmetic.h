#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Arithmetic; ops/elementwise.h has what holds for all elementwise operations.

// f32, f64, i64.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
/// f32, f64: a / 0 is infinite or NaN. Gradient: g / b and -g y / b, where y = a / b.
Tensor operator/(const Tensor& a, const Tensor& b);

Tensor operator+(const Tensor& a, double b);
Tensor operator-(const Tensor& a, double b);
Tensor operator*(const Tensor& a, double b);
Tensor operator/(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(double a, const Tensor& b);

/// x^p, 1 where p = 0; NaN for x < 0 unless p is an integer.
/// Gradient  g p x^(p-1), 0 for p = 0: at x = 0 it is finite for p = 0 and p >= 1, else infinite
Tensor pow(const Tensor& x, double p);
/// a^b, elementwise.
/// Gradient  g b a^(b-1) and g a^b log(a). At a = 0 the first is 0 for b = 0, the second for
///           b >= 0; the second is NaN for a < 0
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(double a, const Tensor& b);

/// x^2. f32, f64, i64.
Tensor square(const Tensor& x);
/// |x|. f32, f64, i64. Gradient: g sign(x), so 0 at 0.
Tensor abs(const Tensor& x);
/// -1, 0 or 1. f32, f64, i64. Gradient: 0 everywhere.
Tensor sign(const Tensor& x);

/// The larger of a and b, NaN if either is. f32, f64, i64. Gradient: to the winner; half to each in
/// a tie.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, double b);
/// The smaller of a and b, NaN if either is. f32, f64, i64. Gradient: to the winner; half to each
/// in a tie.
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, double b);
/// x limited to [low, high]. f32, f64, i64. Gradient: g where low <= x <= high, 0 outside. Throws
/// ValueError unless low <= high.
Tensor clamp(const Tensor& x, double low, double high);

/// The same tensor at a new place in the graph, so that it can be differentiated for one of its
/// uses only.
Tensor alias(const Tensor& x);
/// The same numbers in another dtype; i64 cuts fractions off, bool is x != 0. Gradient: between f32
/// and f64. Throws NumericError for a number that i64 cannot hold (NaN, infinity, too large).
Tensor cast(const Tensor& x, DType dtype);

/// g d, for rules whose derivative d may be infinite or NaN: 0 where g is 0 and d is not finite, by
/// selection, and so at every order. Where d is finite this is plain multiplication: a g of 0 keeps
/// its own derivative.
Tensor finite_product(const Tensor& g, const Tensor& d);

}  // namespace attograd

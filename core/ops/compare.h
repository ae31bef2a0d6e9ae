#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Comparisons, masks and selection; ops/elementwise.h has what holds for all elementwise
// operations. A mask is a bool Tensor and carries no gradient. `==` on Tensors is not an operator:
// it would return a Tensor where the standard library wants an answer.

/// a = b: f32, f64, i64, bool. NaN equals nothing, itself included.
Tensor equal(const Tensor& a, const Tensor& b);
Tensor equal(const Tensor& a, double b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, double b);

/// Also spelled a < b and so on: f32, f64, i64. False beside NaN.
Tensor less(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, double b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, double b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, double b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, double b);

inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<(const Tensor& a, double b) { return less(a, b); }
inline Tensor operator<(double a, const Tensor& b) { return greater(b, a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator<=(const Tensor& a, double b) { return less_equal(a, b); }
inline Tensor operator<=(double a, const Tensor& b) { return greater_equal(b, a); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>(const Tensor& a, double b) { return greater(a, b); }
inline Tensor operator>(double a, const Tensor& b) { return less(b, a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }
inline Tensor operator>=(const Tensor& a, double b) { return greater_equal(a, b); }
inline Tensor operator>=(double a, const Tensor& b) { return less_equal(b, a); }

/// bool.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);

/// Neither NaN nor infinite: f32, f64, i64 (always).
Tensor is_finite(const Tensor& x);

/// a where the mask `condition` is true, b elsewhere. a and b of any dtype.
/// Gradient  g where an input was taken, an exact 0 where it was not, by selection: an infinite or
///           NaN value that is not taken leaves no trace
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);

/// `value` where the mask is true, x elsewhere; x of any dtype. x and mask broadcast together.
/// Gradient  of x: g where the mask is false, an exact 0 where it is true, by selection
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

}  // namespace attograd

#pragma once

#include <string_view>

#include <attograd/core/tensor.h>

namespace attograd {

// Products of matrices and vectors. f32 or f64, one dtype for all operands. Gradient: any order.
// Throws ShapeError or DTypeError.

/// y[..., i, j] = sum_k a[..., i, k] b[..., k, j]
/// Shapes  a [..., m, k], b [..., k, n] -> [..., m, n]; the leading axes broadcast. A vector a is
///         one row, a vector b one column, and the result has no axis for it (NumPy's matmul).
/// Cost    2 m n k operations per matrix; transposed and sliced operands are multiplied as they lie
Tensor matmul(const Tensor& a, const Tensor& b);
/// y[i, j] = a[i] b[j] for vectors a [m] and b [n].
Tensor outer(const Tensor& a, const Tensor& b);
/// y = sum_i a[i] b[i], a scalar, for vectors of one length.
Tensor dot(const Tensor& a, const Tensor& b);

}  // namespace attograd

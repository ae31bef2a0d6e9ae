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
/// The sum of products in Einstein's notation: one letter per axis of each operand; letters that
/// the result does not have are summed over. einsum("bik,bjk->bij", {a, b}) is matmul(a,
/// transpose(b)), einsum("ij->j", {x}) the sum over rows, einsum("ii->i", {x}) the diagonal.
/// Without "->" the result has the letters that occur once, in alphabetical order.
/// Throws  ShapeError for an equation that does not fit; "..." is not taken
/// Cost    operands are multiplied from left to right, each pair by one batch of matrix products
Tensor einsum(std::string_view equation, const Tensors& operands);
/// y[i, j] = a[i] b[j] for vectors a [m] and b [n].
Tensor outer(const Tensor& a, const Tensor& b);
/// y = sum_i a[i] b[i], a scalar, for vectors of one length.
Tensor dot(const Tensor& a, const Tensor& b);

}  // namespace attograd

#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Indexing. Indices are i64 constants in [0, n); all are looked at before any is used. Values have
// any dtype, those that are added up any but bool. Gradient: any order, with respect to the values;
// what repeated indices receive is added up, in double, the same for any number of threads. Throws
// IndexError for an index outside, ShapeError, DTypeError.

/// Row ids[...] of weight.
/// Shapes  weight [V, C], ids [...] -> [..., C]
/// Cost    one copy of each row; the gradient is a full [V, C]
Tensor embedding(const Tensor& weight, const Tensor& ids);
/// x at the indices along an axis, whose place the axes of the indices take (NumPy's take).
/// Shapes  x [..., n, ...], indices [k...] -> [..., k..., ...]
Tensor take(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// y[i, j, k] = x[i, index[i, j, k], k] for axis 1: each element chooses its own place.
/// Shapes  index and y agree with x on every axis but this one
/// Cost    whole rows are copied where the index is expanded along the axes behind
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);
/// y[i, index[i, j, k], k] += x[i, j, k] for axis 1, on zeros that have `size` along the axis: the
/// adjoint of gather.
/// Shapes  index has the shape of x
Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, int64_t size);
/// y[..., c] = 1 where c = ids[...], otherwise 0. A constant.
/// Shapes  ids [...] -> [..., classes]
Tensor one_hot(const Tensor& ids, int64_t classes, DType dtype = DType::f32);

}  // namespace attograd

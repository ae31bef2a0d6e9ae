#pragma once

#include <limits>

#include <attograd/core/tensor.h>

namespace attograd {

// Parts of tensors, taken out and put together. Any dtype; negative axes and places count from the
// end. Gradient: any order. Throws ShapeError for an axis or size that does not fit, IndexError for
// a place outside an axis: nothing is clipped.

// ---- views: they share the memory of x and copy nothing ----

inline constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
/// x at begin, begin + step, ... below end (kEnd: to the last one) along an axis; step >= 1.
Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t end = kEnd, int64_t step = 1);
/// x at one place of an axis, which is dropped.
Tensor select(const Tensor& x, int64_t axis, int64_t index);
/// Parts of `size` along an axis (the last may be smaller), or of the given sizes.
Tensors split(const Tensor& x, int64_t axis, int64_t size);
Tensors split(const Tensor& x, int64_t axis, const std::vector<int64_t>& sizes);

// ---- copies ----

/// Tensors one after another along an axis. Their other sizes and their dtypes are equal.
Tensor cat(const Tensors& x, int64_t axis = 0);
/// Tensors of one shape along a new axis, which has the number `axis` in the result.
Tensor stack(const Tensors& x, int64_t axis = 0);
/// Zeros in front of x and behind it along an axis.
Tensor pad(const Tensor& x, int64_t axis, int64_t before, int64_t after);
/// Of each matrix (last two axes) the entries with column - row <= diagonal (tril) or >= diagonal
/// (triu); the others become 0, whatever they were.
Tensor tril(const Tensor& x, int64_t diagonal = 0);
Tensor triu(const Tensor& x, int64_t diagonal = 0);

}  // namespace attograd

#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// The same elements under another shape: views, which share the memory of x and copy nothing.
// Any dtype; negative axes count from the end. Gradient: any order. Throws ShapeError.

/// The same elements in row-major order under another shape; one size may be -1 (what is left).
/// Cost  a view where the layout allows it, a copy otherwise
Tensor reshape(const Tensor& x, const Shape& shape);
/// Repeats axes of size 1 and adds leading axes. Gradient: the sum over the repeats.
Tensor expand(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const Shape& order);
/// Exchanges two axes, by default the last two.
Tensor transpose(const Tensor& x);
Tensor transpose(const Tensor& x, int64_t a, int64_t b);
/// Drops an axis of size 1, or all of them.
Tensor squeeze(const Tensor& x, int64_t axis);
Tensor squeeze(const Tensor& x);
/// Inserts an axis of size 1, which has the number `axis` in the result.
Tensor unsqueeze(const Tensor& x, int64_t axis);

/// Reverses the order along the axes, by default along all.
Tensor flip(const Tensor& x, const Axes& axes = {});

}  // namespace attograd

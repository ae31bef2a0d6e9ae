#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

/// The same elements in row-major order under another shape; one size may be -1 (what is left). A
/// view where the layout allows it, a copy otherwise. Throws ShapeError if the numbers of elements
/// differ. Gradient: any order.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Repeats axes of size 1 (and new leading axes) without copying. Gradient: any order (the sum over
/// the repeats).
Tensor expand(const Tensor& x, const Shape& shape);

}  // namespace attograd

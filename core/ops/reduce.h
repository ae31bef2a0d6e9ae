#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Reductions over all axes (`sum(x)`), one (`sum(x, -1)`) or several (`sum(x, {0, 2})`). With
// keepdim the reduced axes stay with size 1. f32 is summed in double.

/// Sum. Over no elements 0. Gradient: any order.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// The adjoint of broadcasting: sums x over the axes along which `shape` was expanded to x's shape.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace attograd

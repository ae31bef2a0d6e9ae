#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Reductions over all axes (`sum(x)`), one (`sum(x, -1)`) or several (`sum(x, {0, 2})`). With
// keepdim the reduced axes stay with size 1. A NaN among the elements makes the result NaN.
// Gradients: of any order. Throws: ShapeError, DTypeError. Cost: one pass; float sums run in
// double, and the result is the same for any number of threads.

/// Sum, 0 of no elements. f32, f64; i64 (wraps around); bool counts what is true, as i64.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// The adjoint of broadcasting: sums x over the axes along which `shape` was expanded to x's shape.
Tensor sum_to(const Tensor& x, const Shape& shape);
/// Sum / number of elements, NaN of no elements. f32, f64.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false);

/// The largest element. f32, f64, i64.
/// Gradient  shared evenly by all elements that equal it (max_with_index: one winner has it all)
/// Throws    ShapeError for the maximum of no elements
Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// The smallest element, as max.
Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdim = false);

/// Whether no element is NaN or infinite.
bool all_finite(const Tensor& x);

}  // namespace attograd

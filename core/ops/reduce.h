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

/// Sum of squared deviations from the mean / (n - correction), NaN where n <= correction.
/// correction 1, the default as in PyTorch, estimates a population from a sample (Bessel);
/// 0, NumPy's default, describes the elements themselves. f32, f64.
struct VarOptions {
  double correction = 1;
  bool keepdim = false;
};
Tensor var(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
/// sqrt(var). Gradient: exactly 0 where the elements are all equal.
Tensor std(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
/// The Euclidean length sqrt(sum(x^2)); squares neither overflow nor vanish. f32, f64.
/// Gradient  g x / y, 0 where y = 0 (at every order)
Tensor norm(const Tensor& x, const Axes& axes = {}, bool keepdim = false);

/// The largest element. f32, f64, i64.
/// Gradient  shared evenly by all elements that equal it (max_with_index: one winner has it all)
/// Throws    ShapeError for the maximum of no elements
Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// The smallest element, as max.
Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// The place of the largest element, the first of several, along an axis or (without one) in
/// row-major order; a NaN counts as the largest. f32, f64, i64 -> i64, without a gradient.
/// Throws  ShapeError where there are no elements
Tensor argmax(const Tensor& x);
Tensor argmax(const Tensor& x, int64_t axis, bool keepdim = false);
/// max and argmax along an axis. Gradient of the values: to the element at the index alone.
struct MaxWithIndex {
  Tensor values;
  Tensor indices;
};
MaxWithIndex max_with_index(const Tensor& x, int64_t axis, bool keepdim = false);

/// log(sum(e^x)) without overflow, -inf of no elements. f32, f64.
/// Gradient  g e^(x - y), the softmax; 0 where y = -inf, that is, where all x are -inf
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdim = false);

/// Product, 1 of no elements. f32, f64, i64 (wraps around). Gradient: the product of the others,
/// exact where elements are 0. Cost: log2(n) multiplications of halves.
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// y[k] = x[0] + ... + x[k] along an axis. f32, f64, i64 (wraps around).
Tensor cumsum(const Tensor& x, int64_t axis);

/// Whether no element is NaN or infinite.
bool all_finite(const Tensor& x);

}  // namespace attograd

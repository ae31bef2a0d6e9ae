#pragma once

#include <string>
#include <vector>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/autograd.h>

namespace attograd::op_cases {

/// The inputs of a row. Floating ones have this dtype and are leaves.
Tensors make_inputs(const std::vector<Input>& inputs, uint64_t seed, DType dtype = DType::f64);

/// The floating ones among them.
Tensors leaves_of(const Tensors& x);

/// The same numbers as fresh leaves.
Tensors fresh(const Tensors& x);

/// A Gaussian cotangent for y.
Tensor cotangent(const Tensor& y, uint64_t seed = 5);

/// The gradients of <v, call(x)> for the leaves among x; zeros where there is none.
Tensors gradients(const OpCase& row, const Tensors& x, const Tensor& v,
                  const GradOptions& options = {});

/// max |a - b| in eps of a's dtype times max |b|, or times `scale` if that is larger. Equal
/// infinities and NaNs have no distance; other NaNs and another shape are infinitely far.
double distance(const Tensor& a, const Tensor& b, double scale = 0);

/// max |x|.
double magnitude(const Tensor& x);

/// Whether two tensors have the same shape and bits.
bool identical(const Tensor& a, const Tensor& b);

/// Ways in which the same numbers may lie in memory.
enum class Layout { transposed, spaced, both };
inline constexpr Layout kLayouts[] = {Layout::transposed, Layout::spaced, Layout::both};
std::string name_of(Layout layout);
/// A constant with the numbers of x: the axes in reverse order in memory, or only every second
/// place used and not from the first on, or both.
Tensor laid_out(const Tensor& x, Layout layout);

/// The first slice of x along an axis, expanded to the shape of x with stride 0.
Tensor repeated(const Tensor& x, int axis);

/// A row-major copy, as a constant.
Tensor row_major(const Tensor& x);

/// The row on inputs of other shapes.
OpCase with_shapes(const OpCase& row, const std::vector<Shape>& shapes);

/// Shapes on which an elementwise row must work too: scalars, nothing at all, and each input
/// broadcast in every way against the others.
std::vector<OpCase> broadcast_variants(const OpCase& row);

}  // namespace attograd::op_cases

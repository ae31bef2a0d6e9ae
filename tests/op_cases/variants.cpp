#include <algorithm>
#include <cmath>
#include <limits>

#include <tests/op_cases/variants.h>

#include <attograd/core/create.h>
#include <attograd/core/random.h>

namespace attograd::op_cases {

Tensors make_inputs(const std::vector<Input>& inputs, uint64_t seed, DType dtype) {
  Tensors x;
  for (const Input& input : inputs) {
    Tensor made = input.make(input.shape, seed++);
    if (input.is_floating) made = Tensor(made.array().cast(dtype)).set_requires_grad();
    x.push_back(made);
  }
  return x;
}

Tensors leaves_of(const Tensors& x) {
  Tensors leaves;
  std::copy_if(x.begin(), x.end(), std::back_inserter(leaves),
               [](const Tensor& input) { return input.requires_grad(); });
  return leaves;
}

Tensors fresh(const Tensors& x) {
  Tensors y;
  for (const Tensor& input : x) {
    y.push_back(detach(input));
    if (input.requires_grad()) y.back().set_requires_grad();
  }
  return y;
}

Tensor cotangent(const Tensor& y, uint64_t seed) {
  Rng rng(seed);
  return randn(y.shape(), rng, y.dtype());
}

Tensors gradients(const OpCase& row, const Tensors& x, const Tensor& v,
                  const GradOptions& options) {
  const Tensors leaves = leaves_of(x);
  GradOptions with_unused = options;
  with_unused.allow_unused = true;
  Tensors found = grad({row.call(x)}, leaves, with_unused, {v});
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(leaves[i]);
  return found;
}

double distance(const Tensor& a, const Tensor& b, double scale) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (a.shape() != b.shape()) return kFar;
  const std::vector<double> p = numbers(a).values;
  const std::vector<double> q = numbers(b).values;
  double largest = scale;
  double difference = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i]))) {
      if (std::isfinite(q[i])) largest = std::max(largest, std::abs(q[i]));
      continue;
    }
    if (!std::isfinite(p[i]) || !std::isfinite(q[i])) return kFar;
    largest = std::max(largest, std::abs(q[i]));
    difference = std::max(difference, std::abs(p[i] - q[i]));
  }
  const double eps = a.dtype() == DType::f32 ? std::numeric_limits<float>::epsilon()
                                             : std::numeric_limits<double>::epsilon();
  return difference == 0 ? 0 : difference / (eps * largest);
}

double magnitude(const Tensor& x) {
  double largest = 0;
  for (const double v : numbers(x).values) largest = std::max(largest, std::abs(v));
  return largest;
}

bool identical(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && distance(a, b) == 0;
}

std::string name_of(Layout layout) {
  switch (layout) {
    case Layout::transposed:
      return "transposed";
    case Layout::spaced:
      return "spaced";
    case Layout::both:
      return "transposed and spaced";
  }
  return "";
}

Tensor laid_out(const Tensor& x, Layout layout) {
  const int64_t gap = layout == Layout::transposed ? 1 : 2;
  const int64_t offset = layout == Layout::transposed ? 0 : 3;
  Strides strides = x.shape();
  int64_t step = gap;
  for (int k = 0; k < x.rank(); ++k) {
    const int axis = layout == Layout::spaced ? x.rank() - 1 - k : k;
    strides[axis] = step;
    step *= x.shape()[axis];
  }
  const double filling = is_floating(x.dtype()) ? std::numeric_limits<double>::quiet_NaN() : 1;
  Array y = Array::filled({x.numel() * gap + offset + 1}, x.dtype(), filling)
                .view(x.shape(), strides, offset);
  assign(y, x.array());
  return Tensor(y);
}

Tensor repeated(const Tensor& x, int axis) {
  Strides strides = x.array().strides();
  strides[axis] = 0;
  return Tensor(x.array().view(x.shape(), strides));
}

Tensor row_major(const Tensor& x) { return Tensor(x.array().copy()); }

OpCase with_shapes(const OpCase& row, const std::vector<Shape>& shapes) {
  OpCase variant = row;
  std::ostringstream label;
  label << row.label << (row.label.empty() ? "" : " ");
  for (size_t i = 0; i < shapes.size(); ++i) {
    variant.inputs[i].shape = shapes[i];
    label << shapes[i];
  }
  variant.label = label.str();
  return variant;
}

std::vector<OpCase> broadcast_variants(const OpCase& row) {
  const size_t n = row.inputs.size();
  std::vector<OpCase> variants;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{5}, Shape{0}, Shape{2, 0, 3}, Shape{1, 2, 3}})
    variants.push_back(with_shapes(row, std::vector<Shape>(n, shape)));
  for (size_t i = 0; n > 1 && i < n; ++i)
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{1}, Shape{1, 3}, Shape{2, 1}, Shape{1, 1},
                               Shape{4, 1, 3}, Shape{1, 2, 1}}) {
      std::vector<Shape> shapes(n, Shape{2, 3});
      shapes[i] = shape;
      variants.push_back(with_shapes(row, shapes));
    }
  for (size_t i = 0; n > 1 && i < n; ++i) {  // nothing, broadcast against something
    std::vector<Shape> shapes(n, Shape{0, 3});
    shapes[i] = {1, 3};
    variants.push_back(with_shapes(row, shapes));
  }
  return variants;
}

}  // namespace attograd::op_cases

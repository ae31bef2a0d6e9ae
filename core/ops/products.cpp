#include <algorithm>

#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/multiply.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/products.h>

namespace attograd {
namespace {

void check_matmul(const Tensor& a, const Tensor& b) {
  check<ShapeError>(a.rank() > 0 && b.rank() > 0,
                    "matmul: operands must be vectors, matrices or batches of them, got a = ",
                    signature(a), ", b = ", signature(b), "; a * b multiplies by a scalar");
  check_same_dtype("matmul", a.array(), b.array());
  const int64_t inner_a = a.dim(-1), inner_b = b.dim(b.rank() == 1 ? 0 : -2);
  if (inner_a != inner_b) {
    const bool transposed_b = b.rank() > 1 && inner_a == b.dim(-1);
    const bool transposed_a = a.rank() > 1 && a.dim(-2) == inner_b;
    fail<ShapeError>("matmul: a.dim(-1) must equal b.dim(", b.rank() == 1 ? "0" : "-2",
                     "), got a = ", signature(a), ", b = ", signature(b),
                     transposed_b   ? "; did you mean matmul(a, transpose(b))?"
                     : transposed_a ? "; did you mean matmul(transpose(a), b)?"
                                    : "");
  }
  for (int axis = 3; axis <= std::min(a.rank(), b.rank()); ++axis) {
    const int64_t p = a.dim(-axis), q = b.dim(-axis);
    check<ShapeError>(p == q || p == 1 || q == 1,
                      "matmul: the axes before the last two must broadcast, got a = ", signature(a),
                      ", b = ", signature(b));
  }
}

/// The rows of all matrices of x as one matrix, if that is a view.
bool rows_merge(const Tensor& x) {
  const Shape& shape = x.shape();
  const int64_t cols = shape.dim(-1), rows = shape.numel() / cols;
  return reshape_strides(shape, x.array().strides(), {rows, cols}).has_value();
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_matmul(a, b);
  if (a.rank() == 1) return squeeze(matmul(unsqueeze(a, 0), b), b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
  if (a.rank() > 2 && b.rank() == 2 && a.numel() > 0 && rows_merge(a)) {
    Shape shape = a.shape();
    shape[shape.rank() - 1] = b.dim(-1);
    return reshape(matmul(reshape(a, {-1, a.dim(-1)}), b), shape);
  }
  return record(
      {.name = "matmul",
       .inputs = {a, b},
       .value = multiply(a.array(), b.array()),
       .vjp = {[](const Tensor& g, const Tensors& x) { return matmul(g, transpose(x[1])); },
               [](const Tensor& g, const Tensors& x) { return matmul(transpose(x[0]), g); }},
       .broadcasts = true});
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check<ShapeError>(a.rank() == 1 && b.rank() == 1,
                    "outer: a and b must be vectors, got a = ", signature(a),
                    ", b = ", signature(b));
  return unsqueeze(a, 1) * unsqueeze(b, 0);
}

Tensor dot(const Tensor& a, const Tensor& b) {
  check<ShapeError>(a.rank() == 1 && b.rank() == 1 && a.dim(0) == b.dim(0),
                    "dot: a and b must be vectors of one length, got a = ", signature(a),
                    ", b = ", signature(b));
  return matmul(a, b);
}

}  // namespace attograd

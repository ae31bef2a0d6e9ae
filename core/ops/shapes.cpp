#include <attograd/core/graph.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/shapes.h>

namespace attograd {

namespace {

/// `shape` with its -1, if any, replaced by what is left of `count` elements.
Shape fill_in(Shape shape, int64_t count) {
  const auto wildcards = std::count(shape.begin(), shape.end(), -1);
  check<ShapeError>(wildcards <= 1, "reshape: at most one size may be -1, got ", shape);
  if (wildcards == 0) return shape;
  int wildcard = 0;
  while (shape[wildcard] != -1) ++wildcard;
  shape[wildcard] = 1;
  const int64_t rest = shape.numel();
  if (rest > 0) shape[wildcard] = count / rest;
  return shape;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& wanted) {
  const Shape before = x.shape();
  const Shape shape = fill_in(wanted, before.numel());
  check<ShapeError>(before.numel() == shape.numel(),
                    "reshape: the number of elements must stay, got ", before, " to ", shape);
  return record({.name = "reshape",
                 .inputs = {x},
                 .value = x.array().contiguous().view(shape, contiguous_strides(shape)),
                 .vjp = {[before](const Tensor& g) { return reshape(g, before); }}});
}

Tensor expand(const Tensor& x, const Shape& shape) {
  const Shape before = x.shape();
  return record({.name = "expand",
                 .inputs = {x},
                 .value = x.array().expand(shape),
                 .vjp = {[before](const Tensor& g) { return sum_to(g, before); }}});
}

}  // namespace attograd

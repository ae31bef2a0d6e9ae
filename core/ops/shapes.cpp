#include <algorithm>
#include <utility>

#include <attograd/core/graph.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/shapes.h>

namespace attograd {
namespace {

/// `wanted` with its -1, if any, replaced by what is left of x's elements.
Shape fill_in(const Tensor& x, const Shape& wanted) {
  Shape shape = wanted;
  const auto wildcard = std::find(wanted.begin(), wanted.end(), -1) - wanted.begin();
  if (wildcard < wanted.rank()) {
    const int axis = static_cast<int>(wildcard);
    shape[axis] = 1;
    check<ShapeError>(std::count(shape.begin(), shape.end(), -1) == 0,
                      "reshape: at most one size may be -1, got ", wanted);
  }
  check<ShapeError>(std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n >= 0; }),
                    "reshape: sizes must be >= 0, or one of them -1, got ", wanted);
  if (wildcard < wanted.rank()) {
    check<ShapeError>(shape.numel() > 0, "reshape: -1 could be any size, got ", wanted,
                      ", which holds no elements");
    shape[static_cast<int>(wildcard)] = x.numel() / shape.numel();
  }
  check<ShapeError>(shape.numel() == x.numel(), "reshape: the number of elements must stay, got ",
                    signature(x), " to ", wanted);
  return shape;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& wanted) {
  const Shape before = x.shape();
  const Shape shape = fill_in(x, wanted);
  const auto strides = reshape_strides(before, x.array().strides(), shape);
  return record({.name = "reshape",
                 .inputs = {x},
                 .value = strides ? x.array().view(shape, *strides)
                                  : x.array().copy().view(shape, contiguous_strides(shape)),
                 .vjp = {[before](const Tensor& g) { return reshape(g, before); }}});
}

Tensor expand(const Tensor& x, const Shape& shape) {
  check<ShapeError>(std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n >= 0; }),
                    "expand: sizes must be >= 0, got ", shape);
  static_cast<void>(shape.numel());  // more elements than can be counted could not be summed again
  const Shape before = x.shape();
  return record({.name = "expand",
                 .inputs = {x},
                 .value = x.array().expand(shape),
                 .vjp = {[before](const Tensor& g) { return sum_to(g, before); }}});
}

Tensor permute(const Tensor& x, const Shape& order) {
  check<ShapeError>(order.rank() == x.rank(), "permute: every axis must be named once, got ", order,
                    " for ", signature(x));
  Shape shape = order, strides = order, inverse = order;
  std::array<bool, kMaxRank> seen{};
  for (int axis = 0; axis < order.rank(); ++axis) {
    const int from = normalize_axis("permute", order[axis], x.rank());
    check<ShapeError>(!std::exchange(seen[static_cast<size_t>(from)], true),
                      "permute: every axis must be named once, got ", order, " for ", signature(x));
    shape[axis] = x.shape()[from];
    strides[axis] = x.array().strides()[from];
    inverse[from] = axis;
  }
  return record({.name = "permute",
                 .inputs = {x},
                 .value = x.array().view(shape, strides),
                 .vjp = {[inverse](const Tensor& g) { return permute(g, inverse); }}});
}

Tensor transpose(const Tensor& x) {
  check<ShapeError>(x.rank() >= 2, "transpose: needs two axes or more, got ", signature(x));
  return transpose(x, -2, -1);
}

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  Shape order;
  for (int axis = 0; axis < x.rank(); ++axis) order.append(axis);
  std::swap(order[normalize_axis("transpose", a, x.rank())],
            order[normalize_axis("transpose", b, x.rank())]);
  return permute(x, order);
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  Shape shape = x.shape();
  const int dropped = normalize_axis("squeeze", axis, x.rank());
  check<ShapeError>(shape[dropped] == 1, "squeeze: the axis must have size 1, got axis ", axis,
                    " of ", signature(x), "; select drops an axis of any size");
  shape.erase(dropped);
  return reshape(x, shape);
}

Tensor squeeze(const Tensor& x) {
  Shape shape;
  for (int64_t size : x.shape())
    if (size != 1) shape.append(size);
  return reshape(x, shape);
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  Shape shape = x.shape();
  check<ShapeError>(x.rank() < kMaxRank, "unsqueeze: at most ", kMaxRank,
                    " axes, got one more than ", signature(x));
  shape.insert(normalize_axis("unsqueeze", axis, x.rank() + 1), 1);
  return reshape(x, shape);
}

Tensor flip(const Tensor& x, const Axes& axes) {
  const auto flags = axes.resolve("flip", x.rank());
  Strides strides = x.array().strides();
  int64_t offset = 0;  // of the last element along the flipped axes, which becomes the first
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!flags[static_cast<size_t>(axis)] || x.numel() == 0) continue;
    offset += (x.shape()[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return record({.name = "flip",
                 .inputs = {x},
                 .value = x.array().view(x.shape(), strides, offset),
                 .vjp = {[axes](const Tensor& g) { return flip(g, axes); }}});
}

}  // namespace attograd

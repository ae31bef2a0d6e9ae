#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/reduce.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

/// The axes of x split into those that stay, which walk the groups, and those of a group.
struct Groups {
  std::array<bool, kMaxRank> reduces;
  Shape keepdim_shape;
  Shape shape;
  kernels::StridedLoop<1> kept;
  kernels::StridedLoop<1> reduced;

  Groups(std::string_view op, const Array& x, const Axes& axes, bool keepdim)
      : reduces(axes.resolve(op, x.rank())),
        keepdim_shape(reduced_shape(x.shape(), reduces, true)),
        shape(reduced_shape(x.shape(), reduces, keepdim)) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      auto& loop = reduces[static_cast<size_t>(axis)] ? reduced : kept;
      loop.append(x.shape()[axis], {x.strides()[axis]});
    }
  }
};

/// finish(total) of every group.
template <class List, template <class> class Fold, class Finish>
Array fold(std::string_view op, const Array& x, const Groups& groups, Finish finish) {
  return dispatch<List>(op, x.dtype(), [&]<class T>() {
    using R = typename Fold<T>::Result;
    Array y(groups.shape, kDTypeOf<R>);
    kernels::reduce<Fold<T>>(groups.kept, groups.reduced, y.mutable_data<R>(), x.data<T>(),
                             [&](auto total) { return static_cast<R>(finish(total)); });
    return y;
  });
}

constexpr auto total_itself = [](auto total) { return total; };

/// max and min: they differ in what they keep.
template <template <class> class Fold>
Tensor extreme(OpName name, const Tensor& x, const Axes& axes, bool keepdim) {
  const Groups groups(name, x.array(), axes, keepdim);
  check<ShapeError>(groups.reduced.count() > 0 || groups.kept.count() == 0, std::string_view(name),
                    ": there are no elements to choose from, got ", signature(x));
  const Shape kept = groups.keepdim_shape;
  return record({.name = name,
                 .inputs = {x},
                 .value = fold<Numeric, Fold>(name, x.array(), groups, total_itself),
                 .vjp = {[kept](const Tensor& g, const Tensors& in, const Tensor& y) {
                   const Tensor wins = equal(in[0], reshape(y, kept));
                   const Tensor winners = sum_to(cast(wins, g.dtype()), kept);
                   return where(wins, reshape(g, kept) / winners, 0.0);
                 }}});
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim) {
  const Groups groups("sum", x.array(), axes, keepdim);
  const Shape shape = x.shape();
  const Shape kept = groups.keepdim_shape;
  return record(
      {.name = "sum",
       .inputs = {x},
       .value = fold<AnyType, kernels::Sum>("sum", x.array(), groups, total_itself),
       .vjp = {[shape, kept](const Tensor& g) { return expand(reshape(g, kept), shape); }}});
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check<ShapeError>(
      x.rank() >= shape.rank() && broadcast_shapes("sum_to", x.shape(), shape) == x.shape(),
      "sum_to: ", shape, " does not broadcast to ", signature(x));
  std::vector<int64_t> axes;
  const int lead = x.rank() - shape.rank();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis < lead || (shape[axis - lead] == 1 && x.shape()[axis] != 1)) axes.push_back(axis);
  return reshape(sum(x, Axes(axes)), shape);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdim) {
  const Groups groups("mean", x.array(), axes, keepdim);
  const Shape shape = x.shape();
  const Shape kept = groups.keepdim_shape;
  const auto n = static_cast<double>(groups.reduced.count());
  return record(
      {.name = "mean",
       .inputs = {x},
       .value = fold<Floating, kernels::Sum>("mean", x.array(), groups,
                                             [n](double total) { return total / n; }),
       .vjp = {[shape, kept, n](const Tensor& g) { return expand(reshape(g, kept) / n, shape); }}});
}

Tensor max(const Tensor& x, const Axes& axes, bool keepdim) {
  return extreme<kernels::Max>("max", x, axes, keepdim);
}

Tensor min(const Tensor& x, const Axes& axes, bool keepdim) {
  return extreme<kernels::Min>("min", x, axes, keepdim);
}

bool all_finite(const Tensor& x) {
  const Groups groups("all_finite", x.array(), {}, false);
  return *fold<Numeric, kernels::AllFinite>("all_finite", x.array(), groups, total_itself)
              .data<bool>();
}

}  // namespace attograd

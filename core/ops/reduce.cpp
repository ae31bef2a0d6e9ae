#include <cmath>
#include <limits>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/reduce.h>
#include <attograd/core/kernels/scan.h>
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto total_itself = [](auto total) { return total; };

void check_choice(std::string_view op, const Tensor& x, const Groups& groups) {
  check<ShapeError>(groups.reduced.count() > 0 || groups.kept.count() == 0, op,
                    ": there are no elements to choose from, got ", signature(x));
}

/// max and min: they differ in what they keep.
template <template <class> class Fold>
Tensor extreme(OpName name, const Tensor& x, const Axes& axes, bool keepdim) {
  const Groups groups(name, x.array(), axes, keepdim);
  check_choice(name, x, groups);
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

/// logsumexp of a constant. Shifted by its largest element, unless that is infinite, e^x is at most
/// 1.
Tensor shifted_logsumexp(const Tensor& x, const Axes& axes) {
  const Groups groups("logsumexp", x.array(), axes, true);
  const Tensor largest(fold<Floating, kernels::Max>("logsumexp", x.array(), groups, total_itself));
  const Tensor shift = masked_fill(largest, logical_not(is_finite(largest)), 0.0);
  return log(sum(exp(x - shift), axes, true)) + shift;
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

Tensor norm(const Tensor& x, const Axes& axes, bool keepdim) {
  const Groups groups("norm", x.array(), axes, keepdim);
  const Shape kept = groups.keepdim_shape;
  return record({.name = "norm",
                 .inputs = {x},
                 .value = fold<Floating, kernels::SumOfSquares>(
                     "norm", x.array(), groups, [](auto total) { return std::sqrt(total); }),
                 .vjp = {[kept](const Tensor& g, const Tensors& in, const Tensor& y) {
                   const Tensor length = reshape(y, kept);
                   return reshape(g, kept) *
                          (in[0] / masked_fill(length, equal(length, 0.0), kInfinity));
                 }}});
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim) {
  const Groups groups("logsumexp", x.array(), axes, keepdim);
  const Shape kept = groups.keepdim_shape;
  return record({.name = "logsumexp",
                 .inputs = {x},
                 .value = reshape(shifted_logsumexp(Tensor(x.array()), axes), groups.shape).array(),
                 .vjp = {[kept](const Tensor& g, const Tensors& in, const Tensor& y) {
                   const Tensor total = reshape(y, kept);
                   const Tensor nothing = equal(total, -kInfinity);
                   // Dividing by the sum of e, which is nearly 1, removes what rounding a large
                   // total left in it.
                   const Tensor e = exp(in[0] - detach(masked_fill(total, nothing, 0.0)));
                   return reshape(g, kept) / masked_fill(sum_to(e, kept), nothing, 1.0) * e;
                 }}});
}

Tensor max(const Tensor& x, const Axes& axes, bool keepdim) {
  return extreme<kernels::Max>("max", x, axes, keepdim);
}

Tensor min(const Tensor& x, const Axes& axes, bool keepdim) {
  return extreme<kernels::Min>("min", x, axes, keepdim);
}

namespace {

Tensor argmax_as(std::string_view op, const Tensor& x, int64_t axis, bool keepdim) {
  const Groups groups(op, x.array(), axis, keepdim);
  check_choice(op, x, groups);
  Array y(groups.shape, DType::i64);
  dispatch<Numeric>(op, x.dtype(), [&]<class T>() {
    kernels::argmax(groups.kept, x.dim(axis), x.array().strides().dim(axis),
                    y.mutable_data<int64_t>(), x.data<T>());
  });
  return record({.name = "argmax", .inputs = {x}, .value = y, .vjp = {not_differentiable}});
}

}  // namespace

Tensor argmax(const Tensor& x, int64_t axis, bool keepdim) {
  return argmax_as("argmax", x, axis, keepdim);
}

Tensor argmax(const Tensor& x) { return argmax(reshape(x, {-1}), 0); }

MaxWithIndex max_with_index(const Tensor& x, int64_t axis, bool keepdim) {
  const Tensor indices = argmax_as("max_with_index", x, axis, true);
  const Tensor values = gather(x, axis, indices);
  if (keepdim) return {values, indices};
  return {squeeze(values, axis), squeeze(indices, axis)};
}

// ---- composed ----

namespace {

/// x minus its mean. Doing it twice removes what rounding left of the mean, so that equal elements
/// become exact zeros.
Tensor centred(const Tensor& x, const Axes& axes) {
  const Tensor once = x - mean(x, axes, true);
  return once - mean(once, axes, true);
}

double degrees_of_freedom(std::string_view op, const Tensor& x, const Axes& axes,
                          double correction) {
  check_dtype<Floating>(op, x.dtype());
  const auto n = static_cast<double>(Groups(op, x.array(), axes, true).reduced.count());
  return std::max(n - correction, 0.0);
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, const VarOptions& options) {
  const double n = degrees_of_freedom("var", x, axes, options.correction);
  return sum(square(centred(x, axes)), axes, options.keepdim) / n;
}

Tensor std(const Tensor& x, const Axes& axes, const VarOptions& options) {
  const double n = degrees_of_freedom("std", x, axes, options.correction);
  return norm(centred(x, axes), axes, options.keepdim) / std::sqrt(n);
}

namespace {

/// The product along one axis, which stays with size 1.
Tensor product_along(Tensor x, int axis) {
  if (x.dim(axis) == 0) return sum(x, axis, true) + 1.0;  // the sum of nothing is 0
  Tensor left_over;                                       // of odd sizes
  while (x.dim(axis) > 1) {
    const int64_t half = x.dim(axis) / 2;
    if (x.dim(axis) % 2 == 1) {
      const Tensor last = slice(x, axis, -1);
      left_over = left_over.defined() ? left_over * last : last;
    }
    x = slice(x, axis, 0, half) * slice(x, axis, half, 2 * half);
  }
  return left_over.defined() ? x * left_over : x;
}

/// Sums from the first element on, or from the last.
Tensor running_sum(const Tensor& x, int axis, bool from_last) {
  Array y(x.shape(), x.dtype());
  kernels::StridedLoop<2> lines;
  for (int other = 0; other < x.rank(); ++other)
    if (other != axis)
      lines.append(x.shape()[other], {y.strides()[other], x.array().strides()[other]});
  const int64_t n = x.dim(axis);
  const int64_t first = from_last ? std::max<int64_t>(n - 1, 0) : 0, direction = from_last ? -1 : 1;
  const int64_t to = y.strides()[axis], from = x.array().strides()[axis];
  dispatch<Numeric>("cumsum", x.dtype(), [&]<class T>() {
    if (y.numel() == 0) return;  // however many lines of nothing
    kernels::running_sum(lines, n, {direction * to, direction * from},
                         y.mutable_data<T>() + first * to, x.data<T>() + first * from);
  });
  return record(
      {.name = "cumsum", .inputs = {x}, .value = y, .vjp = {[axis, from_last](const Tensor& g) {
                                                      return running_sum(g, axis, !from_last);
                                                    }}});
}

}  // namespace

Tensor prod(const Tensor& x, const Axes& axes, bool keepdim) {
  check_dtype<Numeric>("prod", x.dtype());
  const Groups groups("prod", x.array(), axes, keepdim);
  Tensor y = x;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (groups.reduces[static_cast<size_t>(axis)]) y = product_along(y, axis);
  return reshape(y, groups.shape);
}

Tensor cumsum(const Tensor& x, int64_t axis) {
  return running_sum(x, normalize_axis("cumsum", axis, x.rank()), false);
}

bool all_finite(const Tensor& x) {
  const Groups groups("all_finite", x.array(), {}, false);
  return *fold<Numeric, kernels::AllFinite>("all_finite", x.array(), groups, total_itself)
              .data<bool>();
}

}  // namespace attograd

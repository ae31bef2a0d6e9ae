#include <attograd/core/graph.h>
#include <attograd/core/kernels/reduce.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/reduce.h>

namespace attograd {
namespace {

/// Splits the axes of x into a kept and a reduced loop, and runs `kernel` over them.
struct ReductionLoops {
  std::array<bool, kMaxRank> flags;
  Shape keepdim_shape;
  Shape shape;
  kernels::StridedLoop<2> kept;     // result, first element of its group
  kernels::StridedLoop<1> reduced;  // elements of a group

  ReductionLoops(std::string_view op, const Array& x, const Axes& axes, bool keepdim)
      : flags(axes.resolve(op, x.rank())),
        keepdim_shape(reduced_shape(x.shape(), flags, true)),
        shape(reduced_shape(x.shape(), flags, keepdim)) {
    const Strides out = contiguous_strides(keepdim_shape);
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (flags[static_cast<size_t>(axis)]) {
        reduced.append(x.shape()[axis], {x.strides()[axis]});
      } else {
        kept.append(x.shape()[axis], {out[axis], x.strides()[axis]});
      }
    }
  }
};

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim) {
  const ReductionLoops r("sum", x.array(), axes, keepdim);
  Array value(r.shape, x.dtype());
  dispatch<Numeric>("sum", x.dtype(), [&]<class T>() {
    kernels::sum(r.kept, r.reduced, value.mutable_data<T>(), x.data<T>());
  });
  const Shape shape = x.shape();
  const Shape kept = r.keepdim_shape;
  return record(
      {.name = "sum", .inputs = {x}, .value = value, .vjp = {[shape, kept](const Tensor& g) {
                                                       return expand(reshape(g, kept), shape);
                                                     }}});
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  std::vector<int64_t> axes;
  const int lead = x.rank() - shape.rank();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis < lead || (shape[axis - lead] == 1 && x.shape()[axis] != 1)) axes.push_back(axis);
  return reshape(sum(x, Axes(axes)), shape);
}

}  // namespace attograd

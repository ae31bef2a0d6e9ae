#include <limits>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/softmax.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

/// The kernel's result for rows along the last axis.
template <class Kernel>
Array over_rows(std::string_view op, const Array& x, Kernel kernel) {
  const Array in = x.contiguous();
  Array y(x.shape(), x.dtype());
  if (y.numel() == 0) return y;
  dispatch<Floating>(op, x.dtype(), [&]<class T>() {
    kernel(row_count(x.shape()), x.dim(-1), in.data<T>(), y.mutable_data<T>());
  });
  return y;
}

/// The same for a backward kernel, which takes g and y and writes dx.
template <class Kernel>
Array over_rows(std::string_view op, const Array& g, const Array& y, Kernel kernel) {
  const Array gradient = g.contiguous(), result = y.contiguous();
  Array dx(y.shape(), y.dtype());
  if (dx.numel() == 0) return dx;
  dispatch<Floating>(op, y.dtype(), [&]<class T>() {
    kernel(row_count(y.shape()), y.dim(-1), gradient.data<T>(), result.data<T>(),
           dx.mutable_data<T>());
  });
  return dx;
}

/// The largest element along an axis (which is kept), as a constant: subtracting it changes neither
/// the value nor the derivative, and keeps exp from overflowing.
Tensor largest(const Tensor& x, int64_t axis) {
  const Tensor constant = detach(x);
  // An empty axis has no largest element: its sum, 0, stands in.
  return x.dim(axis) == 0 ? sum(constant, axis, true) : max(constant, axis, true);
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) {
  const int last = x.rank() - 1, own = normalize_axis("softmax", axis, x.rank());
  if (own != last) return transpose(softmax(transpose(x, own, last)), own, last);
  return record(Fused{
      .name = "softmax",
      .inputs = {x},
      .value = over_rows("softmax", x.array(), [](auto... a) { kernels::softmax(a...); }),
      .reference =
          [](const Tensors& in) {
            const Tensor e = exp(in[0] - largest(in[0], -1));
            return e / sum(e, -1, true);
          },
      .vjp_kernel = [](const KernelArguments& a) -> Arrays {
        return {over_rows("softmax", a.g, a.y, [](auto... p) { kernels::softmax_vjp(p...); })};
      },
  });
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
  const int last = x.rank() - 1, own = normalize_axis("log_softmax", axis, x.rank());
  if (own != last) return transpose(log_softmax(transpose(x, own, last)), own, last);
  return record(Fused{
      .name = "log_softmax",
      .inputs = {x},
      .value = over_rows("log_softmax", x.array(), [](auto... a) { kernels::log_softmax(a...); }),
      .reference =
          [](const Tensors& in) {
            const Tensor s = in[0] - largest(in[0], -1);
            return s - log(sum(exp(s), -1, true));
          },
      .vjp_kernel = [](const KernelArguments& a) -> Arrays {
        return {
            over_rows("log_softmax", a.g, a.y, [](auto... p) { kernels::log_softmax_vjp(p...); })};
      },
  });
}

Tensor masked_softmax(const Tensor& scores, const Tensor& keep, int64_t axis) {
  check<DTypeError>(keep.dtype() == DType::boolean,
                    "masked_softmax: keep must be bool (true where a score counts), got ",
                    signature(keep), "; compare first, as in mask > 0");
  check<DTypeError>(is_floating(scores.dtype()), "masked_softmax: scores must be f32 or f64, got ",
                    signature(scores));
  const Shape shape = broadcast_shapes("masked_softmax", scores.shape(), keep.shape());
  normalize_axis("masked_softmax", axis, shape.rank());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor s = masked_fill(scores, logical_not(keep), -kInfinity);
  const Tensor m = largest(s, axis);
  const Tensor e = exp(s - masked_fill(m, equal(m, -kInfinity), 0));  // all 0 if nothing is kept
  const Tensor z = sum(e, axis, true);
  return e / masked_fill(z, equal(z, 0), 1);
}

}  // namespace attograd

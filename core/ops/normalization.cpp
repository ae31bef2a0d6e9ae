#include <cmath>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/norm.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

void check_input(std::string_view op, const Tensor& x, double eps) {
  check<ShapeError>(x.rank() >= 1, op, ": x must be [..., C], got x = ", signature(x));
  check<DTypeError>(is_floating(x.dtype()), op, ": x must be f32 or f64, got x = ", signature(x));
  check<ValueError>(eps > 0 && std::isfinite(eps), op, ": eps must be > 0 and finite, got ", eps);
}

/// The parameter, or its neutral value if it is undefined.
Tensor parameter_or(double neutral, std::string_view op, const char* name, const Tensor& parameter,
                    const Tensor& x) {
  const Shape shape = {x.dim(-1)};
  if (!parameter.defined()) return full(shape, neutral, x.dtype());
  check<ShapeError>(parameter.shape() == shape, op, ": ", name, " must be ", shape,
                    ", the last axis of x, got ", name, " = ", signature(parameter),
                    ", x = ", signature(x));
  check<DTypeError>(parameter.dtype() == x.dtype(), op, ": ", name,
                    " must have the dtype of x, got ", name, " = ", signature(parameter),
                    ", x = ", signature(x), "; convert with cast(", name, ", DType::", x.dtype(),
                    ")");
  return parameter;
}

/// An array like x for a gradient, undefined if that is not wanted, and its numbers or null.
Array wanted_like(const Array& x, bool wanted) {
  return wanted ? Array(x.shape(), x.dtype()) : Array();
}
template <class T>
T* numbers_or_null(Array& x) {
  return x.defined() ? x.mutable_data<T>() : nullptr;
}

/// A normalised x, and what the derivative needs of every row.
struct Normalized {
  Array y;
  Arrays statistics;  // [rows]
};

Normalized layer_norm_value(const Tensors& in, double eps) {
  const Array x = in[0].array().contiguous(), weight = in[1].array().contiguous(),
              bias = in[2].array().contiguous();
  const int64_t rows = row_count(x.shape());
  Array y(x.shape(), x.dtype()), mean({rows}, x.dtype()), rstd({rows}, x.dtype());
  dispatch<Floating>("layer_norm", x.dtype(), [&]<class T>() {
    kernels::layer_norm(rows, x.dim(-1), eps, x.data<T>(), weight.data<T>(), bias.data<T>(),
                        y.mutable_data<T>(), mean.mutable_data<T>(), rstd.mutable_data<T>());
  });
  return {y, {mean, rstd}};
}

Arrays layer_norm_gradients(const KernelArguments& a) {
  const Array g = a.g.contiguous(), x = a.x[0].contiguous(), weight = a.x[1].contiguous();
  Array dx = wanted_like(x, a.wants[0]), dweight = wanted_like(weight, a.wants[1]),
        dbias = wanted_like(weight, a.wants[2]);
  dispatch<Floating>("layer_norm", x.dtype(), [&]<class T>() {
    kernels::layer_norm_vjp(row_count(x.shape()), x.dim(-1), g.data<T>(), x.data<T>(),
                            weight.data<T>(), a.saved[0].data<T>(), a.saved[1].data<T>(),
                            numbers_or_null<T>(dx), numbers_or_null<T>(dweight),
                            numbers_or_null<T>(dbias));
  });
  return {dx, dweight, dbias};
}

Normalized rms_norm_value(const Tensors& in, double eps) {
  const Array x = in[0].array().contiguous(), weight = in[1].array().contiguous();
  const int64_t rows = row_count(x.shape());
  Array y(x.shape(), x.dtype()), rstd({rows}, x.dtype());
  dispatch<Floating>("rms_norm", x.dtype(), [&]<class T>() {
    kernels::rms_norm(rows, x.dim(-1), eps, x.data<T>(), weight.data<T>(), y.mutable_data<T>(),
                      rstd.mutable_data<T>());
  });
  return {y, {rstd}};
}

Arrays rms_norm_gradients(const KernelArguments& a) {
  const Array g = a.g.contiguous(), x = a.x[0].contiguous(), weight = a.x[1].contiguous();
  Array dx = wanted_like(x, a.wants[0]), dweight = wanted_like(weight, a.wants[1]);
  dispatch<Floating>("rms_norm", x.dtype(), [&]<class T>() {
    kernels::rms_norm_vjp(row_count(x.shape()), x.dim(-1), g.data<T>(), x.data<T>(),
                          weight.data<T>(), a.saved[0].data<T>(), numbers_or_null<T>(dx),
                          numbers_or_null<T>(dweight));
  });
  return {dx, dweight};
}

/// For each row a power of two, a constant, that takes its elements into [-2, 2], where squares do
/// not overflow; 1 if they lie there.
Tensor shrinking(const Tensor& x) {
  const auto power = []<class T>(T v) {
    return v > 1 && std::isfinite(v) ? std::ldexp(T{1}, -std::ilogb(v)) : T{1};
  };
  if (x.dim(-1) == 0) return ones({1}, x.dtype());
  return Tensor(map("norm", max(abs(detach(x)), -1, true).array(), power));
}

/// (x - mean) / sqrt(var + eps) weight + bias, where var is computed of x scaled by s, and so is
/// s^2 var. Halves of numbers have a difference where the numbers may have none.
Tensor defined_layer_norm(const Tensors& in, double eps) {
  const Tensor half = 0.5 * in[0];
  const Tensor centred = half - mean(half, -1, true);
  const Tensor s = shrinking(centred), scaled = s * centred;
  const Tensor variance = mean(square(scaled), -1, true);
  return scaled / sqrt(variance + 0.25 * eps * s * s) * in[1] + in[2];
}

/// x / sqrt(mean(x^2) + eps) weight, likewise.
Tensor defined_rms_norm(const Tensors& in, double eps) {
  const Tensor s = shrinking(in[0]), scaled = s * in[0];
  return scaled / sqrt(mean(square(scaled), -1, true) + eps * s * s) * in[1];
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_input("layer_norm", x, eps);
  const Tensors inputs = {x, parameter_or(1, "layer_norm", "weight", weight, x),
                          parameter_or(0, "layer_norm", "bias", bias, x)};
  const Normalized n = layer_norm_value(inputs, eps);
  return record(Fused{
      .name = "layer_norm",
      .inputs = inputs,
      .value = n.y,
      .saved = n.statistics,
      .reference = [eps](const Tensors& in) { return defined_layer_norm(in, eps); },
      .vjp_kernel = layer_norm_gradients,
  });
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_input("rms_norm", x, eps);
  const Tensors inputs = {x, parameter_or(1, "rms_norm", "weight", weight, x)};
  const Normalized n = rms_norm_value(inputs, eps);
  return record(Fused{
      .name = "rms_norm",
      .inputs = inputs,
      .value = n.y,
      .saved = n.statistics,
      .reference = [eps](const Tensors& in) { return defined_rms_norm(in, eps); },
      .vjp_kernel = rms_norm_gradients,
  });
}

}  // namespace attograd

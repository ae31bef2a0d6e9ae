#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/accumulate.h>
#include <attograd/core/multiply.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check<ShapeError>(x.rank() >= 1 && weight.rank() == 2 && x.dim(-1) == weight.dim(1),
                    "linear: x must be [..., in] and weight [out, in], got x = ", signature(x),
                    ", weight = ", signature(weight),
                    x.rank() >= 1 && weight.rank() == 2 && x.dim(-1) == weight.dim(0)
                        ? "; did you mean transpose(weight)?"
                        : "");
  check<DTypeError>(is_floating(x.dtype()) && x.dtype() == weight.dtype(),
                    "linear: x and weight must both be f32 or both f64, got x = ", signature(x),
                    ", weight = ", signature(weight), "; convert with cast(x, DType::f32)");
  if (!bias.defined()) return;
  check<ShapeError>(bias.shape() == Shape{weight.dim(0)},
                    "linear: bias must be [out] = ", Shape{weight.dim(0)},
                    ", got bias = ", signature(bias), ", weight = ", signature(weight));
  check<DTypeError>(bias.dtype() == x.dtype(),
                    "linear: bias must have the dtype of x, got bias = ", signature(bias),
                    ", x = ", signature(x), "; convert with cast(bias, DType::", x.dtype(), ")");
}

/// All vectors of x as the rows of one matrix.
Tensor as_rows(const Array& x) { return reshape(Tensor(x), {row_count(x.shape()), x.dim(-1)}); }

Array linear_value(const Tensors& in) {
  const Array x = as_rows(in[0].array()).array(),
              weight_t = transpose(Tensor(in[1].array())).array();
  Array y({x.dim(0), weight_t.dim(1)}, x.dtype());
  assign(y, in[2].array());  // BLAS adds the product to what stands there
  multiply_add(x, weight_t, y);
  Shape shape = in[0].shape();
  shape[shape.rank() - 1] = y.dim(-1);
  return y.view(shape, contiguous_strides(shape));
}

Array column_sum(const Array& x) {
  const Array rows = x.contiguous();
  Array y({x.dim(-1)}, x.dtype());
  dispatch<Floating>("linear", x.dtype(), [&]<class T>() {
    kernels::column_sum(row_count(x.shape()), x.dim(-1), rows.data<T>(), y.mutable_data<T>());
  });
  return y;
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  const Tensors inputs = {x, weight,
                          bias.defined() ? bias : zeros({weight.dim(0)}, weight.dtype())};
  return record(Fused{
      .name = "linear",
      .inputs = inputs,
      .value = linear_value(inputs),
      .reference = [](const Tensors& in) { return matmul(in[0], transpose(in[1])) + in[2]; },
      .vjp_kernel =
          [](const KernelArguments& a) {
            const Tensor g = as_rows(a.g), in = as_rows(a.x[0]), w(a.x[1]);
            Arrays gradients(3);
            if (a.wants[0]) gradients[0] = reshape(matmul(g, w), a.x[0].shape()).array();
            if (a.wants[1]) gradients[1] = matmul(transpose(g), in).array();
            if (a.wants[2]) gradients[2] = column_sum(a.g);
            return gradients;
          },
  });
}

}  // namespace attograd

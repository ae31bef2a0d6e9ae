#include <cmath>
#include <numbers>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/gelu.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

Array gelu_value(const Array& x, GeluForm form) {
  const Array in = x.contiguous();
  Array y(x.shape(), x.dtype());
  dispatch<Floating>("gelu", x.dtype(), [&]<class T>() {
    (form == GeluForm::erf ? kernels::gelu<T> : kernels::gelu_tanh<T>)(x.numel(), in.data<T>(),
                                                                       y.mutable_data<T>());
  });
  return y;
}

Array gelu_gradient(const Array& g, const Array& x, GeluForm form) {
  const Array gradient = g.contiguous(), in = x.contiguous();
  Array dx(x.shape(), x.dtype());
  dispatch<Floating>("gelu", x.dtype(), [&]<class T>() {
    (form == GeluForm::erf ? kernels::gelu_vjp<T>
                           : kernels::gelu_tanh_vjp<T>)(x.numel(), gradient.data<T>(), in.data<T>(),
                                                        dx.mutable_data<T>());
  });
  return dx;
}

Tensor defined_gelu(const Tensor& x, GeluForm form) {
  return gated(x, [form](const Tensor& v) {
    if (form == GeluForm::erf) return 0.5 * (1 + erf(v / std::numbers::sqrt2));
    return 0.5 * (1 + tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
  });
}

}  // namespace

Tensor gelu(const Tensor& x, GeluForm form) {
  check<ValueError>(form == GeluForm::erf || form == GeluForm::tanh, "gelu: no such form, got ",
                    static_cast<int>(form));
  return record(Fused{
      .name = "gelu",
      .inputs = {x},
      .value = gelu_value(x.array(), form),
      .reference = [form](const Tensors& in) { return defined_gelu(in[0], form); },
      .vjp_kernel = [form](const KernelArguments& a) -> Arrays {
        return {gelu_gradient(a.g, a.x[0], form)};
      },
  });
}

}  // namespace attograd

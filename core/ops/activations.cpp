#include <cmath>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/vector_math.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>

namespace attograd {

Tensor sigmoid(const Tensor& x) {
  return record({.name = "sigmoid",
                 .inputs = {x},
                 .value = map("sigmoid", x.array(), [](auto v) { return kernels::sigmoid(v); }),
                 .vjp = {[](const Tensor& g, const Tensor& y) { return g * (y * (1.0 - y)); }}});
}

Tensor relu(const Tensor& x) {
  return record(
      {.name = "relu",
       .inputs = {x},
       .value = map("relu", x.array(), []<class T>(T v) { return v <= 0 ? T{0} : v; }),
       .vjp = {[](const Tensor& g, const Tensor& y) { return masked_fill(g, y <= 0.0, 0.0); }}});
}

Tensor leaky_relu(const Tensor& x, double slope) {
  check_dtype<Floating>("leaky_relu", x.dtype());
  return where(x > 0.0, x, slope * x);
}

Tensor elu(const Tensor& x, double alpha) {
  check_dtype<Floating>("elu", x.dtype());
  return where(x > 0.0, x, alpha * expm1(x));
}

Tensor gated(const Tensor& x, const std::function<Tensor(const Tensor&)>& gate) {
  constexpr double kFar = 1000;
  const Tensor far = logical_or(x<-kFar, x> kFar);
  const Tensor near = masked_fill(x, far, 0);
  return where(far, relu(x), near * gate(near));
}

Tensor silu(const Tensor& x) {
  return record(
      Fused{.name = "silu",
            .inputs = {x},
            .value = map("silu", x.array(),
                         [](auto v) { return kernels::bounded_below(v) * kernels::sigmoid(v); }),
            .reference = [](const Tensors& in) { return gated(in[0], sigmoid); },
            .vjp_kernel =
                [](const KernelArguments& in) {
                  return Arrays{map("silu", in.g, in.x[0], [](auto g, auto v) {
                    const auto s = kernels::sigmoid(v);
                    return g * (s * (1 + kernels::bounded(v) * (1 - s)));
                  })};
                }});
}

Tensor softplus(const Tensor& x) {
  return record({.name = "softplus",
                 .inputs = {x},
                 .value = map("softplus", x.array(),
                              [](auto v) {
                                return (v > 0 ? v : 0) + std::log1p(kernels::exp(-std::fabs(v)));
                              }),
                 .vjp = {[](const Tensor& g, const Tensors& in) { return g * sigmoid(in[0]); }}});
}

}  // namespace attograd

#include <cmath>
#include <numbers>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/vector_math.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>

namespace attograd {

// finite_product(g, d) is g * d, but 0 where g is 0 and d is infinite or NaN (arithmetic.h).

Tensor exp(const Tensor& x) {
  return record({.name = "exp",
                 .inputs = {x},
                 .value = map("exp", x.array(), [](auto v) { return kernels::exp(v); }),
                 .vjp = {[](const Tensor& g, const Tensor& y) { return finite_product(g, y); }}});
}

Tensor expm1(const Tensor& x) {
  return record(
      {.name = "expm1",
       .inputs = {x},
       .value = map("expm1", x.array(), [](auto v) { return std::expm1(v); }),
       .vjp = {[](const Tensor& g, const Tensors& in) { return finite_product(g, exp(in[0])); }}});
}

Tensor log(const Tensor& x) {
  return record(
      {.name = "log",
       .inputs = {x},
       .value = map("log", x.array(), [](auto v) { return kernels::log(v); }),
       .vjp = {[](const Tensor& g, const Tensors& in) { return finite_product(g, 1.0 / in[0]); }}});
}

Tensor log1p(const Tensor& x) {
  return record({.name = "log1p",
                 .inputs = {x},
                 .value = map("log1p", x.array(), [](auto v) { return std::log1p(v); }),
                 .vjp = {[](const Tensor& g, const Tensors& in) {
                   return finite_product(g, 1.0 / (1.0 + in[0]));
                 }}});
}

Tensor sqrt(const Tensor& x) {
  return record(
      {.name = "sqrt",
       .inputs = {x},
       .value = map("sqrt", x.array(), [](auto v) { return std::sqrt(v); }),
       .vjp = {[](const Tensor& g, const Tensor& y) { return finite_product(g, 0.5 / y); }}});
}

Tensor rsqrt(const Tensor& x) {
  return record({.name = "rsqrt",
                 .inputs = {x},
                 .value = map("rsqrt", x.array(), [](auto v) { return 1 / std::sqrt(v); }),
                 .vjp = {[](const Tensor& g, const Tensors& in) {
                   return finite_product(g, -0.5 / (in[0] * sqrt(in[0])));
                 }}});
}

Tensor sin(const Tensor& x) {
  return record({.name = "sin",
                 .inputs = {x},
                 .value = map("sin", x.array(), [](auto v) { return std::sin(v); }),
                 .vjp = {[](const Tensor& g, const Tensors& in) { return g * cos(in[0]); }}});
}

Tensor cos(const Tensor& x) {
  return record({.name = "cos",
                 .inputs = {x},
                 .value = map("cos", x.array(), [](auto v) { return std::cos(v); }),
                 .vjp = {[](const Tensor& g, const Tensors& in) { return -g * sin(in[0]); }}});
}

Tensor tanh(const Tensor& x) {
  return record({.name = "tanh",
                 .inputs = {x},
                 .value = map("tanh", x.array(), [](auto v) { return kernels::tanh(v); }),
                 .vjp = {[](const Tensor& g, const Tensor& y) { return g * (1.0 - y * y); }}});
}

Tensor erf(const Tensor& x) {
  return record({.name = "erf",
                 .inputs = {x},
                 .value = map("erf", x.array(), [](auto v) { return kernels::erf(v); }),
                 .vjp = {[](const Tensor& g, const Tensors& in) {
                   return g * (2 * std::numbers::inv_sqrtpi * exp(-square(in[0])));
                 }}});
}

}  // namespace attograd

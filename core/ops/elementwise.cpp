#include <cmath>

#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/elementwise.h>

namespace attograd {

// ---- arithmetic ----

Tensor operator+(const Tensor& a, const Tensor& b) {
  return record(
      {.name = "add",
       .inputs = {a, b},
       .value = map<Numeric>("add", a.array(), b.array(), [](auto p, auto q) { return p + q; }),
       .vjp = {[](const Tensor& g) { return g; },  //
               [](const Tensor& g) { return g; }},
       .broadcasts = true});
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return record(
      {.name = "sub",
       .inputs = {a, b},
       .value = map<Numeric>("sub", a.array(), b.array(), [](auto p, auto q) { return p - q; }),
       .vjp = {[](const Tensor& g) { return g; },  //
               [](const Tensor& g) { return -g; }},
       .broadcasts = true});
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  return record(
      {.name = "mul",
       .inputs = {a, b},
       .value = map<Numeric>("mul", a.array(), b.array(), [](auto p, auto q) { return p * q; }),
       .vjp = {[](const Tensor& g, const Tensors& x) { return g * x[1]; },
               [](const Tensor& g, const Tensors& x) { return g * x[0]; }},
       .broadcasts = true});
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  return record(
      {.name = "div",
       .inputs = {a, b},
       .value = map("div", a.array(), b.array(), [](auto p, auto q) { return p / q; }),
       .vjp = {[](const Tensor& g, const Tensors& x) { return g / x[1]; },
               [](const Tensor& g, const Tensors& x) { return -g * x[0] / (x[1] * x[1]); }},
       .broadcasts = true});
}

Tensor operator-(const Tensor& x) {
  return record({.name = "neg",
                 .inputs = {x},
                 .value = map<Numeric>("neg", x.array(), [](auto v) { return -v; }),
                 .vjp = {[](const Tensor& g) { return -g; }}});
}

namespace {

Tensor number_like(const Tensor& x, double value) {
  return Tensor(Array::filled({}, x.dtype(), value));
}

}  // namespace

Tensor operator+(const Tensor& a, double b) { return a + number_like(a, b); }
Tensor operator-(const Tensor& a, double b) { return a - number_like(a, b); }
Tensor operator*(const Tensor& a, double b) { return a * number_like(a, b); }
Tensor operator/(const Tensor& a, double b) { return a / number_like(a, b); }
Tensor operator+(double a, const Tensor& b) { return number_like(b, a) + b; }
Tensor operator-(double a, const Tensor& b) { return number_like(b, a) - b; }
Tensor operator*(double a, const Tensor& b) { return number_like(b, a) * b; }
Tensor operator/(double a, const Tensor& b) { return number_like(b, a) / b; }

// ---- functions ----

Tensor exp(const Tensor& x) {
  return record({.name = "exp",
                 .inputs = {x},
                 .value = map("exp", x.array(), [](auto v) { return std::exp(v); }),
                 .vjp = {[](const Tensor& g, const Tensor& y) { return g * y; }}});
}

Tensor log(const Tensor& x) {
  return record({.name = "log",
                 .inputs = {x},
                 .value = map("log", x.array(), [](auto v) { return std::log(v); }),
                 .vjp = {[](const Tensor& g, const Tensors& in) { return g / in[0]; }}});
}

Tensor tanh(const Tensor& x) {
  return record({.name = "tanh",
                 .inputs = {x},
                 .value = map("tanh", x.array(), [](auto v) { return std::tanh(v); }),
                 .vjp = {[](const Tensor& g, const Tensor& y) { return g * (1.0 - y * y); }}});
}

Tensor alias(const Tensor& x) {
  return record({.name = "alias",  //
                 .inputs = {x},
                 .value = x.array(),
                 .vjp = {[](const Tensor& g) { return g; }}});
}

Tensor cast(const Tensor& x, DType dtype) {
  const DType from = x.dtype();
  if (from == dtype) return x;
  return record({.name = "cast",
                 .inputs = {x},
                 .value = x.array().cast(dtype),
                 .vjp = {[from](const Tensor& g) { return cast(g, from); }}});
}

}  // namespace attograd

#include <cmath>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>

namespace attograd {

// ---- + - * / ----

Tensor operator+(const Tensor& a, const Tensor& b) {
  return record({.name = "add",
                 .inputs = {a, b},
                 .value = map<Numeric>("add", a.array(), b.array(),
                                       wrapping([](auto p, auto q) { return p + q; })),
                 .vjp = {[](const Tensor& g) { return g; },  //
                         [](const Tensor& g) { return g; }},
                 .broadcasts = true});
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return record({.name = "sub",
                 .inputs = {a, b},
                 .value = map<Numeric>("sub", a.array(), b.array(),
                                       wrapping([](auto p, auto q) { return p - q; })),
                 .vjp = {[](const Tensor& g) { return g; },  //
                         [](const Tensor& g) { return -g; }},
                 .broadcasts = true});
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  return record({.name = "mul",
                 .inputs = {a, b},
                 .value = map<Numeric>("mul", a.array(), b.array(),
                                       wrapping([](auto p, auto q) { return p * q; })),
                 .vjp = {[](const Tensor& g, const Tensors& x) { return g * x[1]; },
                         [](const Tensor& g, const Tensors& x) { return g * x[0]; }},
                 .broadcasts = true});
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  return record(
      {.name = "div",
       .inputs = {a, b},
       .value = map("div", a.array(), b.array(), [](auto p, auto q) { return p / q; }),
       .vjp = {[](const Tensor& g, const Tensors& x) { return finite_product(g, 1.0 / x[1]); },
               [](const Tensor& g, const Tensors& x, const Tensor& y) {
                 return finite_product(g, -y / x[1]);
               }},
       .broadcasts = true});
}

Tensor operator-(const Tensor& x) {
  return record({.name = "neg",
                 .inputs = {x},
                 .value = map<Numeric>("neg", x.array(), wrapping([](auto v) { return -v; })),
                 .vjp = {[](const Tensor& g) { return -g; }}});
}

Tensor operator+(const Tensor& a, double b) { return a + number_like("add", a, b); }
Tensor operator-(const Tensor& a, double b) { return a - number_like("sub", a, b); }
Tensor operator*(const Tensor& a, double b) { return a * number_like("mul", a, b); }
Tensor operator/(const Tensor& a, double b) { return a / number_like("div", a, b); }
Tensor operator+(double a, const Tensor& b) { return number_like("add", b, a) + b; }
Tensor operator-(double a, const Tensor& b) { return number_like("sub", b, a) - b; }
Tensor operator*(double a, const Tensor& b) { return number_like("mul", b, a) * b; }
Tensor operator/(double a, const Tensor& b) { return number_like("div", b, a) / b; }

Tensor finite_product(const Tensor& g, const Tensor& d) {
  if (all_finite(d)) return g * d;
  const Tensor lost = logical_and(equal(g, 0.0), logical_not(is_finite(d)));
  return g * masked_fill(d, lost, 0.0);
}

// ---- powers ----

Tensor pow(const Tensor& x, double p) {
  if (p == 2) return square(x);
  return record(
      {.name = "pow",
       .inputs = {x},
       .value = map("pow", x.array(), [p]<class T>(T v) { return std::pow(v, static_cast<T>(p)); }),
       .vjp = {[p](const Tensor& g, const Tensors& in) {
         return finite_product(p * g, pow(in[0], p - 1));
       }}});
}

Tensor pow(const Tensor& a, const Tensor& b) {
  return record(
      {.name = "pow",
       .inputs = {a, b},
       .value = map("pow", a.array(), b.array(), [](auto p, auto q) { return std::pow(p, q); }),
       .vjp = {[](const Tensor& g, const Tensors& x) {
                 return finite_product(g * x[1], pow(x[0], x[1] - 1.0));
               },
               [](const Tensor& g, const Tensors& x, const Tensor& y) {
                 const Tensor origin = logical_and(equal(x[0], 0.0), equal(x[1], 0.0));
                 const Tensor d = log(masked_fill(x[0], origin, 1.0));
                 return finite_product(finite_product(g, y), d);
               }},
       .broadcasts = true});
}

Tensor pow(double a, const Tensor& b) { return pow(number_like("pow", b, a), b); }

Tensor square(const Tensor& x) {
  return record({.name = "square",
                 .inputs = {x},
                 .value = map<Numeric>("square", x.array(), wrapping([](auto v) { return v * v; })),
                 .vjp = {[](const Tensor& g, const Tensors& in) { return 2.0 * g * in[0]; }}});
}

// ---- signs and limits ----

Tensor abs(const Tensor& x) {
  return record({.name = "abs",
                 .inputs = {x},
                 .value = map<Numeric>("abs", x.array(),
                                       [](auto v) {
                                         constexpr auto negative =
                                             wrapping([](auto u) { return -u; });
                                         return v < 0 ? negative(v) : v;
                                       }),
                 .vjp = {[](const Tensor& g, const Tensors& in) { return g * sign(in[0]); }}});
}

Tensor sign(const Tensor& x) {
  return record({.name = "sign",
                 .inputs = {x},
                 .value = map<Numeric>("sign", x.array(),
                                       []<class T>(T v) {
                                         return v > 0 ? T{1} : v < 0 ? T{-1} : v;
                                       }),
                 .vjp = {[](const Tensor& g) { return zeros_like(g); }}});
}

namespace {

/// What one side of maximum or minimum receives of g.
Tensor share(const Tensor& g, const Tensor& wins, const Tensor& ties) {
  return where(wins, g, where(ties, 0.5 * g, 0.0));
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) {
  return record({.name = "maximum",
                 .inputs = {a, b},
                 .value = map<Numeric>("maximum", a.array(), b.array(), kernels::larger),
                 .vjp = {[](const Tensor& g, const Tensors& x) {
                           return share(g, x[0] > x[1], equal(x[0], x[1]));
                         },
                         [](const Tensor& g, const Tensors& x) {
                           return share(g, x[1] > x[0], equal(x[0], x[1]));
                         }},
                 .broadcasts = true});
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return record({.name = "minimum",
                 .inputs = {a, b},
                 .value = map<Numeric>("minimum", a.array(), b.array(), kernels::smaller),
                 .vjp = {[](const Tensor& g, const Tensors& x) {
                           return share(g, x[0] < x[1], equal(x[0], x[1]));
                         },
                         [](const Tensor& g, const Tensors& x) {
                           return share(g, x[1] < x[0], equal(x[0], x[1]));
                         }},
                 .broadcasts = true});
}

Tensor maximum(const Tensor& a, double b) { return maximum(a, number_like("maximum", a, b)); }
Tensor minimum(const Tensor& a, double b) { return minimum(a, number_like("minimum", a, b)); }

Tensor clamp(const Tensor& x, double low, double high) {
  check<ValueError>(low <= high, "clamp: low must be <= high, got ", low, " and ", high);
  const Tensor floor = number_like("clamp", x, low);
  const Tensor ceiling = number_like("clamp", x, high);
  return record({.name = "clamp",
                 .inputs = {x},
                 .value = map<Numeric>(
                     "clamp", map<Numeric>("clamp", x.array(), floor.array(), kernels::larger),
                     ceiling.array(), kernels::smaller),
                 .vjp = {[low, high](const Tensor& g, const Tensors& in) {
                   return masked_fill(g, logical_or(low > in[0], in[0] > high), 0.0);
                 }}});
}

// ---- the same numbers ----

Tensor alias(const Tensor& x) {
  return record({.name = "alias",  //
                 .inputs = {x},
                 .value = x.array(),
                 .vjp = {[](const Tensor& g) { return g; }}});
}

Tensor cast(const Tensor& x, DType dtype) {
  const DType from = x.dtype();
  if (from == dtype) return x;
  if (dtype == DType::i64 && is_floating(from)) {
    const auto fits =
        map("cast", x.array(), [](auto v) { return holds(DType::i64, std::trunc(v)); });
    check<NumericError>(
        sum(Tensor(fits)).item() == static_cast<double>(x.numel()),
        "cast: i64 holds whole numbers below 2^63, got NaN, an infinity or a larger number in ",
        signature(x));
  }
  return record({.name = "cast",
                 .inputs = {x},
                 .value = x.array().cast(dtype),
                 .vjp = {[from](const Tensor& g) { return cast(g, from); }}});
}

}  // namespace attograd

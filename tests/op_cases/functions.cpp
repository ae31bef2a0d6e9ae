#include <cmath>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

/// A function of one number on (low, high), over the shapes of an elementwise operation.
OpCase function(const std::string& op, double low, double high, Tensor (*f)(const Tensor&),
                double (*twin)(double)) {
  return {.op = op,
          .inputs = {uniform({2, 3}, low, high)},
          .call = [f](const Tensors& x) { return f(x[0]); },
          .naive = each(twin),
          .elementwise = true};
}

/// The same, with a kink at 0, which is kept away from.
OpCase kinked(const std::string& op, const std::string& label, Tensor (*f)(const Tensor&),
              double (*twin)(double)) {
  OpCase row = function(op, 0, 0, f, twin);
  row.label = label;
  row.inputs = {distinct({2, 3})};
  return row;
}

}  // namespace

void add_functions(Table& t) {
  t.cases.push_back(function("exp", -2, 2, exp, std::exp));
  t.cases.push_back(function("expm1", -2, 2, expm1, std::expm1));
  t.cases.push_back(function("log", 0.5, 3, log, std::log));
  t.cases.push_back(function("log1p", -0.5, 2, log1p, std::log1p));
  t.cases.push_back(function("sqrt", 0.5, 3, sqrt, std::sqrt));
  t.cases.push_back(function("rsqrt", 0.5, 3, rsqrt, [](double v) { return 1 / std::sqrt(v); }));
  t.cases.push_back(function("sin", -4, 4, sin, std::sin));
  t.cases.push_back(function("cos", -4, 4, cos, std::cos));
  t.cases.push_back(function("tanh", -2, 2, tanh, std::tanh));
  t.cases.push_back(function("erf", -2, 2, erf, std::erf));

  t.cases.push_back(
      function("sigmoid", -3, 3, sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }));
  t.cases.push_back(function("silu", -3, 3, silu, [](double v) { return v / (1 + std::exp(-v)); }));
  t.cases.push_back(
      function("softplus", -3, 3, softplus, [](double v) { return std::log(1 + std::exp(v)); }));
  t.cases.push_back(kinked("relu", "", relu, [](double v) { return v > 0 ? v : 0; }));
  t.cases.push_back(kinked(
      "leaky_relu", "", [](const Tensor& x) { return leaky_relu(x); },
      [](double v) { return v > 0 ? v : 0.01 * v; }));
  t.cases.push_back(kinked(
      "leaky_relu", "with a slope", [](const Tensor& x) { return leaky_relu(x, 0.2); },
      [](double v) { return v > 0 ? v : 0.2 * v; }));
  t.cases.push_back(kinked(
      "elu", "", [](const Tensor& x) { return elu(x); },
      [](double v) { return v > 0 ? v : std::exp(v) - 1; }));
  t.cases.push_back(kinked(
      "elu", "with a scale", [](const Tensor& x) { return elu(x, 0.3); },
      [](double v) { return v > 0 ? v : 0.3 * (std::exp(v) - 1); }));
}

}  // namespace attograd::op_cases

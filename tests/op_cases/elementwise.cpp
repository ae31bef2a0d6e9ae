#include <cmath>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/checkpoint.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = const Tensors&;

void add_operators(Table& t) {
  t.cases.push_back({.op = "add",
                     .inputs = {normal({2, 3}), normal({2, 3})},
                     .call = [](In x) { return x[0] + x[1]; },
                     .naive = each([](double a, double b) { return a + b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "sub",
                     .inputs = {normal({2, 3}), normal({3})},
                     .call = [](In x) { return x[0] - x[1]; },
                     .naive = each([](double a, double b) { return a - b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "mul",
                     .inputs = {normal({2, 1, 4}), normal({3, 1})},
                     .call = [](In x) { return x[0] * x[1]; },
                     .naive = each([](double a, double b) { return a * b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "div",
                     .inputs = {normal({2, 3}), uniform({2, 3}, 0.5, 2)},
                     .call = [](In x) { return x[0] / x[1]; },
                     .naive = each([](double a, double b) { return a / b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "neg",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return -x[0]; },
                     .naive = each([](double v) { return -v; }),
                     .elementwise = true});
}

void add_numbers(Table& t) {
  t.cases.push_back({.op = "add",
                     .label = "with numbers",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return 2 + (x[0] + 0.5); },
                     .naive = each([](double v) { return v + 2.5; })});
  t.cases.push_back({.op = "sub",
                     .label = "with numbers",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return 2 - (x[0] - 0.5); },
                     .naive = each([](double v) { return 2.5 - v; })});
  t.cases.push_back({.op = "mul",
                     .label = "with numbers",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return 2 * (x[0] * 0.75); },
                     .naive = each([](double v) { return 1.5 * v; })});
  t.cases.push_back({.op = "div",
                     .label = "with numbers",
                     .inputs = {uniform({2, 3}, 0.5, 2)},
                     .call = [](In x) { return 2 / (x[0] / 3); },
                     .naive = each([](double v) { return 6 / v; })});
  t.cases.push_back({.op = "pow",
                     .label = "of a number",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return pow(3, x[0]); },
                     .naive = each([](double v) { return std::pow(3, v); }),
                     .elementwise = true});
}

void add_powers(Table& t) {
  t.cases.push_back({.op = "pow",
                     .inputs = {uniform({2, 3}, 0.5, 2), normal({2, 3})},
                     .call = [](In x) { return pow(x[0], x[1]); },
                     .naive = each([](double a, double b) { return std::pow(a, b); }),
                     .elementwise = true});
  t.cases.push_back({.op = "pow",
                     .label = "0",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return pow(x[0], 0); },
                     .naive = each([](double) { return 1.0; })});
  t.cases.push_back({.op = "pow",
                     .label = "1",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return pow(x[0], 1); },
                     .naive = each([](double v) { return v; })});
  t.cases.push_back({.op = "pow",
                     .label = "3 of both signs",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return pow(x[0], 3); },
                     .naive = each([](double v) { return v * v * v; }),
                     .elementwise = true});
  t.cases.push_back({.op = "pow",
                     .label = "-1.5",
                     .inputs = {uniform({2, 3}, 0.5, 2)},
                     .call = [](In x) { return pow(x[0], -1.5); },
                     .naive = each([](double v) { return 1 / (v * std::sqrt(v)); })});
  t.cases.push_back({.op = "square",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return square(x[0]); },
                     .naive = each([](double v) { return v * v; }),
                     .elementwise = true});
}

void add_pieces(Table& t) {
  t.cases.push_back({.op = "abs",
                     .inputs = {distinct({2, 3})},
                     .call = [](In x) { return abs(x[0]); },
                     .naive = each([](double v) { return v < 0 ? -v : v; }),
                     .elementwise = true});
  t.cases.push_back({.op = "sign",
                     .inputs = {distinct({2, 3})},
                     .call = [](In x) { return sign(x[0]); },
                     .naive = each([](double v) { return v < 0 ? -1.0 : 1.0; }),
                     .elementwise = true});
  t.cases.push_back({.op = "maximum",
                     .inputs = {distinct({2, 3}), distinct({2, 3}, 0.1)},
                     .call = [](In x) { return maximum(x[0], x[1]); },
                     .naive = each([](double a, double b) { return a > b ? a : b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "maximum",
                     .label = "with a number",
                     .inputs = {distinct({2, 3})},
                     .call = [](In x) { return maximum(x[0], 0.5); },
                     .naive = each([](double v) { return v > 0.5 ? v : 0.5; })});
  t.cases.push_back({.op = "minimum",
                     .inputs = {distinct({2, 3}), distinct({2, 3}, 0.1)},
                     .call = [](In x) { return minimum(x[0], x[1]); },
                     .naive = each([](double a, double b) { return a < b ? a : b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "minimum",
                     .label = "with a number",
                     .inputs = {distinct({2, 3})},
                     .call = [](In x) { return minimum(x[0], 0.5); },
                     .naive = each([](double v) { return v < 0.5 ? v : 0.5; })});
  t.cases.push_back({.op = "clamp",
                     .inputs = {distinct({2, 5})},
                     .call = [](In x) { return clamp(x[0], -0.5, 0.75); },
                     .naive = each([](double v) { return v < -0.5   ? -0.5
                                                         : v > 0.75 ? 0.75
                                                                    : v; }),
                     .elementwise = true});
}

void add_same_values(Table& t) {
  t.cases.push_back({.op = "alias",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return alias(x[0]); },
                     .naive = each([](double v) { return v; }),
                     .elementwise = true});
  t.cases.push_back(
      {.op = "checkpoint",
       .inputs = {normal({2, 3}), normal({2, 3})},
       .call = [](In x) { return checkpoint([](In in) { return tanh(in[0]) * in[1]; }, x); },
       .naive = each([](double a, double b) { return std::tanh(a) * b; }),
       .elementwise = true});
  t.cases.push_back({.op = "cast",
                     .label = "to f32 and back",
                     .inputs = {normal({2, 3})},
                     .call = [](In x) { return cast(cast(x[0], DType::f32), x[0].dtype()); },
                     .naive = each([](double v) -> double { return static_cast<float>(v); }),
                     .measurable = false});
  t.cases.push_back({.op = "cast",
                     .label = "from ids",
                     .inputs = {ids({2, 3}, 7)},
                     .call = [](In x) { return cast(x[0], DType::f64); },
                     .naive = each([](double v) { return v; }),
                     .differentiable = false});
  t.cases.push_back({.op = "cast",
                     .label = "to a mask",
                     .inputs = {ids({2, 3}, 2)},
                     .call = [](In x) { return cast(x[0], DType::boolean); },
                     .naive = each([](double v) { return v == 0 ? 0.0 : 1.0; }),
                     .differentiable = false});
}

}  // namespace

void add_elementwise(Table& t) {
  add_operators(t);
  add_numbers(t);
  add_powers(t);
  add_pieces(t);
  add_same_values(t);
}

}  // namespace attograd::op_cases

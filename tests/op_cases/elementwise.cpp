#include <cmath>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

void add_arithmetic(Table& t) {
  t.cases.push_back({.op = "add",
                     .inputs = {normal({2, 3}), normal({2, 3})},
                     .call = [](const Tensors& x) { return x[0] + x[1]; },
                     .naive = each([](double a, double b) { return a + b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "sub",
                     .inputs = {normal({2, 3}), normal({3})},
                     .call = [](const Tensors& x) { return x[0] - x[1]; },
                     .naive = each([](double a, double b) { return a - b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "mul",
                     .inputs = {normal({2, 1, 4}), normal({3, 1})},
                     .call = [](const Tensors& x) { return x[0] * x[1]; },
                     .naive = each([](double a, double b) { return a * b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "div",
                     .inputs = {normal({2, 3}), uniform({2, 3}, 0.5, 2)},
                     .call = [](const Tensors& x) { return x[0] / x[1]; },
                     .naive = each([](double a, double b) { return a / b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "neg",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return -x[0]; },
                     .naive = each([](double v) { return -v; }),
                     .elementwise = true});
  t.errors.push_back(refuses<ShapeError>(
      "add",
      [] {
        return zeros({2, 3}) + zeros({2});
      },
      "add: shapes must broadcast (aligned at the end: equal, or one of them 1), got [2, 3] and "
      "[2]"));
}

void add_functions(Table& t) {
  t.cases.push_back({.op = "exp",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return exp(x[0]); },
                     .naive = each([](double v) { return std::exp(v); }),
                     .elementwise = true});
  t.cases.push_back({.op = "log",
                     .inputs = {uniform({2, 3}, 0.5, 2)},
                     .call = [](const Tensors& x) { return log(x[0]); },
                     .naive = each([](double v) { return std::log(v); }),
                     .elementwise = true});
  t.cases.push_back({.op = "tanh",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return tanh(x[0]); },
                     .naive = each([](double v) { return std::tanh(v); }),
                     .elementwise = true});
}

}  // namespace

void add_elementwise(Table& t) {
  add_arithmetic(t);
  add_functions(t);
}

}  // namespace attograd::op_cases

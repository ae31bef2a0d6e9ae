#include <cmath>
#include <limits>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = const Tensors&;

/// Small integers, so that some are equal.
OpCase comparison(const std::string& op, Tensor (*f)(const Tensor&, const Tensor&),
                  double (*twin)(double, double)) {
  return {.op = op,
          .inputs = {ids({2, 3}, 3), ids({2, 3}, 3)},
          .call = [f](In x) { return f(x[0], x[1]); },
          .naive = each(twin),
          .differentiable = false,
          .elementwise = true};
}

OpCase comparison_with_number(const std::string& op, Tensor (*f)(const Tensor&, double),
                              double (*twin)(double)) {
  return {.op = op,
          .label = "with a number",
          .inputs = {values({5}, {-1, 0, 0.5, 0.75, 2})},
          .call = [f](In x) { return f(x[0], 0.5); },
          .naive = each(twin),
          .differentiable = false};
}

double truth(bool is) { return is ? 1 : 0; }

void add_comparisons(Table& t) {
  using Pair = double (*)(double, double);
  const Pair is_equal = [](double a, double b) { return truth(a == b); };
  const Pair differs = [](double a, double b) { return truth(a != b); };
  const Pair is_less = [](double a, double b) { return truth(a < b); };
  const Pair is_at_most = [](double a, double b) { return truth(a <= b); };
  const Pair is_greater = [](double a, double b) { return truth(a > b); };
  const Pair is_at_least = [](double a, double b) { return truth(a >= b); };
  t.cases.push_back(comparison("equal", equal, is_equal));
  t.cases.push_back(comparison("not_equal", not_equal, differs));
  t.cases.push_back(comparison("less", less, is_less));
  t.cases.push_back(comparison("less_equal", less_equal, is_at_most));
  t.cases.push_back(comparison("greater", greater, is_greater));
  t.cases.push_back(comparison("greater_equal", greater_equal, is_at_least));

  using One = double (*)(double);
  const One is_half = [](double v) { return truth(v == 0.5); };
  const One is_not_half = [](double v) { return truth(v != 0.5); };
  const One is_less_than_half = [](double v) { return truth(v < 0.5); };
  const One is_half_at_most = [](double v) { return truth(v <= 0.5); };
  const One is_more_than_half = [](double v) { return truth(v > 0.5); };
  const One is_half_at_least = [](double v) { return truth(v >= 0.5); };
  t.cases.push_back(comparison_with_number("equal", equal, is_half));
  t.cases.push_back(comparison_with_number("not_equal", not_equal, is_not_half));
  t.cases.push_back(comparison_with_number("less", less, is_less_than_half));
  t.cases.push_back(comparison_with_number("less_equal", less_equal, is_half_at_most));
  t.cases.push_back(comparison_with_number("greater", greater, is_more_than_half));
  t.cases.push_back(comparison_with_number("greater_equal", greater_equal, is_half_at_least));
}

void add_masks(Table& t) {
  t.cases.push_back({.op = "logical_and",
                     .inputs = {mask({2, 3}), mask({2, 3})},
                     .call = [](In x) { return logical_and(x[0], x[1]); },
                     .naive = each([](double a, double b) { return a * b; }),
                     .differentiable = false,
                     .elementwise = true});
  t.cases.push_back({.op = "logical_or",
                     .inputs = {mask({2, 3}), mask({2, 3})},
                     .call = [](In x) { return logical_or(x[0], x[1]); },
                     .naive = each([](double a, double b) { return a > b ? a : b; }),
                     .differentiable = false,
                     .elementwise = true});
  t.cases.push_back({.op = "logical_not",
                     .inputs = {mask({2, 3})},
                     .call = [](In x) { return logical_not(x[0]); },
                     .naive = each([](double v) { return 1 - v; }),
                     .differentiable = false,
                     .elementwise = true});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  t.cases.push_back({.op = "is_finite",
                     .inputs = {values({5}, {0, kInf, -kInf, std::nan(""), 1e30})},
                     .call = [](In x) { return is_finite(x[0]); },
                     .naive = each([](double v) { return truth(std::isfinite(v)); }),
                     .differentiable = false});
}

void add_selection(Table& t) {
  t.cases.push_back({.op = "where",
                     .inputs = {mask({2, 3}), normal({2, 3}), normal({2, 3})},
                     .call = [](In x) { return where(x[0], x[1], x[2]); },
                     .naive = each([](double c, double a, double b) { return c != 0 ? a : b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "where",
                     .label = "or a number",
                     .inputs = {mask({2, 3}), normal({2, 3})},
                     .call = [](In x) { return where(x[0], x[1], -2.0); },
                     .naive = each([](double c, double a) { return c != 0 ? a : -2; }),
                     .elementwise = true});
  t.cases.push_back({.op = "where",
                     .label = "a number or",
                     .inputs = {mask({2, 3}), normal({2, 3})},
                     .call = [](In x) { return where(x[0], -2.0, x[1]); },
                     .naive = each([](double c, double b) { return c != 0 ? -2 : b; }),
                     .elementwise = true});
  t.cases.push_back({.op = "masked_fill",
                     .inputs = {normal({2, 3}), mask({2, 3})},
                     .call = [](In x) { return masked_fill(x[0], x[1], -1e9); },
                     .naive = each([](double v, double m) { return m != 0 ? -1e9 : v; }),
                     .elementwise = true});
}

}  // namespace

void add_compare(Table& t) {
  add_comparisons(t);
  add_masks(t);
  add_selection(t);
}

}  // namespace attograd::op_cases

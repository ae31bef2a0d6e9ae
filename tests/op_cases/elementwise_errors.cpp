#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

template <class E = DTypeError>
void bad(Table& t, std::string op, std::function<void()> call, std::string rest) {
  std::string message = op + ": " + std::move(rest);
  t.errors.push_back(refuses<E>(std::move(op), std::move(call), std::move(message)));
}

}  // namespace

void add_elementwise_errors(Table& t) {
  static const Tensor x = zeros({2}), ids = arange(0, 2), flags = x > 0;
  const auto add_each = [&](auto functions, const Tensor& input, const std::string& rest) {
    for (const auto& [op, f] : functions)
      bad(
          t, op, [f = f, input] { f(input); }, rest);
  };
  using Functions = std::vector<std::pair<std::string, Tensor (*)(const Tensor&)>>;
  add_each(Functions{{"exp", exp},
                     {"expm1", expm1},
                     {"log", log},
                     {"log1p", log1p},
                     {"sqrt", sqrt},
                     {"rsqrt", rsqrt},
                     {"sin", sin},
                     {"cos", cos},
                     {"tanh", tanh},
                     {"erf", erf},
                     {"sigmoid", sigmoid},
                     {"relu", relu},
                     {"silu", silu},
                     {"softplus", softplus}},
           ids, "takes f32 or f64, got i64; convert with cast");
  add_each(Functions{{"neg", operator-},
                     {"square", square},
                     {"abs", abs},
                     {"sign", sign},
                     {"is_finite", is_finite}},
           flags, "takes f32 or f64 or i64, got bool; convert with cast");
  add_each(Functions{{"logical_not", logical_not}}, x, "takes bool, got f32; convert with cast");
  using Pairs = std::vector<std::pair<std::string, Tensor (*)(const Tensor&, const Tensor&)>>;
  for (const auto& [op, f] : Pairs{{"add", operator+},
                                   {"sub", operator-},
                                   {"mul", operator*},
                                   {"div", operator/},
                                   {"pow", pow},
                                   {"maximum", maximum},
                                   {"minimum", minimum},
                                   {"equal", equal},
                                   {"not_equal", not_equal},
                                   {"less", less},
                                   {"less_equal", less_equal},
                                   {"greater", greater},
                                   {"greater_equal", greater_equal}}) {
    bad<ShapeError>(
        t, op,
        [f = f] {
          f(zeros({2, 3}), zeros({2}));
        },
        "shapes must broadcast (aligned at the end: equal, or one of them 1), got [2, 3] and [2]");
    bad(
        t, op, [f = f] { f(x, ids); },
        "a and b must have one dtype, got a = f32[2], b = i64[2]; convert with cast(x, "
        "DType::f64)");
  }
  bad(
      t, "logical_and", [] { logical_and(x, x); }, "takes bool, got f32; convert with cast");
  bad(
      t, "where", [] { where(x, x, x); },
      "the mask must be bool, got f32[2]; compare first, as in where(x > 0, a, b)");
  bad(
      t, "masked_fill", [] { masked_fill(ids, flags, 0.5); },
      "0.5 is no i64, as a number beside i64[2] must be; convert with cast");
  bad<ValueError>(
      t, "clamp", [] { clamp(x, 1, 0); }, "low must be <= high, got 1 and 0");
}

}  // namespace attograd::op_cases

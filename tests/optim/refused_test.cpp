#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/optim/adam.h>
#include <attograd/optim/rmsprop.h>
#include <attograd/optim/sgd.h>

// Parameters and options that no optimizer takes.
namespace attograd::optim {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor parameter(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}

TEST_CASE("what cannot be optimised is refused with its name") {
  const Tensor w = parameter({1});
  CHECK_THROWS_WITH_AS(Sgd(NamedTensors{{"ids", arange(0, 3)}}, {}), doctest::Contains("ids"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Sgd(NamedTensors{{"sum", w + w}}, {}), doctest::Contains("leaves"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Sgd(NamedTensors{{"w", w}, {"w", parameter({1})}}, {}),
                       doctest::Contains("two parameters are called w"), ValueError);
  CHECK_THROWS_WITH_AS(AdamW({{{{"a", w}}, {}}, {{{"b", w}}, {}}}), doctest::Contains("two groups"),
                       ValueError);
}

/// Columns [first, first + 2) of a matrix of 2 rows and 4 columns.
Tensor columns(const Tensor& matrix, int64_t first) {
  return Tensor(matrix.array().view({2, 2}, {4, 1}, first)).set_requires_grad();
}

TEST_CASE("parameters that overlap in memory are refused and ones that interleave are not") {
  const Tensor matrix = zeros({2, 4});
  CHECK_THROWS_WITH_AS(
      Sgd(NamedTensors{{"a", columns(matrix, 0)}, {"b", columns(matrix, 1)}}, {}),
      "sgd: parameters must not overlap in memory, got a = f32[2, 2] and b = f32[2, 2]; list what "
      "they are views of",
      ValueError);
  CHECK_THROWS_AS(Sgd(Tensors{columns(matrix, 2), columns(matrix, 2)}, {}), ValueError);
  CHECK_THROWS_AS(Sgd(Tensors{matrix, columns(matrix, 2)}, {}), ValueError);
  const Tensor backwards = Tensor(matrix.array().view({4}, {-1}, 7)).set_requires_grad();
  CHECK_THROWS_AS(Sgd(Tensors{columns(matrix, 0), backwards}, {}), ValueError);
  CHECK_NOTHROW(Sgd(Tensors{columns(matrix, 0), columns(matrix, 2)}, {}));
  const Tensor first_row = Tensor(matrix.array().view({4}, {1})).set_requires_grad();
  CHECK_NOTHROW(Sgd(Tensors{first_row, backwards}, {}));
}

TEST_CASE("an epsilon that is 0 in the dtype of the parameters is refused") {
  const Tensors f64 = {parameter({1})}, f32 = {zeros({1})};
  const Tensors both = {f64[0], f32[0]};
  CHECK_THROWS_WITH_AS(Adam(f64, {.eps = 0}),
                       "adam: eps must be finite and > 0 in f64, got 0; without it a gradient of "
                       "zeros gives 0 / 0",
                       ValueError);
  CHECK_THROWS_WITH_AS(AdamW(f32, {.eps = 1e-60}),
                       doctest::Contains("adamw: eps must be finite and > 0 in f32, got 1e-60"),
                       ValueError);
  CHECK_THROWS_AS(AdamW(both, {.eps = 1e-60}), ValueError);
  CHECK_NOTHROW(AdamW(f64, {.eps = 1e-60}));
  CHECK_THROWS_AS(Rmsprop(f64, {.eps = 0}), ValueError);
  CHECK_THROWS_AS(Rmsprop(f32, {.eps = 1e-60}), ValueError);
  CHECK_THROWS_AS(Rmsprop(f32, {.eps = 1e39}), ValueError);
  AdamW adamw(f32, {});
  adamw.options().eps = 0;
  CHECK_THROWS_AS(adamw.step(), ValueError);
}

TEST_CASE("options that the dtype of the parameters cannot hold are refused") {
  const Tensors f64 = {parameter({1})}, f32 = {zeros({1})};
  CHECK_THROWS_WITH_AS(Sgd(f32, {.lr = 1e39}), "sgd: lr must be finite in f32 and >= 0, got 1e+39",
                       ValueError);
  CHECK_NOTHROW(Sgd(f64, {.lr = 1e39}));
  CHECK_THROWS_AS(Sgd(f32, {.momentum = 1e39}), ValueError);
  CHECK_THROWS_AS(Sgd(f32, {.weight_decay = 1e39}), ValueError);
  CHECK_THROWS_AS(Adam(f32, {.weight_decay = 1e39}), ValueError);
  CHECK_THROWS_AS(Rmsprop(f32, {.momentum = 1e39}), ValueError);
  // what is formed of them
  CHECK_THROWS_WITH_AS(Adam(f32, {.lr = 1e38}), doctest::Contains("lr / (1 - beta1) must be"),
                       ValueError);
  CHECK_THROWS_WITH_AS(AdamW(f32, {.lr = 1e20, .weight_decay = 1e20}),
                       doctest::Contains("lr weight_decay must be"), ValueError);
  Sgd sgd({{{{"a", f64[0]}}, {}}, {{{"b", f32[0]}}, {}}});
  sgd.options(0).lr = 1e39;
  CHECK_NOTHROW(sgd.step());
  sgd.set_lr(1e39);
  CHECK_THROWS_WITH_AS(sgd.step(), doctest::Contains("in f32"), ValueError);
}

TEST_CASE("options outside their domain are refused with name and value") {
  const Tensors none;
  CHECK_THROWS_WITH_AS(Sgd(none, {.lr = -1}), "sgd: lr must be finite in f64 and >= 0, got -1",
                       ValueError);
  CHECK_THROWS_WITH_AS(Sgd(none, {.momentum = kNaN}), doctest::Contains("momentum"), ValueError);
  CHECK_THROWS_WITH_AS(Sgd(none, {.nesterov = true}), doctest::Contains("nesterov"), ValueError);
  CHECK_THROWS_WITH_AS(Sgd(none, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
                       doctest::Contains("no dampening"), ValueError);
  CHECK_THROWS_WITH_AS(Sgd(none, {.dampening = 1.5}), "sgd: dampening must be <= 1, got 1.5",
                       ValueError);
  CHECK_THROWS_WITH_AS(Adam(none, {.weight_decay = -1}), doctest::Contains("adam: weight_decay"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Rmsprop(none, {.alpha = 1}), "rmsprop: alpha must be < 1, got 1",
                       ValueError);
  CHECK_THROWS_WITH_AS(Rmsprop(none, {.eps = kNaN}), doctest::Contains("rmsprop: eps"), ValueError);
  CHECK_THROWS_WITH_AS(AdamW(none, {.beta1 = 1}), doctest::Contains("beta1 1"), ValueError);
  CHECK_THROWS_WITH_AS(AdamW(none, {.eps = -1e-8}), doctest::Contains("eps"), ValueError);
  AdamW adamw(none, {});
  adamw.set_lr(HUGE_VAL);
  CHECK_THROWS_WITH_AS(adamw.step(), doctest::Contains("lr"), ValueError);
}

}  // namespace
}  // namespace attograd::optim

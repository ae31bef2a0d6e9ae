#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "reference.h"
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/optim/adamw.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/schedule.h>
#include <attograd/optim/sgd.h>

namespace attograd::optim {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor parameter(std::initializer_list<double> values) {
  Tensor w = tensor(values, DType::f64);
  return w.set_requires_grad();
}

void give_gradient(Tensor w, double value) { w.set_grad(full(w.shape(), value, w.dtype())); }

/// The gradient of make_reference.py; `first` is the number of w's first entry.
Tensor reference_gradient(const Tensor& w, int64_t first, int64_t t) {
  std::vector<double> g = w.to_vector<double>();
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = g[i] * g[i] * g[i] - 2 * std::cos(static_cast<double>(t + 3 * first) + 3. * double(i));
  return from_values(w.shape(), g, DType::f64);
}

struct Recipe {
  std::function<double(int64_t)> schedule{};
  double clip = 0;
};

/// 20 steps as in make_reference.py, each compared to PyTorch's.
template <class Optimizer>
void check_steps(const std::vector<double>& right,
                 std::function<Optimizer(const Tensor&, const Tensor&)> make,
                 const Recipe& recipe = {}) {
  Tensor matrix = parameter({0.5, -1});
  Tensor vector = parameter({1.5, 0});
  Optimizer optimizer = make(matrix, vector);
  for (int64_t t = 0; t < 20; ++t) {
    matrix.set_grad(reference_gradient(matrix, 0, t));
    vector.set_grad(reference_gradient(vector, 2, t));
    if (recipe.clip > 0) clip_gradient_norm({matrix, vector}, recipe.clip);
    if (recipe.schedule) optimizer.set_lr(recipe.schedule(t));
    optimizer.step();
    std::vector<double> got = matrix.to_vector<double>();
    for (double w : vector.to_vector<double>()) got.push_back(w);
    for (size_t i = 0; i < 4; ++i) {
      CAPTURE(t);
      CAPTURE(i);
      CHECK(std::abs(got[i] - right[static_cast<size_t>(t) * 4 + i]) <= 1e-12);
    }
  }
}

std::function<Sgd(const Tensor&, const Tensor&)> sgd(const SgdOptions& options) {
  return [=](const Tensor& matrix, const Tensor& vector) {
    return Sgd(Tensors{matrix, vector}, options);
  };
}

std::function<AdamW(const Tensor&, const Tensor&)> adamw(const AdamWOptions& options) {
  return [=](const Tensor& matrix, const Tensor& vector) {
    return AdamW(Tensors{matrix, vector}, options);
  };
}

AdamW adamw_groups(const Tensor& matrix, const Tensor& vector) {
  const AdamWOptions decayed{.lr = 0.05, .beta2 = 0.99, .weight_decay = 0.1};
  AdamWOptions plain = decayed;
  plain.weight_decay = 0;
  return AdamW({{{{"matrix", matrix}}, decayed}, {{{"vector", vector}}, plain}});
}

TEST_CASE("sgd follows PyTorch for 20 steps") {
  check_steps(reference::kSgd, sgd({.lr = 0.05}));
  check_steps(reference::kSgdMomentum, sgd({.lr = 0.05, .momentum = 0.9}));
  check_steps(reference::kSgdNesterovDecay,
              sgd({.lr = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.1}));
  check_steps(reference::kSgdClipped, sgd({.lr = 0.05}), {.clip = 1});
}

TEST_CASE("adamw follows PyTorch for 20 steps") {
  check_steps(reference::kAdamW, adamw({}));
  check_steps(reference::kAdamWOptions,
              adamw({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5}));
  check_steps<AdamW>(reference::kAdamWGroups, adamw_groups);
}

TEST_CASE("adamw with groups and warm-up and cosine and clipping follows PyTorch for 20 steps") {
  check_steps<AdamW>(
      reference::kAdamWRecipe, adamw_groups,
      {.schedule = Cosine{.peak = 0.05, .minimum = 0.005, .warmup = 4, .total = 18}, .clip = 1});
}

/// The values of one parameter after each gradient.
template <class Optimizer, class Options>
std::vector<double> trace(double start, const Options& options,
                          const std::vector<double>& gradients) {
  Tensor w = parameter({start});
  Optimizer optimizer(Tensors{w}, options);
  std::vector<double> values;
  for (double g : gradients) {
    give_gradient(w, g);
    optimizer.step();
    values.push_back(w.item());
  }
  return values;
}

void check_close(const std::vector<double>& got, const std::vector<double>& right) {
  REQUIRE(got.size() == right.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(right[i]).epsilon(1e-9));
}

TEST_CASE("the eps of adam stands outside the root and outside the bias correction") {
  const AdamWOptions adam{.lr = 0.1, .weight_decay = 0};
  check_close(trace<AdamW>(0, adam, {1e-3}), {-0.1 * 1e-3 / (1e-3 + 1e-8)});
  check_close(trace<AdamW>(0, adam, {1e-10}), {-0.1 * 1e-10 / (1e-10 + 1e-8)});
}

TEST_CASE("adam counts its steps from 1 and corrects both moments") {
  check_close(trace<AdamW>(1, AdamWOptions{.lr = 0.1, .weight_decay = 0}, {1, -0.5, 0.25}),
              {0.900000001, 0.8733662967, 0.8393233830});
}

TEST_CASE("the weight decay of adamw is decoupled from the gradient") {
  const AdamWOptions options{.lr = 0.1, .weight_decay = 0.5};
  check_close(trace<AdamW>(2, options, {0.3, 0.3}), {1.8000000033, 1.6100000065});
  CHECK(trace<AdamW>(2, options, {0}).front() == 1.9);
}

TEST_CASE("a parameter without gradient is untouched and one with a zero gradient moves on") {
  Tensor w = parameter({2});
  AdamW adamw(Tensors{w}, {.lr = 0.1, .weight_decay = 0.5});
  adamw.step();
  CHECK(w.item() == 2);
  CHECK(adamw.state()[0].second.item() == 0);  // steps
  give_gradient(w, 0);
  adamw.step();
  CHECK(w.item() == 1.9);
  CHECK(adamw.state()[0].second.item() == 1);

  Tensor p = parameter({1});
  Sgd sgd(Tensors{p}, {.lr = 0.1, .momentum = 0.9});
  give_gradient(p, 1);
  sgd.step();
  CHECK(p.item() == 0.9);
  sgd.clear_gradients();
  sgd.step();
  CHECK(p.item() == 0.9);
  give_gradient(p, 0);
  sgd.step();
  CHECK(p.item() == doctest::Approx(0.81).epsilon(1e-15));
}

TEST_CASE("a tensor that is listed twice is stepped once") {
  const Tensor w = parameter({1});
  give_gradient(w, 1);
  Sgd(Tensors{w, w}, {.lr = 0.1}).step();
  CHECK(w.item() == 0.9);
  Sgd(NamedTensors{{"embedding", w}, {"head", w}}, {.lr = 0.1}).step();
  CHECK(w.item() == doctest::Approx(0.8).epsilon(1e-15));
}

TEST_CASE("no parameter moves when any gradient is not finite") {
  Tensor a = parameter({1});
  Tensor b = parameter({1, 2});
  AdamW adamw(NamedTensors{{"a", a}, {"b", b}}, {});
  give_gradient(a, 1);
  for (double bad : {kNaN, HUGE_VAL, -HUGE_VAL}) {
    b.set_grad(tensor({1, bad}, DType::f64));
    CHECK_THROWS_WITH_AS(adamw.step(), doctest::Contains("for b = f64[2]"), NumericError);
    CHECK(a.item() == 1);
    CHECK(b.to_vector<double>() == std::vector<double>{1, 2});
    for (const auto& [name, tensor] : adamw.state())
      for (double v : cast(tensor, DType::f64).to_vector<double>()) CHECK(v == 0);
  }
}

TEST_CASE("a restored optimizer continues bit for bit") {
  const auto check_resume = [](auto make) {
    Tensor matrix = parameter({0.5, -1});
    Tensor vector = parameter({1.5, 0});
    const auto run = [&](auto& optimizer, int64_t from, int64_t to) {
      for (int64_t t = from; t < to; ++t) {
        matrix.set_grad(reference_gradient(matrix, 0, t));
        if (t % 2 == 0)
          vector.set_grad(reference_gradient(vector, 2, t));
        else
          vector.clear_grad();
        optimizer.step();
      }
    };
    auto optimizer = make(matrix, vector);
    run(optimizer, 0, 5);
    NamedTensors file;
    for (const auto& [name, tensor] : optimizer.state())
      file.emplace_back(name, Tensor(tensor.array().copy()));
    const std::vector<double> matrix_before = matrix.to_vector<double>();
    const std::vector<double> vector_before = vector.to_vector<double>();
    run(optimizer, 5, 10);
    const std::vector<double> matrix_after = matrix.to_vector<double>();
    const std::vector<double> vector_after = vector.to_vector<double>();

    matrix.assign(from_values({2}, matrix_before, DType::f64));
    vector.assign(from_values({2}, vector_before, DType::f64));
    auto resumed = make(matrix, vector);
    resumed.load_state(file);
    run(resumed, 5, 10);
    CHECK(matrix.to_vector<double>() == matrix_after);
    CHECK(vector.to_vector<double>() == vector_after);
  };
  check_resume(sgd({.lr = 0.05, .momentum = 0.9}));
  check_resume(adamw({}));
  check_resume(adamw_groups);
}

TEST_CASE("the state is named after the parameters and a foreign one is refused") {
  const Tensor w = parameter({1, 2});
  AdamW adamw(NamedTensors{{"up.weight", w}}, {});
  const NamedTensors state = adamw.state();
  REQUIRE(state.size() == 3);
  CHECK(state[0].first == "up.weight.step");
  CHECK(state[1].first == "up.weight.exp_avg");
  CHECK(state[2].first == "up.weight.exp_avg_sq");
  CHECK_THROWS_AS(adamw.load_state({{"up.weight.step", state[0].second}}), FormatError);
}

TEST_CASE("a strided parameter is stepped as a contiguous one") {
  const Tensor storage = tensor({1, 9, 2, 9}, DType::f64);
  Tensor w = Tensor(storage.array().view({2}, {2}));
  w.set_requires_grad();
  Tensor twin = parameter({1, 2});
  for (Tensor each : {w, twin}) {
    each.set_grad(tensor({0.5, -3}, DType::f64));
    AdamW(Tensors{each}, {.lr = 0.1}).step();
  }
  CHECK(w.to_vector<double>() == twin.to_vector<double>());
  CHECK(storage.to_vector<double>()[1] == 9);
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

TEST_CASE("options outside their domain are refused with name and value") {
  const Tensors none;
  CHECK_THROWS_WITH_AS(Sgd(none, {.lr = -1}), "sgd: lr must be finite and >= 0, got -1",
                       ValueError);
  CHECK_THROWS_WITH_AS(Sgd(none, {.momentum = kNaN}), doctest::Contains("momentum"), ValueError);
  CHECK_THROWS_WITH_AS(Sgd(none, {.nesterov = true}), doctest::Contains("nesterov"), ValueError);
  CHECK_THROWS_WITH_AS(AdamW(none, {.beta1 = 1}), doctest::Contains("beta1 1"), ValueError);
  CHECK_THROWS_WITH_AS(AdamW(none, {.eps = -1e-8}), doctest::Contains("eps"), ValueError);
  AdamW adamw(none, {});
  adamw.set_lr(HUGE_VAL);
  CHECK_THROWS_WITH_AS(adamw.step(), doctest::Contains("lr"), ValueError);
}

}  // namespace
}  // namespace attograd::optim

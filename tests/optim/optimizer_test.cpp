#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include "reference.h"
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/optim/adam.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/rmsprop.h>
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

template <class Optimizer, class Options>
std::function<Optimizer(const Tensor&, const Tensor&)> over_both(const Options& options) {
  return [=](const Tensor& matrix, const Tensor& vector) {
    return Optimizer(Tensors{matrix, vector}, options);
  };
}
auto sgd(const SgdOptions& options) { return over_both<Sgd>(options); }
auto adam(const AdamOptions& options) { return over_both<Adam>(options); }
auto adamw(const AdamWOptions& options) { return over_both<AdamW>(options); }
auto rmsprop(const RmspropOptions& options) { return over_both<Rmsprop>(options); }

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
  check_steps(reference::kSgdDampened,
              sgd({.lr = 0.05, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1}));
  check_steps(reference::kSgdClipped, sgd({.lr = 0.05}), {.clip = 1});
}

TEST_CASE("adam follows PyTorch for 20 steps") {
  check_steps(reference::kAdam, adam({.lr = 0.05}));
  check_steps(reference::kAdamDecay,
              adam({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5}));
}

TEST_CASE("adamw follows PyTorch for 20 steps") {
  check_steps(reference::kAdamW, adamw({}));
  check_steps(reference::kAdamWOptions,
              adamw({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5}));
  check_steps<AdamW>(reference::kAdamWGroups, adamw_groups);
}

TEST_CASE("rmsprop follows PyTorch for 20 steps") {
  check_steps(reference::kRmsprop, rmsprop({}));
  check_steps(
      reference::kRmspropMomentum,
      rmsprop({.lr = 0.02, .alpha = 0.9, .eps = 1e-3, .momentum = 0.8, .weight_decay = 0.1}));
  check_steps(reference::kRmspropCentered,
              rmsprop({.lr = 0.02, .alpha = 0.9, .momentum = 0.8, .centered = true}));
}

TEST_CASE("centred rmsprop survives equal gradients whose variance rounds below 0") {
  Tensor w = zeros({64});
  w.set_requires_grad();
  std::vector<double> g(64);
  for (size_t i = 0; i < g.size(); ++i) g[i] = 0.1 * static_cast<double>(i + 1);
  w.set_grad(from_values({64}, g));
  Rmsprop optimizer(Tensors{w}, {.lr = 1e-9, .alpha = 0.5, .centered = true});
  for (int t = 0; t < 100; ++t) optimizer.step();
  CHECK(sum(is_finite(w)).item() == 64);
}

TEST_CASE("adamw with groups and warm-up and cosine and clipping follows PyTorch for 20 steps") {
  check_steps<AdamW>(
      reference::kAdamWRecipe, adamw_groups,
      {.schedule = Cosine{.peak = 0.05, .minimum = 0.005, .warmup = 4, .total = 18}, .clip = 1});
}

TEST_CASE("finite gradients whose norm overflows are finite gradients") {
  Tensor w = parameter({1, 2, 3, 4});
  w.set_grad(tensor({0x1p1023, -0x1p1023, 0x1p1023, -0x1p1023}, DType::f64));
  Sgd(Tensors{w}, {.lr = 0x1p-1020}).step();
  CHECK(w.to_vector<double>() == std::vector<double>{-7, 10, -5, 12});
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
  check_resume(sgd({.lr = 0.05, .momentum = 0.9, .dampening = 0.5}));
  check_resume(adam({.weight_decay = 0.1}));
  check_resume(adamw({}));
  check_resume(rmsprop({.momentum = 0.5, .centered = true}));
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

/// The state of an optimizer of one parameter "w" with one entry put to a value; what was thrown
/// when it was loaded.
template <class Optimizer>
std::string message_of_loading(const std::string& entry, double value) {
  const Tensor w = parameter({1, 2});
  Optimizer optimizer(NamedTensors{{"w", w}}, {});
  NamedTensors state;
  for (const auto& [name, tensor] : optimizer.state())
    state.emplace_back(
        name, name == entry ? full(tensor.shape(), value, tensor.dtype()) : ones_like(tensor));
  try {
    optimizer.load_state(state);
  } catch (const FormatError& error) {
    for (const auto& [name, tensor] : optimizer.state())
      CHECK(sum(not_equal(tensor, 0)).item() == 0);
    return error.what();
  }
  for (const auto& [name, tensor] : optimizer.state())
    CHECK(sum(equal(tensor, name == entry ? value : 1)).item() == double(tensor.numel()));
  return "loaded";
}

TEST_CASE("a state with numbers that no training leads to is refused") {
  CHECK(message_of_loading<AdamW>("w.step", -1) ==
        "adamw: w.step must hold numbers in [0, 2^53] of i64, got 1 others in i64[]; the state was "
        "damaged or is another optimizer's");
  CHECK(message_of_loading<AdamW>("w.step", 0x1p62).find("w.step must") != std::string::npos);
  CHECK(message_of_loading<Sgd>("w.step", -3).find("sgd: w.step must") == 0);
  for (double bad : {-1e-300, -HUGE_VAL, kNaN}) {
    CHECK(message_of_loading<AdamW>("w.exp_avg_sq", bad).find("got 2 others") != std::string::npos);
    CHECK(message_of_loading<Adam>("w.exp_avg_sq", bad).find("adam: w.exp_avg_sq") == 0);
    CHECK(message_of_loading<Rmsprop>("w.square_avg", bad).find("rmsprop: w.square") == 0);
  }
  for (double bad : {HUGE_VAL, -HUGE_VAL, kNaN}) {  // of finite gradients no mean is one of these
    CHECK(message_of_loading<AdamW>("w.exp_avg", bad).find("adamw: w.exp_avg must") == 0);
    CHECK(message_of_loading<Sgd>("w.momentum_buffer", bad).find("sgd: w.momentum") == 0);
    CHECK(message_of_loading<Rmsprop>("w.grad_avg", bad).find("rmsprop: w.grad_avg") == 0);
    CHECK(message_of_loading<Rmsprop>("w.momentum_buffer", bad).find("rmsprop: w.mom") == 0);
  }
  // what may come up: an infinite square of a large f32 gradient, a negative mean, no step yet
  CHECK(message_of_loading<AdamW>("w.exp_avg_sq", HUGE_VAL) == "loaded");
  CHECK(message_of_loading<AdamW>("w.exp_avg", -2) == "loaded");
  CHECK(message_of_loading<AdamW>("w.step", 0) == "loaded");
}

TEST_CASE("a state in f64 is judged by what it is in the f32 of the parameter") {
  const Tensor w = zeros({1}).set_requires_grad();
  AdamW adamw(NamedTensors{{"w", w}}, {});
  const auto load = [&](double mean, double mean_square) {
    adamw.load_state({{"w.step", full({}, 3, DType::i64)},
                      {"w.exp_avg", tensor({mean}, DType::f64)},
                      {"w.exp_avg_sq", tensor({mean_square}, DType::f64)}});
  };
  CHECK_THROWS_WITH_AS(load(1e300, 1),
                       doctest::Contains("w.exp_avg must hold finite numbers of f32, got 1 others "
                                         "in f64[1]"),
                       FormatError);
  CHECK(adamw.state()[0].second.item() == 0);
  load(1e30, 1e60);  // the moments of one gradient, whose square f32 cannot hold
  CHECK(adamw.state()[2].second.item() == HUGE_VAL);
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

TEST_CASE("an optimizer is moved and never copied") {
  CHECK_FALSE(std::is_copy_constructible_v<Adam>);
  CHECK_FALSE(std::is_copy_assignable_v<Sgd>);
  CHECK(std::is_move_constructible_v<Adam>);
  CHECK(std::is_move_assignable_v<Sgd>);
}

TEST_CASE("the options of a group can be changed and a group that is not there is named") {
  AdamW adamw = adamw_groups(parameter({1}), parameter({2}));
  adamw.options(1).weight_decay = 0.25;
  CHECK(adamw.options().weight_decay == 0.1);
  CHECK(adamw.options(1).weight_decay == 0.25);
  CHECK_THROWS_WITH_AS(adamw.options(2),
                       "adamw: a group must be in [0, 2), the number of groups, got 2", IndexError);
}

}  // namespace
}  // namespace attograd::optim

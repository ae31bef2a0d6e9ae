#include <cmath>
#include <limits>
#include <type_traits>

#include <doctest/doctest.h>
#include <tests/temporary_folder.h>

#include "reference.h"
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>
#include <attograd/nn/linear.h>
#include <attograd/nn/module.h>
#include <attograd/optim/adam.h>
#include <attograd/optim/ema.h>

namespace attograd::optim {
namespace {

Tensor parameter(std::initializer_list<double> values, DType dtype = DType::f64) {
  Tensor w = tensor(values, dtype);
  return w.set_requires_grad();
}

std::vector<double> numbers(const Tensor& x) { return x.to_vector<double>(); }

TEST_CASE("averages follow PyTorch for 20 steps") {
  Tensor matrix = parameter({0.5, -1});
  Tensor vector = parameter({1.5, 0});
  Adam adam(Tensors{matrix, vector}, {.lr = 0.05});
  Ema ema(Tensors{matrix, vector}, 0.9);
  for (int t = 0; t < 20; ++t) {  // the gradients of make_reference.py
    const auto gradient = [&](const Tensor& w, int first) {
      const Tensor angles = tensor({t + 3. * first, t + 3. * first + 3}, DType::f64);
      return detach(w * w * w - 2 * cos(angles));
    };
    matrix.set_grad(gradient(matrix, 0));
    vector.set_grad(gradient(vector, 2));
    adam.step();
    ema.update();
    const NamedTensors averages = ema.averages();
    for (size_t i = 0; i < 4; ++i) {
      CAPTURE(t);
      CAPTURE(i);
      CHECK(std::abs(numbers(averages[i / 2].second)[i % 2] -
                     reference::kEma[static_cast<size_t>(t) * 4 + i]) <= 1e-12);
    }
  }
}

TEST_CASE("averages begin at the weights and move by the rest of the decay") {
  Tensor w = parameter({4});
  Ema ema(NamedTensors{{"w", w}}, 0.75);
  CHECK(numbers(ema.averages()[0].second) == std::vector<double>{4});
  w.assign(tensor({8}, DType::f64));
  ema.update();
  CHECK(ema.averages()[0].first == "w");
  CHECK(numbers(ema.averages()[0].second) == std::vector<double>{5});
  CHECK(numbers(w) == std::vector<double>{8});
  CHECK_FALSE(ema.averages()[0].second.requires_grad());
}

TEST_CASE("swapping twice gives weights and averages back to the bit") {
  Tensor w = parameter({0.1, 0.7}, DType::f32);
  w.set_grad(ones({2}));
  Ema ema(Tensors{w}, 0.9);
  w.assign(tensor({0.3, -1}, DType::f32));
  ema.update();
  const auto average = ema.averages()[0].second.to_vector<float>();
  ema.swap();
  CHECK(ema.swapped());
  CHECK(w.to_vector<float>() == average);
  CHECK(w.requires_grad());
  ema.swap();
  CHECK_FALSE(ema.swapped());
  CHECK(w.to_vector<float>() == std::vector<float>{0.3F, -1});
  CHECK(ema.averages()[0].second.to_vector<float>() == average);
}

TEST_CASE("a decay of 0 copies and one of 1 keeps also what is infinite") {
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor w = parameter({infinity, 1});
  Ema copies(Tensors{w}, 0);
  w.assign(tensor({3, -infinity}, DType::f64));
  copies.update();
  CHECK(numbers(copies.averages()[0].second) == std::vector<double>{3, -infinity});
  Ema keeps(Tensors{w}, 1);
  w.assign(tensor({infinity, 2}, DType::f64));
  keeps.update();
  CHECK(numbers(keeps.averages()[0].second) == std::vector<double>{3, -infinity});
}

TEST_CASE("averages of weights that overlap are refused") {
  const Tensor base = tensor({1, 2, 3}, DType::f64);
  const Tensor a = Tensor(base.array().view({2}, {1})).set_requires_grad();
  const Tensor b = Tensor(base.array().view({2}, {1}, 1)).set_requires_grad();
  CHECK_THROWS_WITH_AS(Ema(Tensors{a, b}, 0.5), doctest::Contains("ema: parameters must not over"),
                       ValueError);
}

TEST_CASE("averages are moved and never copied") {
  CHECK_FALSE(std::is_copy_constructible_v<Ema>);
  CHECK_FALSE(std::is_copy_assignable_v<Ema>);
  CHECK(std::is_move_constructible_v<Ema>);
  CHECK(std::is_move_assignable_v<Ema>);
}

TEST_CASE("averages that are not finite in the dtype of the weights are not loaded") {
  const Tensor w = parameter({1}, DType::f32);
  Ema ema(NamedTensors{{"w", w}}, 0.5);
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -1e300}) {
    CHECK_THROWS_WITH_AS(ema.load_averages({{"w", tensor({bad}, DType::f64)}}),
                         doctest::Contains("ema: w must hold finite numbers of f32, got 1 others"),
                         FormatError);
    CHECK(ema.averages()[0].second.item() == 1);
  }
}

TEST_CASE("what would mix weights and averages up is refused while they are swapped") {
  const Tensor w = parameter({1});
  Ema ema(NamedTensors{{"w", w}}, 0.5);
  ema.swap();
  CHECK_THROWS_WITH_AS(ema.update(), doctest::Contains("ema: update needs the weights in their"),
                       ValueError);
  CHECK_THROWS_AS(ema.averages(), ValueError);
  CHECK_THROWS_AS(ema.load_averages({{"w", w}}), ValueError);
  ema.swap();
  CHECK_NOTHROW(ema.update());
}

TEST_CASE("averages go through a file and continue bit for bit") {
  const TemporaryFolder folder;
  Tensor w = parameter({0.1, -3});
  Ema ema(NamedTensors{{"w", w}}, 0.9);
  const auto move = [&](Ema& each, int steps) {
    for (int i = 0; i < steps; ++i) {
      w.assign(detach(w * 1.1));
      each.update();
    }
  };
  move(ema, 3);
  const NamedTensors averages = ema.averages();
  save_safetensors(folder / "ema", {averages.begin(), averages.end()});
  const std::vector<double> w_before = numbers(w);
  move(ema, 3);

  w.assign(from_values({2}, w_before, DType::f64));
  Ema resumed(NamedTensors{{"w", w}}, 0.9);
  const auto file = load_safetensors(folder / "ema").tensors;
  resumed.load_averages({file.begin(), file.end()});
  move(resumed, 3);
  CHECK(numbers(resumed.averages()[0].second) == numbers(ema.averages()[0].second));
  CHECK_THROWS_AS(resumed.load_averages({{"v", w}}), FormatError);
}

TEST_CASE("another model takes the averages by name") {
  Rng rng(1);
  const nn::Linear model(3, 2, rng), other(3, 2, rng);
  const Ema ema(nn::named_parameters(model), 0.9);
  nn::load_state(other, ema.averages());
  CHECK(other.weight.to_vector<float>() == model.weight.to_vector<float>());
}

TEST_CASE("a tied parameter is averaged and swapped once") {
  Tensor w = parameter({2});
  Ema ema(NamedTensors{{"embedding", w}, {"head", w}}, 0.5);
  w.assign(tensor({4}, DType::f64));
  ema.update();
  REQUIRE(ema.averages().size() == 1);
  CHECK(numbers(ema.averages()[0].second) == std::vector<double>{3});
  ema.swap();
  CHECK(numbers(w) == std::vector<double>{3});
}

TEST_CASE("a decay outside 0 to 1 and what has no average are refused") {
  const Tensor w = parameter({1});
  for (double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH_AS(Ema(Tensors{w}, bad), doctest::Contains("ema: decay must be in [0, 1]"),
                         ValueError);
  CHECK_THROWS_WITH_AS(Ema(NamedTensors{{"ids", arange(0, 3)}}, 0.9), doctest::Contains("ids"),
                       ValueError);
}

}  // namespace
}  // namespace attograd::optim

#include <limits>

#include <doctest/doctest.h>
#include <tests/nn/naive.h>

#include <attograd/core/create.h>
#include <attograd/nn/embedding.h>
#include <attograd/nn/module.h>
#include <attograd/nn/rms_norm.h>
#include <attograd/nn/sequential.h>

namespace attograd::nn {
namespace {

constexpr double kTolerance = 1e-14;  // f64: some tens of roundings

/// In f64, with every parameter off its start.
template <Module M>
M exact(const M& module) {
  Rng rng(5);
  const M moved = to(module, DType::f64);
  for (Tensor w : parameters(moved)) w.assign(w + 0.5 * randn(w.shape(), rng, DType::f64));
  return moved;
}

Tensor random(const Shape& shape) {
  Rng rng(1);
  return randn(shape, rng, DType::f64);
}

template <Module M>
void check_twin(const M& module, naive::Numbers (*twin)(const naive::Numbers&, const M&)) {
  const Tensor x = random({2, 3, 4});
  CHECK(naive::distance(module(x), twin(op_cases::numbers(x), module)) <= kTolerance);
}

TEST_CASE("a linear map equals its loops") {
  Rng rng(5);
  check_twin(exact(Linear(4, 5, rng)), naive::linear);
  check_twin(exact(Linear(4, 5, rng, {.bias = false})), naive::linear);
}

TEST_CASE("layer norm equals its loops") {
  check_twin(exact(LayerNorm(4)), naive::layer_norm);
  check_twin(exact(LayerNorm(4, {.eps = 0.5, .bias = false})), naive::layer_norm);
}

naive::Numbers naive_rms_norm(const naive::Numbers& x, const RMSNorm& norm) {
  naive::Numbers y(x.shape);
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t t = 0; t < x.shape[1]; ++t) {
      double squares = 0;
      for (int64_t c = 0; c < x.shape[2]; ++c) squares += x(b, t, c) * x(b, t, c);
      const double root = std::sqrt(squares / static_cast<double>(x.shape[2]) + norm.eps);
      for (int64_t c = 0; c < x.shape[2]; ++c)
        y(b, t, c) = x(b, t, c) / root * op_cases::numbers(norm.weight)(c);
    }
  return y;
}

TEST_CASE("rms norm equals its loops") {
  check_twin(exact(RMSNorm(4)), naive_rms_norm);
  check_twin(exact(RMSNorm(4, {.eps = 0.5})), naive_rms_norm);
}

TEST_CASE("a sequence is its steps one after the other and passes the generator on") {
  Rng rng(5);
  const Linear first(4, 3, rng), last(3, 2, rng);
  const Sequential steps(first, relu, Dropout(0.5), last);
  const Tensor x = randn({2, 4}, rng);
  CHECK(steps(x).to_vector<float>() == last(relu(first(x))).to_vector<float>());
  Rng one(3), other(3);
  CHECK(steps(x, &one).to_vector<float>() ==
        last(dropout(relu(first(x)), 0.5, &other)).to_vector<float>());
  CHECK(one.state() == other.state());
  CHECK(Sequential()(x).to_vector<float>() == x.to_vector<float>());
}

TEST_CASE("the hidden channels of the feed forward network drop out") {
  Rng rng(5);
  const FeedForward module({.d_model = 4, .d_ff = 6, .dropout = 0.5}, rng);
  const Tensor x = randn({2, 4}, rng);
  Rng one(3), other(3);
  CHECK(module(x, &one).to_vector<float>() ==
        module.down(dropout(gelu(module.up(x)), 0.5, &other)).to_vector<float>());
  CHECK(module(x).to_vector<float>() == module.down(gelu(module.up(x))).to_vector<float>());
}

TEST_CASE("the feed forward network equals its loops") {
  Rng rng(5);
  for (const Activation f :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu})
    for (const bool gated : {false, true}) {
      const FeedForwardOptions options{.d_model = 4, .d_ff = 6, .activation = f, .gated = gated};
      check_twin(exact(FeedForward(options, rng)), naive::feed_forward);
    }
}

TEST_CASE("an embedding is the rows of its ids") {
  Rng rng(5);
  const Embedding module(3, 2, rng);
  const std::vector<float> rows = module.weight.to_vector<float>();
  const std::vector<float> y =
      module(from_values({1, 3}, std::vector<int64_t>{2, 0, 2})).to_vector<float>();
  CHECK(y == std::vector<float>{rows[4], rows[5], rows[0], rows[1], rows[4], rows[5]});
  CHECK_THROWS_AS(module(from_values({1}, std::vector<int64_t>{3})), IndexError);
}

TEST_CASE("layers begin as in PyTorch") {
  Rng rng(5);
  const Linear map(16, 1000, rng);
  double largest = 0;
  for (const Tensor& w : parameters(map))
    for (const float v : w.to_vector<float>()) largest = std::max(largest, std::abs(double(v)));
  CHECK(largest <= 0.25);  // 1 / sqrt(16)
  CHECK(largest > 0.249);
  CHECK(LayerNorm(2).weight.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(LayerNorm(2).bias.to_vector<float>() == std::vector<float>{0, 0});
  double squares = 0;
  for (const float v : Embedding(100, 100, rng).weight.to_vector<float>()) squares += v * v;
  CHECK(squares / 1e4 == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("sizes and options outside their domain are refused") {
  Rng rng(5);
  CHECK_THROWS_WITH_AS(Linear(0, 3, rng), "Linear: widths must be > 0, got in = 0 and out = 3",
                       ValueError);
  CHECK_THROWS_WITH_AS(Embedding(3, -1, rng),
                       "Embedding: sizes must be > 0, got count = 3 and width = -1", ValueError);
  CHECK_THROWS_WITH_AS(LayerNorm(0), "LayerNorm: the width must be > 0, got 0", ValueError);
  CHECK_THROWS_WITH_AS(LayerNorm(2, {.eps = 0}), "LayerNorm: eps must be > 0 and finite, got 0",
                       ValueError);
  CHECK_THROWS_WITH_AS(RMSNorm(0), "RMSNorm: the width must be > 0, got 0", ValueError);
  CHECK_THROWS_WITH_AS(RMSNorm(2, {.eps = -1}), "RMSNorm: eps must be > 0 and finite, got -1",
                       ValueError);
  CHECK_THROWS_AS(RMSNorm(2, {.eps = HUGE_VAL}), ValueError);
  for (const int64_t width : {int64_t{0}, int64_t{-3}, int64_t{1} << 61, int64_t{1} << 62})
    CHECK_THROWS_WITH_AS(FeedForward({.d_model = width}, rng),
                         doctest::Contains("FeedForward: d_model must be in [1, 2^61)"),
                         ValueError);
  CHECK_THROWS_WITH_AS(FeedForward({.d_model = 2, .d_ff = -1}, rng),
                       doctest::Contains("d_ff >= 0, got d_model = 2 and d_ff = -1"), ValueError);
  CHECK_THROWS_AS(FeedForward({.d_model = int64_t{1} << 60}, rng), ShapeError);
  for (const double p : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH_AS(Dropout{p}, doctest::Contains("must be in [0, 1]"), ValueError);
}

}  // namespace
}  // namespace attograd::nn

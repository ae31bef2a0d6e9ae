#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/nn/attention.h>

namespace attograd::nn {
namespace {

TEST_CASE("scores that cannot be used are refused") {
  Rng rng(1);
  const Tensor x = randn({1, 2, 3, 4}, rng, DType::f64);
  const auto run = [&](const Score& score) { Attention{.score = score}(x, x, x); };
  CHECK_THROWS_WITH_AS(
      run([](const Tensor& q, const Tensor&) { return q; }),
      doctest::Contains("must be [B, H, T, S] = [1, 2, 3, 3], got f64[1, 2, 3, 4]"), ShapeError);
  CHECK_THROWS_AS(run([](const Tensor&, const Tensor&) { return Tensor(); }), ShapeError);
  CHECK_THROWS_WITH_AS(run(ScaledDot{.temperature = 0}),
                       doctest::Contains("temperature must be > 0, got 0"), ValueError);
  CHECK_THROWS_AS(run(ScaledDot{.temperature = std::nan("")}), ValueError);
}

TEST_CASE("the parameters of a score belong to the module and its copies") {
  Rng rng(5);
  const MultiHeadAttention module({.d_model = 4, .heads = 2, .score = Additive(2, 3, rng)}, rng);
  const NamedTensors named = named_parameters(module);
  CHECK(std::count_if(named.begin(), named.end(), [](const auto& parameter) {
          return parameter.first.starts_with("score.");
        }) == 4);
  const MultiHeadAttention exact_copy = to(module, DType::f64);
  for (const Tensor& w : parameters(exact_copy)) CHECK(w.dtype() == DType::f64);
  for (const Tensor& w : parameters(module)) CHECK(w.dtype() == DType::f32);
}

struct WrongProduct {
  double scale;
  DotProduct product(const Tensor& q, const Tensor& k) const {
    return {slice(q, 2, 0, 1), k, scale};
  }
};

TEST_CASE("products that do not fit are refused with and without weights") {
  Rng rng(1);
  const Tensor x = randn({1, 2, 3, 4}, rng);
  for (const auto weights : {ReturnedWeights::none, ReturnedWeights::after_dropout}) {
    const auto run = [&](const Score& score) {
      Attention{.score = score}(x, x, x, {.weights = weights});
    };
    CHECK_THROWS_WITH_AS(run(WrongProduct{1}),
                         doctest::Contains("must keep batch, heads and lengths"), ShapeError);
    CHECK_THROWS_WITH_AS(run(ScaledDot{.temperature = 1e-320}),
                         doctest::Contains("scale must be finite"), ValueError);
    CHECK_THROWS_AS(run(Cosine{.scale = HUGE_VAL}), ValueError);
    CHECK_THROWS_AS(run(Cosine{.eps = 0}), ValueError);
    CHECK_THROWS_WITH_AS(run(Cosine{.eps = 1e-50}), doctest::Contains("eps must be > 0 in f32"),
                         ValueError);
    CHECK_THROWS_AS(run([](const Tensor& q, const Tensor& k) {
                      return cast(matmul(q, transpose(k)), DType::f64);
                    }),
                    DTypeError);
  }
}

TEST_CASE("a copied score has its own handles") {
  Rng rng(5);
  const Score score = Bilinear(2, rng);
  Score copy = score;
  copy.visit([](const std::string&, Tensor& w) { w = zeros(w.shape()); });
  const Tensor x = ones({1, 1, 1, 2});
  CHECK(copy(x, x).item() == 0);
  CHECK(score(x, x).item() != 0);
}

TEST_CASE("a cosine of zeros is 0 and passes finite gradients") {
  const Tensor q = zeros({1, 1, 1, 2}, DType::f64).set_requires_grad();
  const Tensor k = ones({1, 1, 1, 2}, DType::f64);
  const Tensor score = Score(Cosine())(q, k);
  CHECK(score.item() == 0);
  // Within 1e-8 of 0 the score is q . k / (1e-8 sqrt(2)).
  const std::vector<double> g = grad({sum(score)}, {q})[0].to_vector<double>();
  CHECK(g[0] == doctest::Approx(1e8 / std::sqrt(2.0)));
}

}  // namespace
}  // namespace attograd::nn

#include <cmath>

#include <doctest/doctest.h>
#include <tests/nn/naive.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/module.h>

namespace attograd::nn {
namespace {

const GptOptions kSmall{.vocabulary = 7, .context = 8, .layers = 2, .heads = 2, .width = 6};

Gpt exact(const GptOptions& options) {
  Rng rng(5);
  const Gpt model = to(Gpt(options, rng), DType::f64);
  for (Tensor w : parameters(model)) w.assign(w + 0.3 * randn(w.shape(), rng, DType::f64));
  return model;
}

Tensor some_ids(int64_t batch, int64_t length, int64_t vocabulary, uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < batch * length; ++i) ids.push_back(rng.below(vocabulary));
  return from_values({batch, length}, ids);
}

naive::Numbers sum_of(naive::Numbers a, const naive::Numbers& b) {
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

naive::Numbers naive_gpt(const Gpt& model, const Tensor& ids) {
  const naive::Numbers tokens = op_cases::numbers(model.token_embedding.weight);
  const naive::Numbers positions = op_cases::numbers(model.position_embedding.weight);
  naive::Numbers h({ids.dim(0), ids.dim(1), model.options.width});
  for (int64_t b = 0; b < ids.dim(0); ++b)
    for (int64_t t = 0; t < ids.dim(1); ++t)
      for (int64_t c = 0; c < model.options.width; ++c) {
        const int64_t id = ids.data<int64_t>()[b * ids.dim(1) + t];
        h(b, t, c) = tokens(id, c) + positions(t, c);
      }
  const double temperature = std::sqrt(double(model.options.width / model.options.heads));
  for (const GptBlock& block : model.blocks) {
    const naive::Numbers x = naive::layer_norm(h, block.attention_norm);
    h = sum_of(
        h,
        naive::attention(x, x, x, block.attention, temperature, [](int64_t, int64_t t, int64_t s) {
          return s <= t;
        }).y);
    h = sum_of(
        h, naive::feed_forward(naive::layer_norm(h, block.feed_forward_norm), block.feed_forward));
  }
  Rng unused(0);
  Linear head(model.options.width, model.options.vocabulary, unused, {.bias = false});
  head.weight = model.head ? model.head->weight : model.token_embedding.weight;
  return naive::linear(naive::layer_norm(h, model.norm), head);
}

TEST_CASE("a gpt equals its loops") {
  GptOptions options = kSmall;
  for (const bool tied : {true, false}) {
    for (const bool bias : {true, false}) {
      options.tied = tied;
      options.bias = bias;
      const Gpt model = exact(options);
      const Tensor ids = some_ids(2, 5, options.vocabulary);
      CHECK(naive::distance(model(ids), naive_gpt(model, ids)) <= 1e-13);
    }
  }
}

TEST_CASE("each of the four places drops out") {
  GptOptions options = kSmall;
  options.dropout = 0.5;
  Rng rng(5);
  const Gpt model(options, rng);
  const Tensor ids = some_ids(1, 4, kSmall.vocabulary);
  Rng dropping(1);
  model(ids, &dropping);
  // One stream for the embeddings, and in each block one for the weights and one for each branch.
  CHECK(dropping.state().streams == 1 + 3 * 2);
}

TEST_CASE("the context is the longest length and an empty text is refused") {
  const Gpt model = exact(kSmall);
  for (const int64_t length : {1, 8})
    CHECK(model(some_ids(1, length, 7)).shape() == Shape{1, length, 7});
  CHECK_THROWS_WITH_AS(model(some_ids(1, 9, 7)),
                       "LearnedPositions: the length of a sequence must be in [1, longest = 8], "
                       "got 9; pass the last 8",
                       ShapeError);
  CHECK_THROWS_WITH_AS(model(some_ids(1, 0, 7)), doctest::Contains("got 0"), ShapeError);
  CHECK_THROWS_WITH_AS(model(arange(0, 3)), "Gpt: ids must be [B, T], got i64[3]", ShapeError);
  CHECK_THROWS_AS(model(full({1, 2}, 7, DType::i64)), IndexError);
}

double deviation(const Tensor& w) {
  double squares = 0;
  for (const float v : w.to_vector<float>()) squares += double(v) * v;
  return std::sqrt(squares / static_cast<double>(w.numel()));
}

TEST_CASE("weights begin small and those that end a branch smaller with depth") {
  Rng rng(5);
  const Gpt model({.vocabulary = 65, .layers = 3, .bias = true, .tied = false}, rng);
  for (const auto& named : named_parameters(model)) {
    const std::string& name = named.first;
    CAPTURE(name);
    const bool is_bias = name.ends_with(".bias");
    const bool is_norm = name.find("norm.") != std::string::npos;
    const bool ends = name.ends_with("output.weight") || name.ends_with("down.weight");
    const double right = is_bias ? 0 : is_norm ? 1 : ends ? 0.02 / std::sqrt(6.0) : 0.02;
    CHECK(deviation(named.second) == doctest::Approx(right).epsilon(0.05));
  }
}

TEST_CASE("a new model knows nothing") {
  Rng rng(5);
  const Gpt model({.vocabulary = 65}, rng);
  const double loss = cross_entropy(model(some_ids(4, 64, 65)), some_ids(4, 64, 65, 2)).item();
  CHECK(loss == doctest::Approx(std::log(65)).epsilon(0.05));
  CHECK(count_parameters(model) == 804'096);  // 65 C + 64 C + 4 (12 C^2 + 2 C) + C, C = 128
}

TEST_CASE("sizes from which no model can be made are refused") {
  Rng rng(5);
  CHECK_THROWS_WITH_AS(Gpt({}, rng),
                       doctest::Contains("vocabulary, context and layers must be > 0"), ValueError);
  CHECK_THROWS_AS(Gpt({.vocabulary = 3, .width = 0}, rng), ValueError);
  CHECK_THROWS_WITH_AS(Gpt({.vocabulary = 3, .heads = 3, .width = 10}, rng),
                       doctest::Contains("d_model = 10 and heads = 3"), ValueError);
  CHECK_THROWS_AS(Gpt({.vocabulary = 3, .dropout = 2}, rng), ValueError);
}

}  // namespace
}  // namespace attograd::nn

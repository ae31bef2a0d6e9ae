#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <tests/nn/naive.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/nn/attention.h>
#include <attograd/nn/module.h>

namespace attograd::nn {
namespace {

constexpr double kTolerance = 1e-14;  // f64: some tens of roundings

Tensor random(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  return randn(shape, rng, DType::f64);
}

MultiHeadAttention exact(const MultiHeadAttentionOptions& options) {
  Rng rng(5);
  return to(MultiHeadAttention(options, rng), DType::f64);
}

/// Both paths against the loops.
void check_twin(const MultiHeadAttention& module, const Tensors& x, double temperature,
                const Mask& mask = {}, const naive::Sees& sees = naive::sees_all) {
  const auto right = naive::attention(op_cases::numbers(x[0]), op_cases::numbers(x[1]),
                                      op_cases::numbers(x[2]), module, temperature, sees);
  const Attended fused = module(x[0], x[1], x[2], {.mask = mask});
  CHECK(naive::distance(fused.y, right.y) <= kTolerance);
  CHECK_FALSE(fused.weights.defined());
  const Attended whole =
      module(x[0], x[1], x[2], {.mask = mask, .weights = ReturnedWeights::after_dropout});
  CHECK(naive::distance(whole.y, right.y) <= kTolerance);
  CHECK(naive::distance(whole.weights, right.weights) <= kTolerance);
}

TEST_CASE("self attention equals its loops") {
  const MultiHeadAttention module = exact({.d_model = 6, .heads = 2});
  const Tensor x = random({2, 5, 6}, 1);
  check_twin(module, {x, x, x}, std::sqrt(3.0));
  check_twin(module, {x, x, x}, std::sqrt(3.0), Mask::causal(),
             [](int64_t, int64_t t, int64_t s) { return s <= t; });
  CHECK(module(x).y.to_vector<double>() == module(x, x, x).y.to_vector<double>());
}

TEST_CASE("cross attention with its own widths and temperature equals its loops") {
  const MultiHeadAttention module = exact({.d_model = 4,
                                           .heads = 3,
                                           .d_k = 2,
                                           .d_v = 5,
                                           .key_width = 3,
                                           .value_width = 2,
                                           .query_bias = false,
                                           .value_bias = false,
                                           .score = ScaledDot{.temperature = 0.8}});
  const Tensors x{random({2, 4, 4}, 1), random({2, 3, 3}, 2), random({2, 3, 2}, 3)};
  check_twin(module, x, 0.8);
  const Tensor keep =
      from_values({4, 3}, std::vector<bool>{true, false, true, false, false, false,  //
                                            true, true, true, false, true, false});
  const std::vector<bool> kept = keep.to_vector<bool>();
  check_twin(module, x, 0.8, Mask::keep(keep),
             [&](int64_t, int64_t t, int64_t s) { return kept[static_cast<size_t>(t * 3 + s)]; });
}

TEST_CASE("the temperature is the root of the head width where that is not d_model over heads") {
  const Tensor x = random({1, 3, 4}, 1);
  check_twin(exact({.d_model = 4, .heads = 2, .d_k = 7, .d_v = 3}), {x, x, x}, std::sqrt(7.0));
}

TEST_CASE("padding hides keys and a sequence without keys mixes to nothing") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2});
  const Tensor x = random({3, 4, 4}, 1);
  const std::vector<int64_t> lengths{4, 2, 0};
  check_twin(module, {x, x, x}, std::sqrt(2.0), Mask::padding(lengths),
             [&](int64_t b, int64_t, int64_t s) { return s < lengths[static_cast<size_t>(b)]; });
  const Tensor y = module(x, {.mask = Mask::padding(lengths)}).y;
  const std::vector<double> bias = module.output.bias.to_vector<double>();
  const std::vector<double> values = y.to_vector<double>();
  for (size_t i = 2 * 16; i < values.size(); ++i) CHECK(values[i] == bias[i % 4]);
}

/// One head whose projections change nothing.
MultiHeadAttention identity() {
  MultiHeadAttention module = exact({.d_model = 2, .heads = 1});
  for (Linear* map : {&module.query, &module.key, &module.value, &module.output}) {
    map->weight.assign(eye(2));
    map->bias = Tensor();
  }
  return module;
}

TEST_CASE("a query that sees nothing has output and gradients of exactly zero") {
  const MultiHeadAttention module = identity();
  Tensor q = tensor({{1, 0}, {0.5, -1}}, DType::f64);
  Tensor k = tensor({{0.2, 0.4}, {-0.3, 1}}, DType::f64);
  Tensor v = tensor({{1, 2}, {3, 5}}, DType::f64);
  const Mask mask = Mask::keep(from_values({2, 2}, std::vector<bool>{true, true, false, false}));
  for (Tensor* x : {&q, &k, &v}) x->set_requires_grad();
  for (const bool weights : {false, true}) {
    for (Tensor* x : {&q, &k, &v}) x->clear_grad();
    const Attended a =
        module(reshape(q, {1, 2, 2}), reshape(k, {1, 2, 2}), reshape(v, {1, 2, 2}),
               {.mask = mask,
                .weights = weights ? ReturnedWeights::after_dropout : ReturnedWeights::none});
    backward(sum(a.y));
    const auto check_values = [](const Tensor& x, const std::vector<double>& right) {
      const std::vector<double> got = x.to_vector<double>();
      REQUIRE(got.size() == right.size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (right[i] == 0) {
          CHECK(got[i] == 0);
        } else {
          CHECK(std::abs(got[i] - right[i]) <= 5e-7);
        }
      }
    };
    check_values(a.y, {1.825042, 3.237563, 0, 0});
    check_values(q.grad(), {-0.428414, 0.514097, 0, 0});
    check_values(k.grad(), {-0.856828, 0, 0.856828, 0});
    check_values(v.grad(), {0.587479, 0.587479, 0.412521, 0.412521});
    if (weights) check_values(a.weights, {0.587479, 0.412521, 0, 0});
  }
}

TEST_CASE("a single key has weight one and query and key receive a gradient of exactly zero") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2});
  const Tensor x = random({1, 1, 4}, 1);
  const Attended a = module(x, {.weights = ReturnedWeights::after_dropout});
  CHECK(a.weights.to_vector<double>() == std::vector<double>{1, 1});
  const Tensor projected = module.output(module.value(x));
  CHECK(naive::distance(a.y, op_cases::numbers(projected)) <= kTolerance);
  for (const bool weights : {false, true}) {
    clear_gradients(module);
    const Tensor y =
        module(x, {.weights = weights ? ReturnedWeights::after_dropout : ReturnedWeights::none}).y;
    backward(y, random(y.shape(), 2));
    for (const Tensor& w :
         {module.query.weight, module.query.bias, module.key.weight, module.key.bias})
      for (const double g : w.grad().to_vector<double>()) CHECK(g == 0);
  }
}

TEST_CASE("queries in chunks equal all queries at once") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2});
  const Tensor query = random({2, 10, 4}, 1);
  const Tensor key = random({2, 7, 4}, 2);
  const Tensor whole = module(query, key, key).y;
  Tensors chunks;
  for (int64_t begin = 0; begin < 10; begin += 3)
    chunks.push_back(module(slice(query, 1, begin, std::min<int64_t>(begin + 3, 10)), key, key).y);
  CHECK(naive::distance(cat(chunks, 1), op_cases::numbers(whole)) <= kTolerance);
}

TEST_CASE("training drops weights and returns those that were mixed") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2, .dropout = 0.5});
  const Tensor x = random({2, 8, 4}, 1);
  Rng rng(3);
  const Attended trained = module(x, {.rng = &rng, .weights = ReturnedWeights::after_dropout});
  const std::vector<double> kept =
      module(x, {.weights = ReturnedWeights::after_dropout}).weights.to_vector<double>();
  const std::vector<double> dropped = trained.weights.to_vector<double>();
  int zeros = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    zeros += dropped[i] == 0;
    CHECK((dropped[i] == 0 || dropped[i] == doctest::Approx(2 * kept[i])));
  }
  CHECK(zeros > 90);  // of 256: below 91 has a probability of 2e-6
  CHECK(zeros < 166);
  const Tensor v = permute(reshape(module.value(x), {2, 8, 2, 2}), {0, 2, 1, 3});
  const Tensor mixed = reshape(permute(matmul(trained.weights, v), {0, 2, 1, 3}), {2, 8, 4});
  CHECK(naive::distance(trained.y, op_cases::numbers(module.output(mixed))) <= kTolerance);
  Rng again(3);
  CHECK(module(x, {.rng = &again}).y.to_vector<double>() == trained.y.to_vector<double>());
}

TEST_CASE("weights before dropout are those of the evaluation and what inspection sees") {
  MultiHeadAttention module = exact({.d_model = 4, .heads = 2, .dropout = 0.5});
  const Tensor x = random({2, 8, 4}, 1);
  const auto weights_of = [&](Rng* rng, ReturnedWeights which) {
    return module(x, {.rng = rng, .weights = which}).weights.to_vector<double>();
  };
  const auto right = weights_of(nullptr, ReturnedWeights::after_dropout);
  Rng rng(3);
  CHECK(weights_of(&rng, ReturnedWeights::before_dropout) == right);
  std::vector<Tensor> seen;
  module.attention.inspect = [&](const Tensor& weights) { seen.push_back(weights); };
  Rng one(3), other(3);
  const Tensor y = module(x, {.rng = &one}).y;
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].to_vector<double>() == right);
  CHECK_FALSE(seen[0].requires_grad());
  module.attention.inspect = nullptr;
  CHECK(module(x, {.rng = &other}).y.to_vector<double>() == y.to_vector<double>());
}

TEST_CASE("sequence first is batch first with two axes exchanged") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2});
  MultiHeadAttention exchanged = module;
  exchanged.batch_first = false;
  const auto swap = [](const Tensor& x) { return permute(x, {1, 0, 2}); };
  const Tensors x{random({2, 5, 4}, 1), random({2, 6, 4}, 2), random({2, 6, 4}, 3)};
  const Mask mask = Mask::padding(std::vector<int64_t>{4, 0}) & Mask::causal();
  for (const auto weights : {ReturnedWeights::none, ReturnedWeights::after_dropout}) {
    const Attended right = module(x[0], x[1], x[2], {.mask = mask, .weights = weights});
    const Attended found =
        exchanged(swap(x[0]), swap(x[1]), swap(x[2]), {.mask = mask, .weights = weights});
    CHECK(swap(found.y).to_vector<double>() == right.y.to_vector<double>());
    if (weights != ReturnedWeights::none)
      CHECK(found.weights.to_vector<double>() == right.weights.to_vector<double>());
  }
  CHECK_THROWS_WITH_AS(exchanged(x[0], x[1], random({2, 6, 3}, 3)),
                       "MultiHeadAttention: value must be [length, batch, 4], got f64[2, 6, 3]",
                       ShapeError);
}

TEST_CASE("a fill lets a query that may see nothing look at all keys alike") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2, .fill = -1e9});
  const Tensor x = random({1, 3, 4}, 1);
  const Mask mask = Mask::padding(std::vector<int64_t>{0});
  const Attended a = module(x, {.mask = mask, .weights = ReturnedWeights::after_dropout});
  CHECK(naive::distance(a.weights, op_cases::numbers(full({1, 2, 3, 3}, 1.0 / 3, DType::f64))) <=
        kTolerance);
  CHECK(naive::distance(module(x, {.mask = mask}).y, op_cases::numbers(a.y)) <= kTolerance);
  MultiHeadAttention infinite = module;
  infinite.attention.fill = -std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(infinite(x, {.mask = mask}), doctest::Contains("fill must be finite"),
                       ValueError);
}

TEST_CASE("without dropout training draws nothing") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2});
  const Tensor x = random({2, 3, 4}, 1);
  Rng rng(3);
  const RngState before = rng.state();
  CHECK(module(x, {.rng = &rng}).y.to_vector<double>() == module(x).y.to_vector<double>());
  CHECK(rng.state() == before);
}

TEST_CASE("sizes from which no heads can be made are refused with both numbers") {
  Rng rng(5);
  const auto make = [&](int64_t d_model, int64_t heads) {
    return MultiHeadAttention({.d_model = d_model, .heads = heads}, rng);
  };
  const char* text =
      "MultiHeadAttention: heads must divide d_model, got d_model = 10 and heads = 3; or set d_k "
      "and d_v";
  CHECK_THROWS_WITH_AS(make(10, 3), text, ValueError);
  CHECK_THROWS_WITH_AS(make(1600, 48), doctest::Contains("d_model = 1600 and heads = 48"),
                       ValueError);
  CHECK_THROWS_WITH_AS(make(10, 0), doctest::Contains("d_model = 10 and heads = 0"), ValueError);
  CHECK_THROWS_WITH_AS(make(0, 2), doctest::Contains("d_model = 0 and heads = 2"), ValueError);
  CHECK_NOTHROW(MultiHeadAttention({.d_model = 10, .heads = 3, .d_k = 4, .d_v = 2}, rng));
  CHECK_THROWS_AS(MultiHeadAttention({.d_model = 10, .heads = 3, .d_k = 4}, rng), ValueError);
  CHECK_THROWS_AS(MultiHeadAttention({.d_model = 4, .heads = 2, .d_k = -2, .d_v = 2}, rng),
                  ValueError);
  CHECK_THROWS_AS(MultiHeadAttention({.d_model = 4, .heads = 2, .d_k = -4}, rng), ValueError);
  CHECK_THROWS_AS(MultiHeadAttention({.d_model = 4, .heads = 2, .dropout = 1.5}, rng), ValueError);
}

TEST_CASE("inputs that do not fit are named") {
  const MultiHeadAttention module = exact({.d_model = 4, .heads = 2, .key_width = 3});
  const Tensor query = random({2, 5, 4}, 1);
  const Tensor key = random({2, 6, 3}, 2);
  const Tensor value = random({2, 6, 4}, 3);
  CHECK_NOTHROW(module(query, key, value));
  CHECK_THROWS_WITH_AS(module(query, query, value),
                       "MultiHeadAttention: key must be [batch, length, 3], got f64[2, 5, 4]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(module(select(query, 0, 0), key, value), doctest::Contains("query must be"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(module(query, key, query), doctest::Contains("keys as many as values"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(module(slice(query, 0, 0, 1), key, value),
                       doctest::Contains("batches must be equal"), ShapeError);
}

}  // namespace
}  // namespace attograd::nn

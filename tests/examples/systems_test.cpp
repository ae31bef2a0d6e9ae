// What the golden files cannot show of the systems: their errors, their dropout, what they keep.

#include <doctest/doctest.h>
#include <examples/systems/autoregressive.h>
#include <examples/systems/feed_forward.h>
#include <examples/systems/heads_first.h>
#include <examples/systems/plain.h>
#include <examples/systems/seq_first.h>
#include <tests/exact.h>

#include <attograd/core/create.h>

namespace attograd::systems {
namespace {

Tensor random(const Shape& shape, uint64_t seed = 1) {
  Rng rng(seed);
  return randn(shape, rng);
}

std::vector<float> numbers(const Tensor& x) { return x.to_vector<float>(); }

template <class T>
int64_t count_zeros(const std::vector<T>& values) {
  return std::count(values.begin(), values.end(), T{0});
}

TEST_CASE("each rule of the mask of system A has its own error") {
  Rng rng(1);
  SeqFirst attention({.heads = 2, .d_model = 4}, rng);
  const Tensor x = random({3, 2, 4}), memory = random({5, 2, 4});
  const auto call = [&](const Shape& mask) {
    return attention(
        {.query = x, .key = memory, .value = memory, .mask = full(mask, 1, DType::boolean)});
  };
  for (const Shape& mask : {Shape{3, 5, 2}, Shape{1, 5, 2}, Shape{3, 5, 1}, Shape{1, 5, 1}})
    CHECK(call(mask).shape() == x.shape());
  CHECK_THROWS_WITH_AS(call({3, 5}), doctest::Contains("[T or 1, S, B or 1], got bool[3, 5]"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(call({2, 5, 2}),
                       doctest::Contains("axis 0 of the mask must be 1 or the "
                                         "queries T = 3, got mask = bool[2, 5, 2]"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(call({3, 1, 2}),
                       doctest::Contains("axis 1 of the mask must be the keys S = 5"), ShapeError);
  CHECK_THROWS_WITH_AS(call({3, 5, 3}),
                       doctest::Contains("axis 2 of the mask must be 1 or the batch B = 2"),
                       ShapeError);
  CHECK_THROWS_AS(attention({.query = x, .key = x, .value = x, .mask = ones({3, 3, 1})}),
                  DTypeError);
  CHECK_THROWS_AS(attention({.query = select(x, 1, 0), .key = x, .value = x}), ShapeError);
  CHECK_THROWS_WITH_AS(attention({.query = select(x, 1, 0),
                                  .key = x,
                                  .value = x,
                                  .mask = full({1, 3, 1}, 1, DType::boolean)}),
                       doctest::Contains("query must be [T, B, C]"), ShapeError);
}

TEST_CASE("system A keeps the weights of its last call after dropout and shows them before") {
  Rng rng(1);
  SeqFirst attention({.heads = 2, .d_model = 4, .dropout = 0.5}, rng);
  CHECK_FALSE(attention.attn.defined());
  const Tensor x = random({6, 2, 4});
  attention({.query = x, .key = x, .value = x});
  const std::vector<float> whole = numbers(attention.attn);
  CHECK(attention.attn.shape() == Shape{6, 6, 2, 2});
  CHECK_FALSE(attention.attn.requires_grad());
  CHECK(count_zeros(whole) == 0);

  Tensor seen;
  attention.attention.attention.inspect = [&](const Tensor& weights) { seen = weights; };
  attention({.query = x, .key = x, .value = x, .rng = &rng});
  CHECK(numbers(permute(seen, {2, 3, 0, 1})) == whole);
  CHECK(count_zeros(numbers(attention.attn)) > 36);  // of 144: below has a probability of 1e-9
}

TEST_CASE("system A prepares heads for any leading axes") {
  Rng rng(1);
  const Prepare prepare(6, 3, 2, false, rng);
  CHECK(prepare(random({6})).shape() == Shape{3, 2});
  CHECK(prepare(random({4, 6})).shape() == Shape{4, 3, 2});
  CHECK(prepare(random({4, 0, 5, 6})).shape() == Shape{4, 0, 5, 3, 2});
}

TEST_CASE("the weights of system B drop out by 0.1 whatever drops out after fc") {
  Rng rng(1);
  const HeadsFirst attention({.n_head = 2, .d_model = 4, .d_k = 3, .d_v = 5, .dropout = 0}, rng);
  CHECK(attention.attention.attention.dropout.p == 0.1);
  const Tensor x = random({2, 30, 4});
  const auto [y, weights] =
      attention(x, x, x, {.rng = &rng, .weights = nn::ReturnedWeights::after_dropout});
  const int64_t zeros = count_zeros(numbers(weights));
  CHECK(zeros > 240);  // of 3600 about 360, with deviation 18
  CHECK(zeros < 480);

  const HeadsFirst dropping({.n_head = 2, .d_model = 4, .d_k = 3, .d_v = 5, .dropout = 1}, rng);
  CHECK(numbers(dropping(x, x, x, {.rng = &rng}).y) == numbers(x));  // the residual is left
}

TEST_CASE("system C drops out its branch and not its residual") {
  Rng rng(1);
  const PositionwiseFeedForward feed_forward(4, 8, rng, 1.0);
  const Tensor x = random({2, 3, 4});
  CHECK(numbers(feed_forward(x, &rng)) == numbers(x));
  CHECK(numbers(feed_forward(x)) != numbers(x));
}

TEST_CASE("system D refuses a width that the heads do not divide") {
  Rng rng(1);
  CHECK_THROWS_WITH_AS(Plain(10, 3, rng), doctest::Contains("d_model = 10 and heads = 3"),
                       ValueError);
}

TEST_CASE("system F continues a prompt of its own and sees nothing of the future") {
  Rng rng(1);
  Autoregressive model({.vocab = 7, .d_model = 8, .heads = 2, .d_ff = 6, .layers = 2}, rng);
  const Tensor prompt = from_values({3, 2}, std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  const Tensor text = continue_greedily(model, prompt, 4);
  CHECK(text.shape() == Shape{7, 2});
  CHECK(slice(text, 0, 0, 3).to_vector<int64_t>() == prompt.to_vector<int64_t>());
  CHECK(continue_greedily(model, prompt, 0).to_vector<int64_t>() == prompt.to_vector<int64_t>());
  const Tensor other = cat({slice(text, 0, 0, 5), full({2, 2}, 0, DType::i64)}, 0);
  CHECK(numbers(slice(model(other), 0, 0, 5)) == numbers(slice(model(text), 0, 0, 5)));
  CHECK_THROWS_AS(model(full({3, 2}, 7, DType::i64)), IndexError);
  CHECK_THROWS_WITH_AS(model(full({3}, 1, DType::i64)),
                       "autoregressive: tokens must be [T, B] with T > 0, got i64[3]", ShapeError);
}

}  // namespace
}  // namespace attograd::systems

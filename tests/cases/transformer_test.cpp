// Transformer layers: sizes, contexts, causality, dropout.

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>
#include <tests/close.h>

#include <attograd/nn/generate.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/module.h>
#include <attograd/nn/positions.h>

namespace attograd::nn {
namespace {

const GptOptions kSmall{.vocabulary = 5, .context = 8, .layers = 2, .heads = 2, .width = 6};

Gpt model(const GptOptions& options = kSmall, DType dtype = DType::f64) {
  Rng rng(5);
  const Gpt gpt = to(Gpt(options, rng), dtype);
  for (Tensor w : parameters(gpt)) w.assign(w + randn(w.shape(), rng, dtype));
  return gpt;
}

Tensor some_ids(int64_t length, uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < length; ++i) ids.push_back(rng.below(kSmall.vocabulary));
  return from_values({1, length}, ids);
}

Tensor random(const Shape& shape, uint64_t seed, DType dtype = DType::f64) {
  Rng rng(seed);
  return randn(shape, rng, dtype);
}

TEST_CASE("TRF-01 sizes from which no heads can be made are refused with both numbers") {
  const auto error_of = [](int64_t d_model, int64_t heads) {
    Rng rng(5);
    return message_of<ValueError>(
        [&] { MultiHeadAttention({.d_model = d_model, .heads = heads}, rng); });
  };
  const auto numbers = [](const std::string& text) { return text.substr(text.find("got ")); };
  CHECK(error_of(10, 3).starts_with("MultiHeadAttention: heads must divide d_model"));
  CHECK(numbers(error_of(10, 3)).starts_with("got d_model = 10 and heads = 3"));
  CHECK(numbers(error_of(1600, 48)).starts_with("got d_model = 1600 and heads = 48"));
  CHECK(numbers(error_of(10, 0)).starts_with("got d_model = 10 and heads = 0"));
  CHECK(numbers(error_of(0, 2)).starts_with("got d_model = 0 and heads = 2"));
}

TEST_CASE("TRF-02 the context is the longest length and an empty text is refused") {
  const Gpt gpt = model();
  for (const int64_t length : {1, 8}) CHECK(gpt(some_ids(length)).shape() == Shape{1, length, 5});
  CHECK_THROWS_WITH_AS(gpt(some_ids(9)),
                       "LearnedPositions: the length of a sequence must be in [1, longest = 8], "
                       "got 9; pass the last 8",
                       ShapeError);
  CHECK_THROWS_WITH_AS(gpt(some_ids(0)), doctest::Contains("[1, longest = 8], got 0"), ShapeError);
}

TEST_CASE("TRF-02 a text is continued by what follows its last context ids") {
  const Gpt gpt = model();
  std::vector<int64_t> right{1, 2, 3, 4, 0, 1, 2};
  Rng rng(1);
  const std::vector<int64_t> text = generate(gpt, right, 20, rng, {.temperature = 0});
  for (int i = 0; i < 20; ++i) {
    const auto length = std::min<std::ptrdiff_t>(std::ssize(right), 8);
    const std::vector<int64_t> seen(right.end() - length, right.end());
    const std::vector<double> all = gpt(from_values({1, length}, seen)).to_vector<double>();
    right.push_back(std::max_element(all.end() - 5, all.end()) - (all.end() - 5));
  }
  CHECK(text.size() == 27);
  CHECK(text == right);
}

TEST_CASE("TRF-04 no position sees a later token") {
  const Gpt gpt = model();
  const Tensor ids = some_ids(6);
  const Tensor changed = Tensor(ids.array().copy());
  Tensor(changed).mutable_data<int64_t>()[4] = (ids.data<int64_t>()[4] + 1) % kSmall.vocabulary;
  const Tensor before = gpt(ids), after = gpt(changed);
  for (int64_t t = 0; t < 6; ++t) {
    const bool same = values_of(select(before, 1, t)) == values_of(select(after, 1, t));
    CHECK(same == (t < 4));
  }
}

TEST_CASE("TRF-04 no gradient reaches a later position") {
  const Gpt gpt = model();
  const Tensor at_two = select(gpt(some_ids(6)), 1, 2);
  backward(at_two, random(at_two.shape(), 3));
  // Each position has an embedding of its own, which is added to the token's.
  const Tensor g = gpt.position_embedding.weight.grad();
  for (int64_t t = 0; t < 8; ++t)
    for (const double v : values_of(select(g, 0, t))) CHECK((v == 0) == (t > 2));
}

TEST_CASE("TRF-05 an odd width has one sine more than cosines") {
  check_close(sinusoid(2, 5, DType::f64), {0, 1, 0, 1, 0, 0.841470984808, 0.540302305868,
                                           0.0251162229098, 0.999684537917, 0.000630957302615});
}

TEST_CASE("TRF-07 a single key has weight 1 and query and key no gradient") {
  Rng rng(5);
  const MultiHeadAttention module =
      to(MultiHeadAttention({.d_model = 4, .heads = 2}, rng), DType::f64);
  const Tensor x = random({1, 1, 4}, 1);
  CHECK(values_of(attention_weights(random({1, 2, 1, 2}, 2), random({1, 2, 1, 2}, 3))) ==
        std::vector<double>{1, 1});
  const Tensor y = module(x).y;
  check_close(y, values_of(module.output(module.value(x))));
  backward(y, random(y.shape(), 2));
  for (const Tensor& w :
       {module.query.weight, module.query.bias, module.key.weight, module.key.bias})
    for (const double g : values_of(w.grad())) CHECK(g == 0);
  CHECK(max(abs(module.value.weight.grad())).item() > 0);
}

TEST_CASE("TRF-07 queries in chunks equal all queries at once") {
  for (const DType dtype : kFloating) {
    Rng rng(5);
    const MultiHeadAttention module =
        to(MultiHeadAttention({.d_model = 4, .heads = 2}, rng), dtype);
    const Tensor query = random({2, 10, 4}, 1, dtype), key = random({2, 7, 4}, 2, dtype);
    const Tensor whole = module(query, key, key).y;
    Tensors chunks;
    for (int64_t begin = 0; begin < 10; begin += 3) {
      const Tensor chunk = slice(query, 1, begin, std::min<int64_t>(begin + 3, 10));
      chunks.push_back(module(chunk, key, key).y);
    }
    check_close(cat(chunks, 1), values_of(cast(whole, DType::f64)));
  }
}

TEST_CASE("DRP-03 evaluation with dropout everywhere equals a model without and draws nothing") {
  GptOptions options = kSmall;
  options.dropout = 0.5;
  const Gpt with = model(options), without = model();
  const Tensor ids = some_ids(8);
  Rng rng(1);
  const RngState before = rng.state();
  const std::vector<double> y = values_of(with(ids));
  CHECK(values_of(with(ids)) == y);
  CHECK(values_of(without(ids)) == y);
  CHECK(values_of(without(ids, &rng)) == y);
  CHECK(rng.state() == before);
  CHECK(values_of(with(ids, &rng)) != y);
}

}  // namespace
}  // namespace attograd::nn

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/nn/generate.h>
#include <attograd/nn/module.h>

namespace attograd::nn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("temperature 0 takes the likeliest and draws nothing") {
  Rng rng(1);
  const RngState before = rng.state();
  CHECK(sample(tensor({0, 3, 1, 3}), rng, {.temperature = 0}) == 1);
  CHECK(rng.state() == before);
}

/// How often each id came in 20,000 draws.
std::map<int64_t, double> frequencies(const Tensor& logits, const SampleOptions& options) {
  Rng rng(1);
  std::map<int64_t, double> counts;
  for (int i = 0; i < 20'000; ++i) counts[sample(logits, rng, options)] += 1 / 20'000.0;
  return counts;
}

TEST_CASE("ids are drawn by their probabilities") {
  // A frequency near 1/2 has a standard error of 0.0035.
  const Tensor logits = log(tensor({1, 4, 3}) / 8.0);
  auto seen = frequencies(logits, {});
  CHECK(std::abs(seen[0] - 1 / 8.0) < 0.015);
  CHECK(std::abs(seen[1] - 4 / 8.0) < 0.015);
  CHECK(std::abs(seen[2] - 3 / 8.0) < 0.015);
  seen = frequencies(logits, {.temperature = 0.5});  // squares: 1, 16, 9 of 26
  CHECK(std::abs(seen[0] - 1 / 26.0) < 0.015);
  CHECK(std::abs(seen[1] - 16 / 26.0) < 0.015);
}

TEST_CASE("top_k leaves the likeliest and a large one leaves all") {
  const Tensor logits = log(tensor({1, 4, 3}) / 8.0);
  auto seen = frequencies(logits, {.top_k = 2});
  CHECK(seen.size() == 2);
  CHECK(std::abs(seen[1] - 4 / 7.0) < 0.015);
  CHECK(std::abs(seen[2] - 3 / 7.0) < 0.015);
  CHECK(frequencies(logits, {.top_k = 1}).size() == 1);
  CHECK(frequencies(logits, {.top_k = 100}).size() == 3);
}

TEST_CASE("an id of probability 0 is never drawn and large logits do not overflow") {
  CHECK(frequencies(tensor({-kInf, 1, -kInf, 1}), {}).size() == 2);
  CHECK(frequencies(tensor({1000, 999, -1000}), {}).size() == 2);
  CHECK(frequencies(tensor({1, 0}), {.temperature = 1e-300}).size() == 1);
}

TEST_CASE("what cannot be sampled is refused") {
  Rng rng(1);
  CHECK_THROWS_AS(sample(tensor({1, kNaN}), rng), NumericError);
  CHECK_THROWS_AS(sample(tensor({1, kInf}), rng), NumericError);
  CHECK_THROWS_AS(sample(tensor({-kInf, -kInf}), rng), NumericError);
  CHECK_THROWS_AS(sample(zeros({0}), rng), ShapeError);
  CHECK_THROWS_AS(sample(zeros({1, 3}), rng), ShapeError);
  CHECK_THROWS_AS(sample(zeros({3}), rng, {.temperature = -1}), ValueError);
  CHECK_THROWS_AS(sample(zeros({3}), rng, {.temperature = kNaN}), ValueError);
  CHECK_THROWS_AS(sample(zeros({3}), rng, {.top_k = -1}), ValueError);
}

const GptOptions kSmall{.vocabulary = 5, .context = 8, .layers = 1, .heads = 1, .width = 4};

Gpt model() {
  Rng rng(5);
  const Gpt gpt(kSmall, rng);
  for (Tensor w : parameters(gpt)) w.assign(w + randn(w.shape(), rng));
  return gpt;
}

TEST_CASE("one seed writes one text and the callback ends it") {
  const Gpt gpt = model();
  Rng a(3);
  Rng b(3);
  const std::vector<int64_t> text = generate(gpt, {0}, 30, a);
  std::vector<int64_t> seen;
  const std::vector<int64_t> ended = generate(gpt, {0}, 30, b, {}, [&](int64_t id) {
    seen.push_back(id);
    return seen.size() < 5;
  });
  CHECK(seen == std::vector<int64_t>(text.begin() + 1, text.begin() + 6));
  CHECK(ended == std::vector<int64_t>(text.begin(), text.begin() + 6));
  CHECK_THROWS_AS(generate(gpt, {}, 1, a), ShapeError);
  CHECK_THROWS_AS(generate(gpt, {5}, 1, a), IndexError);
}

}  // namespace
}  // namespace attograd::nn

#include <limits>

#include <tests/close.h>

using namespace attograd;

TEST_CASE("dropout without a generator or with probability 0 is x itself and draws nothing") {
  Rng rng(1);
  const RngState before = rng.state();
  const Tensor x = zeros({2}).set_requires_grad();
  CHECK_EQ(dropout(x, 0, &rng).node(), x.node());
  CHECK_EQ(dropout(x, 0.5, nullptr).node(), x.node());
  CHECK(rng.state() == before);
}

TEST_CASE("dropout keeps the promised share and the mean") {
  Rng rng(1);
  constexpr int64_t kN = 1000000;
  const Tensor y = dropout(ones({kN}), 0.25, &rng);
  const double kept = sum(cast(y > 0, DType::i64)).item() / kN;
  CHECK_LE(std::abs(kept - 0.75), 0.0022);  // 5 deviations of sqrt(0.25 0.75 / n)
  CHECK_LE(std::abs(mean(y).item() - 1), 0.003);
}

TEST_CASE("dropout draws anew at every call and the same again from the same state") {
  Rng rng(1);
  const RngState before = rng.state();
  const Tensor x = ones({1000});
  const auto first = dropout(x, 0.5, &rng).to_vector<float>();
  CHECK(dropout(x, 0.5, &rng).to_vector<float>() != first);
  rng.set_state(before);
  CHECK(dropout(x, 0.5, &rng).to_vector<float>() == first);
}

TEST_CASE("dropout passes gradients exactly where it kept") {
  for (const bool recorded : {false, true}) {
    Rng rng(3);
    const Tensor x = ones({1000}).set_requires_grad();
    const Tensor y = dropout(x, 0.4, &rng);
    const Tensor g = pulled_back(y, ones({1000}), {x}, recorded)[0];
    CHECK_EQ(g.to_vector<float>(), y.to_vector<float>());
  }
}

TEST_CASE("dropout leaves no trace of what it dropped") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const bool recorded : {false, true}) {
    Rng rng(3);
    const Tensor x = full({100}, inf).set_requires_grad();
    const Tensor y = dropout(x, 0.5, &rng);
    const Tensor g = pulled_back(y, full({100}, inf), {x}, recorded)[0];
    const auto values = y.to_vector<float>(), gradients = g.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      CHECK((values[i] == 0 || std::isinf(values[i])));
      CHECK_EQ(gradients[i], values[i]);
    }
  }
}

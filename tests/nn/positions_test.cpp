#include <doctest/doctest.h>
#include <tests/close.h>

#include <attograd/nn/positions.h>

namespace attograd::nn {
namespace {

TEST_CASE("sinusoids are those of the formula") {
  // sin and cos of t / 10000^(2i / C), by Python's math.
  check_close(select(sinusoid(4, 4), 0, 3),
              {0.14112000806, -0.9899924966, 0.0299955002025, 0.999550033749});
  check_close(sinusoid(3, 1), {0, 0.841470984808, 0.909297426826});
  CHECK(sinusoid(0, 3).shape() == Shape{0, 3});
  CHECK(sinusoid(2, 3).dtype() == DType::f32);
}

TEST_CASE("sinusoids of sizes and dtypes that cannot be are refused") {
  CHECK_THROWS_WITH_AS(sinusoid(-1, 4),
                       "sinusoid: the length must be >= 0 and the width > 0, got -1 and 4",
                       ValueError);
  CHECK_THROWS_AS(sinusoid(1, 0), ValueError);
  CHECK_THROWS_AS(sinusoid(1, 2, DType::i64), DTypeError);
}

TEST_CASE("learned positions are the first rows and too many are refused with both lengths") {
  Rng rng(5);
  const LearnedPositions positions(8, 2, rng);
  const std::vector<float> rows = positions.weight.to_vector<float>();
  CHECK(positions(1).to_vector<float>() == std::vector<float>{rows[0], rows[1]});
  CHECK(positions(8).to_vector<float>() == rows);
  const char* const message =
      "LearnedPositions: the length of a sequence must be in [1, longest = 8], got 9; pass the "
      "last 8";
  CHECK_THROWS_WITH_AS(positions(9), message, ShapeError);
  CHECK_THROWS_WITH_AS(positions(0), doctest::Contains("got 0"), ShapeError);
  CHECK_THROWS_WITH_AS(LearnedPositions(0, 2, rng),
                       "LearnedPositions: sizes must be > 0, got longest = 0 and width = 2",
                       ValueError);
}

}  // namespace
}  // namespace attograd::nn

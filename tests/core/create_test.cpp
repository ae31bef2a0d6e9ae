#include <limits>

#include <doctest/doctest.h>

#include <attograd/core/create.h>

using namespace attograd;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

using Ids = std::vector<int64_t>;

Ids range(int64_t begin, int64_t end, int64_t step = 1) {
  return arange(begin, end, step).to_vector<int64_t>();
}

}  // namespace

TEST_CASE("literals are f32 constants in row-major order") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(x.dtype() == DType::f32);
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK_FALSE(x.requires_grad());
  CHECK(tensor(2.5).shape() == Shape{});
  CHECK(tensor(2.5).item() == 2.5);
  CHECK(tensor({1.5}, DType::f64).to_vector<double>() == std::vector{1.5});
  CHECK_THROWS_WITH_AS(tensor({{1, 2}, {3}}), "tensor: rows must have one length, got 2 and 1",
                       ShapeError);
}

TEST_CASE("values must be as many as the shape says") {
  CHECK_THROWS_WITH_AS(from_values({2, 3}, std::vector<double>(5)),
                       "from_values: [2, 3] needs 6 values, got 5", ShapeError);
  CHECK_THROWS_AS(from_values({1}, std::vector<int64_t>{}), ShapeError);
  CHECK(from_values({0, 3}, std::vector<double>{}).numel() == 0);
  CHECK(from_values({2}, std::vector<bool>{true, false}).dtype() == DType::boolean);
  CHECK(from_values({1}, Ids{kMax}).to_vector<int64_t>() == Ids{kMax});
  CHECK_THROWS_AS(from_values({1}, std::vector<double>{1}, DType::i64), DTypeError);
}

TEST_CASE("filled tensors") {
  CHECK(zeros({2, 2}).to_vector<float>() == std::vector<float>(4, 0));
  CHECK(ones({3}, DType::i64).to_vector<int64_t>() == Ids{1, 1, 1});
  CHECK(full({2}, 0.5, DType::f64).to_vector<double>() == std::vector{0.5, 0.5});
  CHECK(zeros_like(ones({2}, DType::f64)).dtype() == DType::f64);
  CHECK(ones_like(zeros({2, 0})).shape() == Shape{2, 0});
  CHECK_THROWS_AS(zeros({2, -1}), ShapeError);
  CHECK_THROWS_AS(full({2}, 0.5, DType::i64), ValueError);
}

TEST_CASE("ranges go up and down and never past their end") {
  CHECK(range(0, 4) == Ids{0, 1, 2, 3});
  CHECK(range(1, 8, 3) == Ids{1, 4, 7});
  CHECK(range(1, 7, 3) == Ids{1, 4});
  CHECK(range(5, 0, -2) == Ids{5, 3, 1});
  CHECK(range(3, 3).empty());
  CHECK(range(3, 0).empty());
  CHECK(range(0, 3, -1).empty());
  CHECK_THROWS_AS(arange(0, 3, 0), ValueError);
}

TEST_CASE("ranges at the ends of the integers do not overflow") {
  CHECK(range(kMax - 1, kMax, 5) == Ids{kMax - 1});
  CHECK(range(kMin, kMax, kMax) == Ids{kMin, -1, kMax - 1});
  CHECK(range(kMin + 1, kMin, -3) == Ids{kMin + 1});
  CHECK(range(kMax, kMin, kMin) == Ids{kMax, -1});
  CHECK_THROWS_AS(arange(kMin, kMax), ShapeError);
}

TEST_CASE("the identity matrix") {
  CHECK(eye(2).to_vector<float>() == std::vector<float>{1, 0, 0, 1});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK_THROWS_AS(eye(-1), ShapeError);
}

#include <limits>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/ops/parts.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

bool is_view(const Tensor& y, const Tensor& x) { return y.array().shares_storage_with(x.array()); }

}  // namespace

TEST_CASE("slice takes every step-th place from begin to below end") {
  const Tensor x = counted({10});
  for (int64_t begin = 0; begin <= 10; ++begin)
    for (int64_t end = begin; end <= 10; ++end)
      for (int64_t step : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{11}, kMax}) {
        Values expected;
        for (int64_t i = begin; i < end; i += std::min<int64_t>(step, 100))
          expected.push_back(static_cast<double>(i));
        CHECK(values_of(slice(x, 0, begin, end, step)) == expected);
      }
  CHECK(is_view(slice(x, 0, 2, 7, 2), x));
}

TEST_CASE("places of a slice count from the end when negative") {
  const Tensor x = counted({2, 5});
  CHECK(values_of(slice(x, -1, -2)) == Values{3, 4, 8, 9});
  CHECK(values_of(slice(x, 1, 1, -1)) == Values{1, 2, 3, 6, 7, 8});
  CHECK(slice(x, 1, 5).shape() == Shape{2, 0});
  CHECK(slice(slice(x, 0, 2), 1, 5).shape() == Shape{0, 0});
  CHECK(slice(counted({0}), 0, 0).shape() == Shape{0});
}

TEST_CASE("a slice outside the axis is an error and never clipped") {
  const Tensor x = counted({2, 5});
  for (int64_t begin : {int64_t{6}, int64_t{-6}, kMax, kMin})
    CHECK_THROWS_AS(slice(x, 1, begin), IndexError);
  for (int64_t end : {int64_t{6}, int64_t{-6}, int64_t{1}, kMin})
    CHECK_THROWS_AS(slice(x, 1, 2, end), IndexError);
  for (int64_t step : {int64_t{0}, int64_t{-1}, kMin})
    CHECK_THROWS_AS(slice(x, 1, 0, 5, step), ValueError);
  CHECK_THROWS_AS(slice(x, 2, 0), ShapeError);
  CHECK_THROWS_AS(slice(counted({}), 0, 0), ShapeError);
}

TEST_CASE("select drops the axis that it takes one place of") {
  const Tensor x = counted({2, 3});
  CHECK(values_of(select(x, 0, 1)) == Values{3, 4, 5});
  CHECK(values_of(select(x, 1, -1)) == Values{2, 5});
  CHECK(is_view(select(x, 1, 0), x));
  CHECK(select(counted({4}), 0, 3).item() == 3);
  for (int64_t index : {int64_t{3}, int64_t{-4}, kMax, kMin})
    CHECK_THROWS_AS(select(x, 1, index), IndexError);
}

TEST_CASE("split gives parts of one size or of given sizes") {
  const Tensor x = counted({2, 5});
  const Tensors even = split(x, 1, 2);
  REQUIRE(even.size() == 3);
  CHECK(values_of(even[1]) == Values{2, 3, 7, 8});
  CHECK(even[2].shape() == Shape{2, 1});
  CHECK(is_view(even[2], x));
  const Tensors parts = split(x, -1, {4, 0, 1});
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].shape() == Shape{2, 0});
  CHECK(values_of(parts[2]) == Values{4, 9});
  CHECK(split(x, 1, kMax).size() == 1);
  CHECK(split(counted({0}), 0, 2).empty());
  CHECK_THROWS_AS(split(x, 1, {2, 2}), ShapeError);
  CHECK_THROWS_AS(split(x, 1, {6, -1}), ShapeError);
  CHECK_THROWS_AS(split(x, 1, {3, 3}), ShapeError);
}

TEST_CASE("cat joins what split parted") {
  const Tensor x = counted({3, 7, 2});
  CHECK(values_of(cat(split(x, 1, {1, 0, 4, 2}), 1)) == values_of(x));
  CHECK(values_of(cat({transpose(counted({2, 2})), counted({1, 2})}, 0)) ==
        Values{0, 2, 1, 3, 0, 1});
  const Tensor once = counted({2});
  CHECK(values_of(cat({once, once})) == Values{0, 1, 0, 1});
}

TEST_CASE("stack puts tensors along a new axis") {
  const Tensors x{tensor({1, 2}, DType::f64), tensor({3, 4}, DType::f64)};
  CHECK(values_of(stack(x)) == Values{1, 2, 3, 4});
  CHECK(values_of(stack(x, -1)) == Values{1, 3, 2, 4});
  CHECK(stack({counted({}), counted({})}).shape() == Shape{2});
}

TEST_CASE("pad puts zeros around and slice takes them off") {
  const Tensor x = counted({2, 2});
  CHECK(values_of(pad(x, 1, 1, 2)) == Values{0, 0, 1, 0, 0, 0, 2, 3, 0, 0});
  CHECK(values_of(slice(pad(x, 0, 3, 1), 0, 3, 5)) == values_of(x));
  CHECK(values_of(pad(counted({0}), 0, 1, 1)) == Values{0, 0});
  CHECK_THROWS_AS(pad(x, 0, -1, 0), ShapeError);
  CHECK_THROWS_AS(pad(x, 0, kMax, kMax), ShapeError);
}

TEST_CASE("triangles keep one side of every diagonal") {
  const Tensor x = random_integers({2, 3, 4}, 3);
  const Values v = values_of(x);
  for (int64_t diagonal :
       {int64_t{-5}, int64_t{-3}, int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{4}, kMax, kMin}) {
    const Values lower = values_of(tril(x, diagonal)), upper = values_of(triu(x, diagonal));
    for (int64_t at = 0; at < 24; ++at) {
      const int64_t above = at % 4 - at / 4 % 3;
      const auto i = static_cast<size_t>(at);
      CHECK(lower[i] == (above <= diagonal ? v[i] : 0));
      CHECK(upper[i] == (above >= diagonal ? v[i] : 0));
    }
  }
  CHECK(values_of(tril(transpose(counted({2, 2})))) == Values{0, 0, 1, 3});
  CHECK(tril(counted({0, 3})).shape() == Shape{0, 3});
  CHECK(tril(counted({3, 0})).shape() == Shape{3, 0});
}

TEST_CASE("what a triangle discards is 0 even where it was NaN") {
  const Tensor x = full({2, 2}, kNaN, DType::f64);
  CHECK(values_of(tril(x))[1] == 0);
  CHECK(std::isnan(values_of(tril(x))[0]));
  CHECK(values_of(triu(x))[2] == 0);
}

TEST_CASE("gradients of parts are their adjoints") {
  CHECK(adjoint_gap([](const Tensor& x) { return slice(x, 1, 1, 8, 3); }, {2, 9}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return slice(x, 0, 2, 2); }, {3, 2}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return select(x, -1, -2); }, {2, 3}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return pad(x, 0, 2, 1); }, {2, 3}) == 0);
  CHECK(adjoint_gap(
            [](const Tensor& x) {
              return cat({x, slice(x, 1, 0, 1), x}, 1);
            },
            {2, 3}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return stack({x, transpose(x)}, 1); }, {3, 3}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return tril(x, -1); }, {2, 3, 4}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return triu(x, 1); }, {2, 3, 4}) == 0);
}

TEST_CASE("the gradient of a slice is differentiable again") {
  const Tensor x = random_integers({5}, 4).set_requires_grad();
  const Tensor y = slice(x, 0, 1, 5, 2);
  const Tensor first = grad({sum(y * y * y)}, {x}, {.create_graph = true})[0];
  const Tensor second = grad({first}, {x}, {}, {tensor({1, 2, 3, 4, 5}, DType::f64)})[0];
  const Values v = values_of(x);
  CHECK(values_of(second) == Values{0, 2 * 6 * v[1], 0, 4 * 6 * v[3], 0});
}

TEST_CASE("sizes that cannot be added up are refused by cat") {
  const Tensor half = zeros({int64_t{1} << 62, 0});
  CHECK(cat({half, zeros({5, 0})}).shape() == Shape{(int64_t{1} << 62) + 5, 0});
  CHECK(message_of<ShapeError>([&] {
          cat({half, half});
        }) ==
        "cat: sizes must add up to less than 2^63, got 2 tensors like f32[4611686018427387904, 0]");
}

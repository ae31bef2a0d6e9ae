#include <limits>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/shape.h>

using namespace attograd;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Axes axes(std::initializer_list<int64_t> list) { return {list}; }

}  // namespace

TEST_CASE("a shape knows its sizes and prints them") {
  Shape shape{2, 0, 5};
  CHECK(shape.rank() == 3);
  CHECK(shape.dim(-1) == 5);
  CHECK(shape.dim(0) == 2);
  CHECK(shape.numel() == 0);
  CHECK(Shape{}.numel() == 1);
  std::ostringstream text;
  text << shape << Shape{} << Shape{-1};
  CHECK(text.str() == "[2, 0, 5][][-1]");
  shape.insert(1, 7);
  CHECK(shape == Shape{2, 7, 0, 5});
  shape.erase(0);
  shape.append(1);
  CHECK(shape == Shape{7, 0, 5, 1});
  CHECK_FALSE(shape == Shape{7, 0, 5});
}

TEST_CASE("axes outside the rank are refused") {
  const Shape shape{2, 3};
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, kMax, -kMax - 1})
    CHECK_THROWS_AS(shape.dim(axis), ShapeError);
  CHECK_THROWS_WITH_AS(normalize_axis("softmax", 2, 2), "softmax: axis must be in [-2, 2), got 2",
                       ShapeError);
  CHECK_THROWS_AS(normalize_axis("softmax", 0, 0), ShapeError);
}

TEST_CASE("there are at most eight axes") {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(shape.numel() == 40320);
  CHECK_THROWS_AS(shape.append(9), ShapeError);
  CHECK_THROWS_AS((Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}), ShapeError);
}

TEST_CASE("numbers of elements beyond 63 bits are refused even next to a zero") {
  CHECK((Shape{kMax}.numel()) == kMax);
  CHECK_THROWS_AS((Shape{kMax, 2}.numel()), ShapeError);
  CHECK_THROWS_AS((Shape{0, kMax, 2}.numel()), ShapeError);
  CHECK_THROWS_WITH_AS((Shape{2, -1}.numel()), "shape: sizes must be >= 0, got [2, -1]",
                       ShapeError);
}

TEST_CASE("shapes broadcast as in NumPy") {
  const auto broadcast = [](const Shape& a, const Shape& b) {
    return broadcast_shapes("add", a, b);
  };
  CHECK(broadcast({2, 1, 4}, {3, 1}) == Shape{2, 3, 4});
  CHECK(broadcast({}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast({0, 3}, {1, 3}) == Shape{0, 3});
  CHECK(broadcast({1}, {0}) == Shape{0});
  CHECK(broadcast({5}, {}) == Shape{5});
  CHECK_THROWS_AS(broadcast({2, 3}, {2}), ShapeError);
  CHECK_THROWS_AS(broadcast({0}, {2}), ShapeError);
  CHECK_THROWS_WITH_AS(broadcast({3}, {4}),
                       "add: shapes must broadcast (aligned at the end: equal, or one of them 1), "
                       "got [3] and [4]",
                       ShapeError);
}

TEST_CASE("axes of a reduction are all or some and never twice") {
  const auto resolved = [](const Axes& list) {
    const auto flags = list.resolve("sum", 3);
    return std::vector<bool>(flags.begin(), flags.begin() + 3);
  };
  CHECK(resolved({}) == std::vector{true, true, true});
  CHECK(resolved(-1) == std::vector{false, false, true});
  CHECK(resolved(axes({0, -1})) == std::vector{true, false, true});
  CHECK_THROWS_WITH_AS(resolved(axes({1, -2})), "sum: axes must differ, got axis -2 twice",
                       ShapeError);
  CHECK_THROWS_AS(resolved(3), ShapeError);
  CHECK(reduced_shape({2, 3, 4}, axes({0, 2}).resolve("sum", 3), false) == Shape{3});
  CHECK(reduced_shape({2, 3, 4}, axes({0, 2}).resolve("sum", 3), true) == Shape{1, 3, 1});
}

TEST_CASE("strides of row-major order") {
  CHECK(contiguous_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(contiguous_strides({}) == Strides{});
}

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <attograd/core/array.h>

using namespace attograd;

namespace {

/// 0, 1, 2 ... in row-major order.
Array counted(const Shape& shape) {
  Array x(shape, DType::f64);
  auto* data = x.mutable_data<double>();
  for (int64_t i = 0; i < x.numel(); ++i) data[i] = static_cast<double>(i);
  return x;
}

template <class T = double>
std::vector<T> values_of(const Array& x) {
  const Array row_major = x.contiguous();
  return std::vector<T>(row_major.data<T>(), row_major.data<T>() + x.numel());
}

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("an array without elements and one with a single one") {
  const Array empty({2, 0, 3}, DType::f32);
  CHECK(empty.numel() == 0);
  CHECK(empty.is_contiguous());
  CHECK(values_of<float>(empty.copy()).empty());
  const Array scalar = Array::filled({}, DType::i64, 7);
  CHECK(scalar.rank() == 0);
  CHECK(values_of<int64_t>(scalar) == std::vector<int64_t>{7});
  CHECK_FALSE(Array().defined());
}

TEST_CASE("a fill that the dtype cannot hold is refused") {
  CHECK_THROWS_WITH_AS(Array::filled({2}, DType::i64, 0.5),
                       "filled: 0.5 is not a number that i64 can hold", ValueError);
  CHECK_THROWS_AS(Array::filled({2}, DType::i64, NAN), ValueError);
  CHECK_THROWS_AS(Array::filled({2}, DType::i64, kInf), ValueError);
  CHECK_THROWS_AS(Array::filled({2}, DType::boolean, 2), ValueError);
  CHECK(std::isnan(Array::filled({}, DType::f32, NAN).data<float>()[0]));
}

TEST_CASE("arrays that cannot fit into memory are refused") {
  const int64_t huge = int64_t{1} << 62;
  CHECK_THROWS_AS(Array({huge}, DType::f64), ShapeError);
  CHECK_THROWS_AS(Array({huge, huge}, DType::f32), ShapeError);
  CHECK_THROWS_AS(Array({-1}, DType::f32), ShapeError);
}

TEST_CASE("the element type must be named right") {
  Array x({2}, DType::f32);
  CHECK_THROWS_WITH_AS(x.data<double>(), "data: the elements are f32, asked for f64", DTypeError);
  CHECK_THROWS_AS(x.mutable_data<int64_t>(), DTypeError);
}

TEST_CASE("views share memory and their order is kept when made contiguous") {
  const Array x = counted({2, 3});
  const Array transposed = x.view({3, 2}, {1, 3});
  CHECK_FALSE(transposed.is_contiguous());
  CHECK(transposed.shares_storage_with(x));
  CHECK(values_of(transposed) == Values{0, 3, 1, 4, 2, 5});
  const Array column = transposed.view({2}, {3}, 1);
  CHECK(values_of(column) == Values{1, 4});
  CHECK(column.offset() == 1);
  CHECK_FALSE(transposed.contiguous().shares_storage_with(x));
  CHECK(x.contiguous().shares_storage_with(x));
  CHECK_FALSE(x.copy().shares_storage_with(x));
}

TEST_CASE("strides of axes of size one do not matter to contiguity") {
  const Array x = counted({4, 3});
  CHECK(x.view({1, 3}, {99, 1}, 3).is_contiguous());
  CHECK(x.view({4, 1}, {1, 99}).is_contiguous());
  CHECK_FALSE(x.view({4, 1}, {3, 1}).is_contiguous());
}

TEST_CASE("expand repeats without copying") {
  const Array x = counted({2, 1});
  const Array y = x.expand({3, 2, 2});
  CHECK(y.shares_storage_with(x));
  CHECK(values_of(y) == Values{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(values_of(counted({1}).expand({0})).empty());
  CHECK_THROWS_WITH_AS(x.expand({2, 2}).expand({2, 3}),
                       "expand: cannot expand [2, 2] to [2, 3]: only axes of size 1 repeat",
                       ShapeError);
  CHECK_THROWS_AS(x.expand({1}), ShapeError);
  CHECK_THROWS_AS(x.expand({3, 1}, "add"), ShapeError);
}

TEST_CASE("assign broadcasts and converts into any layout") {
  Array x = counted({2, 3});
  Array rows = x.view({3, 2}, {1, 3});
  assign(rows, Array::filled({1, 2}, DType::i64, 9));
  CHECK(values_of(x) == Values{9, 9, 9, 9, 9, 9});
  CHECK_THROWS_AS(assign(rows, counted({3, 3})), ShapeError);
  assign(rows, counted({2}));
  CHECK(values_of(x) == Values{0, 0, 0, 1, 1, 1});
}

TEST_CASE("numbers that another dtype cannot hold become zero and never undefined behaviour") {
  Array x({5}, DType::f64);
  const Values values = {NAN, kInf, -kInf, 1e300, -2.9};
  std::copy(values.begin(), values.end(), x.mutable_data<double>());
  CHECK(values_of<int64_t>(x.cast(DType::i64)) == std::vector<int64_t>{0, 0, 0, 0, -2});
  const Array flags = counted({3}).cast(DType::boolean);
  CHECK(values_of<bool>(flags) == std::vector{false, true, true});
}

TEST_CASE("every way to write counts as a new version for all views") {
  Array x = counted({2, 3});
  const Array view = x.view({3}, {1});
  const uint64_t before = view.version();
  x.mutable_data<double>();
  CHECK(view.version() == before + 1);
  assign(x, counted({3}));
  CHECK(view.version() > before + 1);
  const uint64_t unchanged = x.version();
  values_of(x);
  CHECK(x.version() == unchanged);
}

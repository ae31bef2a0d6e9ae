#include <doctest/doctest.h>
#include <tests/slopes.h>

#include <attograd/core/kernels/parallel.h>

using namespace attograd;

namespace {

/// The sums of a [p, q, r] array over the flagged axes, by plain loops.
Values naive_sums(const Tensor& x, const std::array<bool, 3>& reduces) {
  const Shape shape = x.shape();
  const Values v = values(x);
  const auto kept = [&](int axis) { return reduces[static_cast<size_t>(axis)] ? 1 : shape[axis]; };
  Values totals(static_cast<size_t>(kept(0) * kept(1) * kept(2)), 0);
  size_t from = 0;
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j)
      for (int64_t k = 0; k < shape[2]; ++k) {
        const int64_t a = reduces[0] ? 0 : i, b = reduces[1] ? 0 : j, c = reduces[2] ? 0 : k;
        totals[static_cast<size_t>((a * kept(1) + b) * kept(2) + c)] += v[from++];
      }
  return totals;
}

}  // namespace

TEST_CASE("sums over any axes and layout equal plain loops") {
  const std::vector<Shape> shapes = {{2, 3, 4},     {1, 1, 1},   {5, 1, 7},     {70, 33, 40},
                                     {3, 0, 2},     {0, 3, 2},   {20000, 3, 2}, {2, 3, 20000},
                                     {2, 20000, 3}, {9, 5000, 1}};
  for (const Shape& shape : shapes) {
    const Tensor x = random_integers(shape, 7);
    const Tensor as_f32 = cast(x, DType::f32), as_i64 = cast(x, DType::i64), positive = x > 0;
    const Tensor other = permute(random_integers({shape[2], shape[1], shape[0]}, 8), {2, 1, 0});
    for (int axes = 0; axes < 8; ++axes) {
      CAPTURE(axes);
      const std::array<bool, 3> reduces = {(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0};
      std::vector<int64_t> list;
      for (int axis = 0; axis < 3; ++axis)
        if (reduces[static_cast<size_t>(axis)]) list.push_back(axis);
      const Values expected = naive_sums(x, reduces);
      CHECK(values(sum(x, Axes(list))) == expected);
      CHECK(values(sum(as_f32, Axes(list))) == expected);
      CHECK(values(sum(as_i64, Axes(list))) == expected);
      CHECK(values(sum(positive, Axes(list))) == naive_sums(positive, reduces));
      CHECK(values(sum(other, Axes(list))) == naive_sums(other, reduces));
    }
  }
}

TEST_CASE("keepdim keeps reduced axes with size 1") {
  const Tensor x = counted({2, 3, 4});
  CHECK(sum(x, {0, 2}, true).shape() == Shape{1, 3, 1});
  CHECK(sum(x, {0, -1}).shape() == Shape{3});
  CHECK(max(x, {}, true).shape() == Shape{1, 1, 1});
  CHECK(mean(x, 1).shape() == Shape{2, 4});
}

TEST_CASE("results do not depend on the number of threads") {
  const int before = kernels::thread_count();
  for (const Shape& shape :
       {Shape{300000}, Shape{1000, 300}, Shape{300, 1000}, Shape{7, 100000}, Shape{6000, 40}}) {
    std::mt19937 bits(1);
    std::normal_distribution<double> normal;
    Values v(static_cast<size_t>(shape.numel()));
    for (double& e : v) e = normal(bits);
    const Tensor x = from_values(shape, v, DType::f64);
    for (const Axes& axes : {Axes{}, Axes{0}, Axes{-1}}) {
      kernels::set_thread_count(1);
      const Values one = values(sum(x, axes));
      for (int threads : {2, 3, 5}) {
        kernels::set_thread_count(threads);
        CHECK(values(sum(x, axes)) == one);
      }
    }
  }
  kernels::set_thread_count(before);
}

TEST_CASE("sums of f32 are as good as their last rounding") {
  const Tensor x = full({1000, 1000}, 0.1);
  const double exact = static_cast<double>(0.1f) * 1e6;
  CHECK(sum(x).item() == static_cast<float>(exact));
  CHECK(values(sum(x, 0))[0] == static_cast<float>(exact / 1000));
  CHECK(values(sum(x, 1))[0] == static_cast<float>(exact / 1000));
  CHECK(mean(full({4}, 3e38)).item() == 3e38f);  // the sum alone would overflow
}

TEST_CASE("there is no maximum of no elements") {
  const Tensor none = zeros({0}), rows = zeros({2, 0});
  CHECK(message_of<ShapeError>([&] { max(none); }) ==
        "max: there are no elements to choose from, got f32[0]");
  CHECK(message_of<ShapeError>([&] { min(rows, 1); }) ==
        "min: there are no elements to choose from, got f32[2, 0]");
  CHECK(max(rows, 0).shape() == Shape{0});
}

TEST_CASE("the largest elements share the gradient") {
  const Values v = {1, 3, 3, 2};
  CHECK(slope([](const Tensor& x) { return max(x); }, v) == Values{0, 0.5, 0.5, 0});
  CHECK(slope([](const Tensor& x) { return max(x, 0); }, v) == Values{0, 0.5, 0.5, 0});
  CHECK(slope([](const Tensor& x) { return min(x); }, v) == Values{1, 0, 0, 0});
  CHECK(slope([](const Tensor& x) { return max(reshape(x, {2, 2}), 0); }, v) == Values{0, 1, 1, 0});
}

TEST_CASE("one NaN makes maximum and minimum and sum NaN wherever it stands") {
  for (int64_t n : {1, 7, 8, 9, 17, 40})
    for (int64_t place = 0; place < n; ++place)
      for (DType dtype : {DType::f32, DType::f64}) {
        Values v(static_cast<size_t>(n), 1);
        v[static_cast<size_t>(place)] = kNaN;
        const Tensor x = vector(v, dtype);
        CHECK(std::isnan(max(x).item()));
        CHECK(std::isnan(min(x).item()));
        CHECK(std::isnan(sum(x).item()));
        CHECK(std::isnan(max(unsqueeze(x, 1), 0).item()));
        CHECK_FALSE(all_finite(x));
      }
}

TEST_CASE("maximum and minimum know infinities and integers") {
  CHECK(max(vector({-kInf, -kInf})).item() == -kInf);
  CHECK(min(vector({kInf, kInf})).item() == kInf);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  CHECK(max(ids_of({kMin, kMin})).to_vector<int64_t>()[0] == kMin);
  CHECK(min(ids_of({3, kMin, 5})).to_vector<int64_t>()[0] == kMin);
}

TEST_CASE("all_finite sees every element") {
  CHECK(all_finite(zeros({0})));
  CHECK(all_finite(counted({100})));
  for (double bad : {kInf, -kInf, kNaN}) CHECK_FALSE(all_finite(vector({0, 1, bad})));
}

TEST_CASE("integer sums wrap around") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  CHECK(sum(ids_of({kMax, 1})).to_vector<int64_t>()[0] == std::numeric_limits<int64_t>::min());
}

TEST_CASE("sum_to undoes broadcasting and names shapes that do not broadcast") {
  const Tensor x = ones({2, 3, 4}, DType::f64);
  CHECK(values(sum_to(x, {3, 1})) == Values{8, 8, 8});
  CHECK(sum_to(x, {}).item() == 24);
  CHECK(message_of<ShapeError>([&] {
          sum_to(x, {5, 2, 3, 4});
        }) == "sum_to: [5, 2, 3, 4] does not broadcast to f64[2, 3, 4]");
  CHECK(message_of<ShapeError>([&] {
          mean(ids_of({1, 2}), 1);
        }) == "mean: axis must be in [-1, 1), got 1");
}

TEST_CASE("the index of the maximum is the first largest or the first NaN") {
  const auto places = [](const Tensor& y) { return y.to_vector<int64_t>(); };
  using Places = std::vector<int64_t>;
  CHECK(places(argmax(vector({kNaN, -1, 2}))) == Places{0});
  CHECK(places(argmax(vector({3, kNaN, kNaN, 5}))) == Places{1});
  CHECK(places(argmax(vector({1, 3, 3, 2}))) == Places{1});
  CHECK(places(argmax(vector({-kInf, -kInf}))) == Places{0});
  const Tensor x = from_values({2, 3}, Values{1, 7, 3, 7, 5, 6});
  CHECK(places(argmax(x)) == Places{1});
  CHECK(places(argmax(transpose(x))) == Places{1});
  CHECK(places(argmax(x, 0)) == Places{1, 0, 1});
  CHECK(places(argmax(x, -1)) == Places{1, 0});
  CHECK(argmax(x, 1, true).shape() == Shape{2, 1});
  CHECK(places(argmax(tensor(5))) == Places{0});
  CHECK(argmax(zeros({2, 0}), 0).shape() == Shape{0});
  CHECK(argmax(zeros({0, 0}), 0).shape() == Shape{0});
  CHECK(message_of<ShapeError>([&] {
          argmax(zeros({2, 0}), 1);
        }) == "argmax: there are no elements to choose from, got f32[2, 0]");
  CHECK(message_of<ShapeError>([&] { argmax(zeros({0})); }) ==
        "argmax: there are no elements to choose from, got f32[0]");
}

TEST_CASE("with an index the winner has all of the gradient") {
  const Tensor x = vector({1, 3, 3, 2}).set_requires_grad();
  const auto [value, index] = max_with_index(x, 0);
  CHECK(value.item() == 3);
  CHECK(index.item() == 1);
  CHECK(values(grad({value}, {x})[0]) == Values{0, 1, 0, 0});
  const MaxWithIndex kept = max_with_index(from_values({2, 2}, Values{1, 2, 4, 3}), 1, true);
  CHECK(kept.values.shape() == Shape{2, 1});
  CHECK(kept.indices.to_vector<int64_t>() == std::vector<int64_t>{1, 0});
}

// Reductions, lookups.

#include <doctest/doctest.h>
#include <tests/slopes.h>

#include <attograd/core/kernels/parallel.h>
#include <attograd/nn/embedding.h>

using namespace attograd;

TEST_CASE("RED-01 variance and deviation of one element or equal ones") {
  for (const auto& f : {var, attograd::std}) {
    const auto of = [&f](double correction) {
      return [&f, correction](const Tensor& x) { return f(x, {}, {.correction = correction}); };
    };
    CHECK(std::isnan(of(1)(vector({5})).item()));
    CHECK(std::isnan(slope(of(1), {5})[0]));
    CHECK(slope(of(1), {5}).size() == 1);
    CHECK(of(0)(vector({5})).item() == 0);
    CHECK(slope(of(0), {5}) == Values{0});
    for (double correction : {0, 1})
      for (const Values& v : {Values{2, 2, 2}, Values(7, 0.1), Values(1000, 1e10 / 3)}) {
        CHECK(of(correction)(vector(v)).item() == 0);
        CHECK(slope(of(correction), v) == Values(v.size(), 0));
      }
    CHECK(std::isnan(of(1)(zeros({0})).item()));
  }
}

TEST_CASE("RED-03 sums of nothing are 0 and means of nothing NaN") {
  const Tensor none = zeros({0}, DType::f64), rows = zeros({2, 0}, DType::f64);
  CHECK(sum(none).item() == 0);
  CHECK(std::isnan(mean(none).item()));
  CHECK(values(sum(rows, 1)) == Values{0, 0});
  CHECK(same(values(mean(rows, 1)), {kNaN, kNaN}));
  for (const auto& f : {sum, mean}) {
    CHECK(f(rows, 0, false).shape() == Shape{0});
    for (const Shape& shape : {Shape{0}, Shape{2, 0}})
      for (const Axes& axes : {Axes{}, Axes{0}, Axes{-1}}) {
        const Tensor x = zeros(shape, DType::f64).set_requires_grad();
        CHECK(grad({sum(f(x, axes, false))}, {x})[0].shape() == shape);
      }
  }
}

TEST_CASE("RED-03 there is no maximum of no elements") {
  const Tensor none = zeros({0}), rows = zeros({2, 0});
  const std::string rule = ": there are no elements to choose from, got ";
  CHECK(message_of<ShapeError>([&] { max(none); }) == "max" + rule + "f32[0]");
  CHECK(message_of<ShapeError>([&] { argmax(none); }) == "argmax" + rule + "f32[0]");
  CHECK(message_of<ShapeError>([&] { max(rows, 1); }) == "max" + rule + "f32[2, 0]");
  CHECK(message_of<ShapeError>([&] { argmax(rows, 1); }) == "argmax" + rule + "f32[2, 0]");
  CHECK(max(rows, 0).shape() == Shape{0});
  CHECK(argmax(rows, 0).shape() == Shape{0});
}

TEST_CASE("IDX-01 embedding adds up what repeated ids receive") {
  const Tensor weight = counted({4, 2}).set_requires_grad();
  const Tensor y = embedding(weight, ids_of({3, 1, 3, 3}));
  CHECK(y.shape() == Shape{4, 2});
  CHECK(values_of(y) == Values{6, 7, 2, 3, 6, 7, 6, 7});
  const Tensor g =
      from_values({4, 2}, {1.0, 2.0, 10.0, 20.0, 100.0, 200.0, 1000.0, 2000.0}, DType::f64);
  CHECK(values_of(grad({y}, {weight}, {}, {g})[0]) == Values{0, 0, 10, 20, 0, 0, 1101, 2202});
}

TEST_CASE("IDX-01 gather adds up what repeated indices receive") {
  const Tensor x = tensor({1, 2, 3}, DType::f64).set_requires_grad();
  const Tensor y = gather(x, 0, ids_of({2, 0, 2, 2}));
  CHECK(values_of(y) == Values{3, 1, 3, 3});
  CHECK(values_of(grad({y}, {x}, {}, {tensor({1, 10, 100, 1000}, DType::f64)})[0]) ==
        Values{10, 0, 1101});
}

TEST_CASE("IDX-01 a hundred thousand equal ids add up exactly for any thread count") {
  const int before = kernels::thread_count();
  for (int threads : {1, 2, 3}) {
    kernels::set_thread_count(threads);
    const Tensor weight = zeros({4, 2}).set_requires_grad();
    const Tensor ids = Tensor(Array::filled({100000}, DType::i64, 2));
    const Tensor ones_added = grad({sum(embedding(weight, ids))}, {weight})[0];
    CHECK(ones_added.to_vector<float>() == std::vector<float>{0, 0, 0, 0, 100000, 100000, 0, 0});
    const Tensor tenths = full({100000, 2}, 0.1);  // in f32 alone the sum would drift to 9998.6
    const Tensor added = grad({embedding(weight, ids)}, {weight}, {}, {tenths})[0];
    CHECK(added.to_vector<float>()[4] == static_cast<float>(100000 * static_cast<double>(0.1F)));
  }
  kernels::set_thread_count(before);
}

TEST_CASE("IDX-03 ids outside the table are refused before anything is read") {
  const Tensor weight = counted({4, 2});
  for (int64_t id : {int64_t{4}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 32}) {
    const std::string expected =
        "embedding: indices must be in [0, 4), the rows of weight, got " + std::to_string(id);
    CHECK(message_of<IndexError>([&] { embedding(weight, ids_of({0, id, 1})); }) == expected);
    CHECK_THROWS_AS(take(weight, ids_of({id})), IndexError);
    CHECK_THROWS_AS(one_hot(ids_of({id}), 4), IndexError);
    CHECK_THROWS_AS(gather(counted({4}), 0, ids_of({0, id})), IndexError);
    CHECK_THROWS_AS(scatter_add(counted({2}), 0, ids_of({0, id}), 4), IndexError);
  }
  CHECK_THROWS_AS(embedding(counted({0, 2}), ids_of({0})), IndexError);
}

TEST_CASE("IDX-03 no ids give no rows and a gradient of zeros") {
  const Tensor weight = counted({4, 2}).set_requires_grad();
  const Tensor y = embedding(weight, ids_of({}));
  CHECK(y.shape() == Shape{0, 2});
  CHECK(values_of(grad({sum(y)}, {weight})[0]) == Values(8, 0));
  CHECK(embedding(counted({0, 2}), ids_of({})).shape() == Shape{0, 2});
  CHECK(embedding(counted({3, 0}), ids_of({2})).shape() == Shape{1, 0});
  CHECK(values_of(scatter_add(counted({0}), 0, ids_of({}), 2)) == Values{0, 0});
}

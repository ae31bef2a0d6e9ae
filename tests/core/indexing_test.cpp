#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/kernels/parallel.h>
#include <attograd/core/ops/indexing.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

Tensor random_ids(const Shape& shape, int64_t n, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<int64_t> v(static_cast<size_t>(shape.numel()));
  for (int64_t& id : v) id = static_cast<int64_t>(bits() % static_cast<uint64_t>(n));
  return from_values(shape, v);
}

/// For x [2, 3, 4] viewed with one axis of size n: the place of each element of y in x.
template <class Visit>
void for_each_place(const Shape& shape, Visit visit) {
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < shape[1]; ++j)
      for (int64_t k = 0; k < shape[2]; ++k) visit(Shape{i, j, k});
}

size_t place_of(const Shape& shape, const Shape& at) {
  return static_cast<size_t>((at[0] * shape[1] + at[1]) * shape[2] + at[2]);
}

}  // namespace

TEST_CASE("thread counts change no gradient of an embedding") {
  const int before = kernels::thread_count();
  const Tensor ids = random_ids({64, 40}, 300, 1);
  const Tensor g = exp(random_integers({64, 40, 520}, 2, DType::f32) / 8);
  std::vector<float> one;
  for (int threads : {1, 2, 5}) {
    kernels::set_thread_count(threads);
    const Tensor weight = zeros({300, 520}).set_requires_grad();
    const auto d = grad({embedding(weight, ids)}, {weight}, {}, {g})[0].to_vector<float>();
    if (threads == 1) one = d;
    CHECK(d == one);
  }
  kernels::set_thread_count(before);
}

TEST_CASE("ids and weight may have any layout") {
  const Tensor weight = transpose(counted({2, 4}));
  const Tensor ids = transpose(from_values({2, 2}, std::vector<int64_t>{0, 1, 2, 3}));
  CHECK(values_of(embedding(weight, ids)) == Values{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK(values_of(embedding(weight, expand(ids_of({1}), {2}))) == Values{1, 5, 1, 5});
  CHECK(embedding(weight, select(ids_of({3}), 0, 0)).shape() == Shape{2});
}

TEST_CASE("gather lets each element choose its place along any axis") {
  const Tensor x = random_integers({2, 3, 4}, 3);
  for (int axis = 0; axis < 3; ++axis)
    for (bool shared : {false, true}) {  // by all elements behind the axis
      Shape shape = x.shape();
      shape[axis] = 5;
      Shape narrow = shape;
      for (int behind = axis + 1; behind < 3 && shared; ++behind) narrow[behind] = 1;
      const Tensor index = expand(random_ids(narrow, x.shape()[axis], 4), shape);
      const std::vector<int64_t> ids = index.to_vector<int64_t>();
      const Values v = values_of(x), y = values_of(gather(x, axis, index));
      Values added(24, 0);
      for_each_place(shape, [&](Shape at) {
        const size_t here = place_of(shape, at);
        at[axis] = ids[here];
        CHECK(y[here] == v[place_of(x.shape(), at)]);
        added[place_of(x.shape(), at)] += y[here];
      });
      CHECK(values_of(scatter_add(gather(x, axis, index), axis, index, x.shape()[axis])) == added);
      CHECK(adjoint_gap([&](const Tensor& t) { return gather(t, axis, index); }, {2, 3, 4}) == 0);
      CHECK(adjoint_gap([&](const Tensor& t) { return scatter_add(t, axis, index, 6); }, shape) ==
            0);
    }
  CHECK(gather(counted({2, 3, 0}), 1, from_values({2, 5, 0}, std::vector<int64_t>{})).shape() ==
        Shape{2, 5, 0});
}

TEST_CASE("take replaces an axis by those of the indices") {
  const Tensor x = counted({2, 3, 2});
  CHECK(values_of(take(x, ids_of({1}))) == Values{6, 7, 8, 9, 10, 11});
  const Tensor y = take(x, from_values({1, 2}, std::vector<int64_t>{2, 0}), 1);
  CHECK(y.shape() == Shape{2, 1, 2, 2});
  CHECK(values_of(y) == Values{4, 5, 0, 1, 10, 11, 6, 7});
  CHECK(values_of(take(x, ids_of({1, 1}), -1)) == Values{1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11});
  CHECK(take(arange(0, 5), ids_of({4, 2})).to_vector<int64_t>() == std::vector<int64_t>{4, 2});
  CHECK(adjoint_gap([](const Tensor& t) { return take(t, ids_of({2, 0, 2}), 1); }, {2, 3, 2}) == 0);
  CHECK(adjoint_gap([](const Tensor& t) { return embedding(t, ids_of({2, 0, 2})); }, {3, 2}) == 0);
}

TEST_CASE("scatter_add counts integers too") {
  const Tensor votes = Tensor(Array::filled({5}, DType::i64, 1));
  CHECK(scatter_add(votes, 0, ids_of({2, 0, 2, 2, 1}), 4).to_vector<int64_t>() ==
        std::vector<int64_t>{1, 1, 3, 0});
}

TEST_CASE("one_hot marks the class of each id") {
  CHECK(one_hot(ids_of({2, 0}), 3).to_vector<float>() == std::vector<float>{0, 0, 1, 1, 0, 0});
  CHECK(one_hot(ids_of({1}), 2, DType::boolean).to_vector<bool>() ==
        std::vector<bool>{false, true});
  CHECK(one_hot(ids_of({1}), 2, DType::i64).to_vector<int64_t>() == std::vector<int64_t>{0, 1});
  CHECK(one_hot(ids_of({}), 3).shape() == Shape{0, 3});
  CHECK(one_hot(ids_of({}), 0).shape() == Shape{0, 0});
  CHECK(one_hot(select(ids_of({1}), 0, 0), 2).shape() == Shape{2});
}

TEST_CASE("the gradient of an embedding is differentiable again") {
  const Tensor weight = random_integers({3, 2}, 5).set_requires_grad();
  const Tensor y = embedding(weight, ids_of({1, 1, 2}));
  const Tensor first = grad({sum(y * y * y)}, {weight}, {.create_graph = true})[0];
  const Tensor second = grad({first}, {weight}, {}, {counted({3, 2})})[0];
  const Values v = values_of(weight);
  CHECK(values_of(second) ==
        Values{0, 0, 2 * 12 * v[2], 3 * 12 * v[3], 4 * 6 * v[4], 5 * 6 * v[5]});
}

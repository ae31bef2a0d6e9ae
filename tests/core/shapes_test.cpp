#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/ops/shapes.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

bool is_view(const Tensor& y, const Tensor& x) { return y.array().shares_storage_with(x.array()); }

}  // namespace

TEST_CASE("reshape is a view whenever the layout allows one") {
  const Tensor x = counted({2, 3, 4});
  CHECK(is_view(reshape(x, {6, 4}), x));
  CHECK(is_view(reshape(x, {4, 3, 2}), x));
  const Tensor columns = slice(x, 2, 0, 2);  // [2, 3, 2] with gaps: rows still lie evenly
  const Tensor rows = reshape(columns, {6, 2});
  CHECK(is_view(rows, x));
  CHECK(values_of(rows) == values_of(columns));
  CHECK(is_view(reshape(columns, {2, 3, 1, 2}), x));
  CHECK_FALSE(is_view(reshape(columns, {12}), x));
  CHECK(values_of(reshape(columns, {12})) == values_of(columns));
  const Tensor heads = transpose(counted({2, 5, 4, 3}), 1, 2);  // [B, H, T, D]
  CHECK(is_view(reshape(heads, {2, 2, 2, 5, 3}), heads));
  CHECK_FALSE(is_view(reshape(heads, {2, 20, 3}), heads));
}

TEST_CASE("reshape of an expanded tensor repeats without copying") {
  const Tensor x = expand(counted({2, 1}), {2, 6});
  const Tensor y = reshape(x, {2, 2, 3});
  CHECK(is_view(y, x));
  CHECK(values_of(y) == values_of(x));
}

TEST_CASE("reshape works out the size that is -1") {
  CHECK(reshape(counted({2, 6}), {-1, 4}).shape() == Shape{3, 4});
  CHECK(reshape(counted({1}), {-1}).shape() == Shape{1});
  CHECK(reshape(counted({}), {1, -1}).shape() == Shape{1, 1});
  CHECK(reshape(counted({0, 3}), {-1, 3}).shape() == Shape{0, 3});
  CHECK(reshape(counted({0, 3}), {5, 0}).shape() == Shape{5, 0});
  CHECK(reshape(counted({1, 1}), {}).item() == 0);
}

TEST_CASE("permute and transpose are views in which axes trade places") {
  const Tensor x = counted({2, 3, 4});
  const Tensor y = permute(x, {2, 0, -2});
  CHECK(is_view(y, x));
  CHECK(y.shape() == Shape{4, 2, 3});
  const Values v = values_of(y);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 2; ++j)
      for (size_t k = 0; k < 3; ++k)
        CHECK(v[(i * 2 + j) * 3 + k] == static_cast<double>((j * 3 + k) * 4 + i));
  CHECK(values_of(transpose(x)) == values_of(permute(x, {0, 2, 1})));
  CHECK(values_of(transpose(x, 0, -1)) == values_of(permute(x, {2, 1, 0})));
  CHECK(permute(counted({}), {}).shape() == Shape{});
}

TEST_CASE("squeeze and unsqueeze drop and add axes of size 1") {
  const Tensor x = counted({1, 3, 1});
  CHECK(squeeze(x).shape() == Shape{3});
  CHECK(squeeze(x, -1).shape() == Shape{1, 3});
  CHECK(squeeze(counted({1, 1})).shape() == Shape{});
  CHECK(unsqueeze(counted({3}), 0).shape() == Shape{1, 3});
  CHECK(unsqueeze(counted({3}), -1).shape() == Shape{3, 1});
  CHECK(unsqueeze(counted({}), 0).shape() == Shape{1});
  const Tensor t = transpose(counted({2, 3}));
  CHECK(is_view(unsqueeze(t, 1), t));
}

TEST_CASE("flip reverses axes without copying") {
  const Tensor x = counted({2, 3});
  CHECK(is_view(flip(x), x));
  CHECK(values_of(flip(x)) == Values{5, 4, 3, 2, 1, 0});
  CHECK(values_of(flip(x, 0)) == Values{3, 4, 5, 0, 1, 2});
  CHECK(values_of(flip(x, -1)) == Values{2, 1, 0, 5, 4, 3});
  CHECK(flip(counted({2, 0, 3})).shape() == Shape{2, 0, 3});
  CHECK(flip(counted({})).item() == 0);
}

TEST_CASE("other operations read a flipped tensor as any other") {
  const Tensor x = counted({2, 3});
  CHECK(values_of(flip(x, 1) + x) == Values{2, 2, 2, 8, 8, 8});
  CHECK(values_of(sum(flip(x, 1), 0)) == Values{7, 5, 3});
  CHECK(values_of(slice(flip(x, 1), 1, 0, 3, 2)) == Values{2, 0, 5, 3});
  CHECK(values_of(reshape(flip(x), {3, 2})) == Values{5, 4, 3, 2, 1, 0});
  CHECK(is_view(reshape(flip(x), {3, 2}), x));
  CHECK(values_of(matmul(x, flip(counted({3, 1})))) == Values{1, 10});
}

TEST_CASE("gradients of shape operations are their adjoints") {
  CHECK(adjoint_gap([](const Tensor& x) { return reshape(x, {4, -1}); }, {2, 6}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return reshape(transpose(x), {3, 4}); }, {2, 6}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return expand(x, {2, 4, 3}); }, {4, 1}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return expand(x, {2, 3}); }, {}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return permute(x, {2, 0, 3, 1}); }, {2, 3, 4, 5}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return flip(x, {0, 2}); }, {2, 3, 4}) == 0);
  CHECK(adjoint_gap([](const Tensor& x) { return squeeze(unsqueeze(x, 1)); }, {1, 4}) == 0);
}

TEST_CASE("gradients of zero-size tensors have their shapes and true zeros") {
  const Tensor x = ones({1, 3}, DType::f64).set_requires_grad();
  const Tensor y = expand(x, {0, 3});
  CHECK(y.shape() == Shape{0, 3});
  CHECK(values_of(grad({sum(y)}, {x})[0]) == Values{0, 0, 0});
}

TEST_CASE("any dtype can be reshaped") {
  const Tensor ids = arange(0, 6);
  CHECK(transpose(reshape(ids, {2, 3})).to_vector<int64_t>() ==
        std::vector<int64_t>{0, 3, 1, 4, 2, 5});
  const Tensor mask = from_values({2}, std::vector<bool>{true, false});
  CHECK(expand(unsqueeze(mask, 1), {2, 2}).to_vector<bool>() ==
        std::vector<bool>{true, true, false, false});
}

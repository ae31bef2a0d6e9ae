#include <limits>
#include <sstream>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/ops.h>
#include <attograd/core/tensor.h>

using namespace attograd;

namespace {

std::string text_of(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

TEST_CASE("an undefined tensor says so instead of crashing") {
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  CHECK_FALSE(none.grad().defined());
  CHECK(text_of(none) == "undefined");
  CHECK_THROWS_AS(none.shape(), GraphError);
  CHECK_THROWS_AS(none.item(), GraphError);
  CHECK_THROWS_AS(none + tensor(1), GraphError);
  CHECK_THROWS_AS(exp(Tensor()), GraphError);
  Tensor writable;
  CHECK_THROWS_AS(writable.assign(tensor(1)), GraphError);
  CHECK_THROWS_AS(writable.mutable_data<float>(), GraphError);
  CHECK_THROWS_AS(writable.set_requires_grad(), GraphError);
  writable.clear_grad();
}

TEST_CASE("item needs exactly one element of any rank") {
  CHECK(ones({1, 1}).item() == 1);
  CHECK(arange(4, 5).item() == 4);
  CHECK(from_values({}, std::vector<bool>{true}).item() == 1);
  CHECK_THROWS_WITH_AS(tensor({1, 2}).item(), "item: needs exactly one element, got f32[2]",
                       ShapeError);
  CHECK_THROWS_AS(zeros({0}).item(), ShapeError);
}

TEST_CASE("elements come in row-major order from any layout") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, DType::f64);
  CHECK(transpose(x).to_vector<double>() == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(expand(tensor({7}, DType::f64), {3}).to_vector<double>() == std::vector<double>{7, 7, 7});
  CHECK_THROWS_AS(x.to_vector<float>(), DTypeError);
  CHECK_THROWS_AS(x.data<int64_t>(), DTypeError);
}

TEST_CASE("copies are the same tensor") {
  Tensor x = tensor({1, 2});
  Tensor same = x;
  same.assign(tensor({3, 4}));
  same.set_requires_grad();
  CHECK(x.to_vector<float>() == std::vector<float>{3, 4});
  CHECK(x.requires_grad());
}

TEST_CASE("assign broadcasts and converts into the same memory") {
  Tensor x = zeros({2, 2}, DType::f64);
  const double* before = x.data<double>();
  x.assign(arange(1, 3));
  CHECK(x.to_vector<double>() == std::vector<double>{1, 2, 1, 2});
  CHECK(x.data<double>() == before);
  CHECK_THROWS_AS(x.assign(zeros({3})), ShapeError);
  transpose(x).assign(tensor({5, 6}, DType::f64));
  CHECK(x.to_vector<double>() == std::vector<double>{5, 5, 6, 6});
}

TEST_CASE("a gradient can be set if it fits") {
  Tensor x = tensor({1, 2}).set_requires_grad();
  x.set_grad(tensor({5, 6}));
  CHECK(x.grad().to_vector<float>() == std::vector<float>{5, 6});
  CHECK_THROWS_AS(x.set_grad(tensor({5, 6, 7})), ShapeError);
  CHECK_THROWS_AS(x.set_grad(tensor({5, 6}, DType::f64)), ShapeError);
  CHECK_THROWS_AS(x.set_grad(Tensor()), GraphError);
  x.clear_grad();
  CHECK_FALSE(x.grad().defined());
  CHECK_THROWS_AS(tensor(1).set_grad(tensor(1)), GraphError);
}

TEST_CASE("requiring gradients can be switched on and off for leaves") {
  Tensor x = tensor(1);
  CHECK(&x.set_requires_grad() == &x);
  const Node* node = x.node().get();  // not holding it: it could not be switched off then
  x.set_requires_grad();
  CHECK(x.node().get() == node);  // and keeps its gradient
  x.set_requires_grad(false);
  CHECK_FALSE(x.requires_grad());
  Tensor y = exp(tensor(1).set_requires_grad());
  y.set_requires_grad();
  CHECK(std::string_view(y.node()->name) == "exp");
  CHECK_THROWS_AS(arange(0, 2).set_requires_grad(), DTypeError);
}

TEST_CASE("printing shows values and dtype and shape and operation") {
  CHECK(text_of(tensor(1.5)) == "1.5 f32[]");
  CHECK(text_of(tensor({1, -2.25})) == "[1, -2.25] f32[2]");
  CHECK(text_of(tensor({{1, 2}, {3, 4}}, DType::f64)) == "[[1, 2],\n [3, 4]] f64[2, 2]");
  CHECK(text_of(arange(0, 3)) == "[0, 1, 2] i64[3]");
  CHECK(text_of(from_values({2}, std::vector<bool>{true, false})) == "[true, false] bool[2]");
  CHECK(text_of(zeros({0})) == "[] f32[0]");
  CHECK(text_of(zeros({2, 0})) == "[[],\n []] f32[2, 0]");
  CHECK(text_of(transpose(tensor({{1, 2}, {3, 4}}))) == "[[1, 3],\n [2, 4]] f32[2, 2]");
  const Tensor x = tensor({1, 2}).set_requires_grad();
  CHECK(text_of(x + x) == "[2, 4] f32[2] from add");
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(text_of(tensor({-inf, inf})) == "[-inf, inf] f32[2]");
}

TEST_CASE("printing abridges what is long") {
  CHECK(text_of(arange(0, 6)) == "[0, 1, 2, 3, 4, 5] i64[6]");
  CHECK(text_of(arange(0, 7)) == "[0, 1, 2, ..., 4, 5, 6] i64[7]");
  const std::string text = text_of(zeros({100, 100}));
  CHECK(text.size() < 300);
  CHECK(text.find("...") != std::string::npos);
}

TEST_CASE("assign reads a view of the same memory before it writes") {
  Tensor x = tensor({1, 2, 3, 4, 5, 6}, DType::f64);
  x.assign(flip(x, 0));
  CHECK(x.to_vector<double>() == std::vector<double>{6, 5, 4, 3, 2, 1});
  Tensor square = tensor({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, DType::f64);
  square.assign(transpose(square));
  CHECK(square.to_vector<double>() == std::vector<double>{1, 4, 7, 2, 5, 8, 3, 6, 9});
  slice(x, 0, 1).assign(slice(x, 0, 0, 5));
  CHECK(x.to_vector<double>() == std::vector<double>{6, 6, 5, 4, 3, 2});
}

TEST_CASE("assign does not squeeze numbers into i64") {
  Tensor ids = zeros({1}, DType::i64);
  CHECK_THROWS_AS(ids.assign(tensor({0.5})), DTypeError);
  CHECK(ids.item() == 0);
}

TEST_CASE("a tensor of an undefined array is undefined") {
  CHECK_FALSE(Tensor(Array()).defined());
  CHECK_THROWS_AS(Tensor(Array()).item(), GraphError);
}

// Matrix products: empty, of odd strides, with NaN.

#include <limits>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/kernels/blas.h>
#include <attograd/core/multiply.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Both gradients of sum(matmul(a, b) * g).
Tensors gradients(Tensor a, Tensor b, const Tensor& g) {
  a.set_requires_grad();
  b.set_requires_grad();
  return grad({matmul(a, b)}, {a, b}, {}, {g});
}

}  // namespace

TEST_CASE("MAT-01 sizes of 0 give zeros and never what memory held") {
  for (int i = 0; i < 4; ++i) full({4, 2, 3}, kNaN, DType::f64);  // freed: the next tensors' memory
  CHECK(values_of(matmul(counted({2, 0}), counted({0, 3}))) == Values(6, 0));
  CHECK(values_of(matmul(counted({4, 2, 0}), counted({4, 0, 3}))) == Values(24, 0));
  CHECK(values_of(matmul(counted({4, 2, 0}), counted({0, 3}))) == Values(24, 0));
  CHECK(matmul(counted({0, 5}), counted({5, 3})).shape() == Shape{0, 3});
  CHECK(matmul(counted({0, 2, 5}), counted({5, 3})).shape() == Shape{0, 2, 3});
  CHECK(matmul(counted({0, 2, 5}), counted({1, 5, 3})).shape() == Shape{0, 2, 3});
  CHECK(matmul(counted({0}), counted({0})).item() == 0);
  Tensors d = gradients(counted({2, 0}), counted({0, 3}), ones({2, 3}, DType::f64));
  CHECK(d[0].shape() == Shape{2, 0});
  CHECK(d[1].shape() == Shape{0, 3});
  d = gradients(counted({0, 5}), counted({5, 3}), counted({0, 3}));
  CHECK(values_of(d[1]) == Values(15, 0));
}

TEST_CASE("MAT-01 an inner size of 0 leaves what is accumulated into as it was") {
  Array c = full({2, 3}, 7, DType::f64).array();
  multiply_add(zeros({2, 0}, DType::f64).array(), zeros({0, 3}, DType::f64).array(), c);
  CHECK(values_of(Tensor(c)) == Values(6, 7));
}

TEST_CASE_TEMPLATE("MAT-02 no size lets old values of the result through", T, float, double) {
  const std::vector<T> ones(33 * 33, 1);
  std::vector<T> c(33 * 33);
  int64_t wrong = 0;
  for (int64_t m = 1; m <= 33; ++m)
    for (int64_t n = 1; n <= 33; ++n)
      for (int64_t k = 1; k <= 33; ++k) {
        std::fill(c.begin(), c.end(), static_cast<T>(kNaN));
        kernels::gemm(kernels::Op::none, kernels::Op::none, m, n, k, T{1}, ones.data(), k,
                      ones.data(), n, T{0}, c.data(), n);
        wrong += m * n - std::count(c.begin(), c.begin() + m * n, static_cast<T>(k));
      }
  CHECK(wrong == 0);
}

TEST_CASE("MAT-02 products of vectors let no old values through") {
  for (const DType dtype : {DType::f32, DType::f64})
    for (int64_t m = 1; m <= 33; ++m)
      for (int64_t k = 1; k <= 33; ++k) {
        full({m}, kNaN, dtype);  // freed: the memory of the next tensor of its size
        const Tensor y = matmul(ones({m, k}, dtype), ones({k}, dtype));
        CHECK(values_of(cast(y, DType::f64)) ==
              Values(static_cast<size_t>(m), static_cast<double>(k)));
      }
}

TEST_CASE("MAT-02 NaN and infinity times zero is NaN in a product") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::f32, DType::f64})
    for (double bad : {kNaN, kInf}) {
      CHECK(std::isnan(
          matmul(tensor({{0, 1}}, dtype), from_values({2, 1}, {bad, 2.0}, dtype)).item()));
      CHECK(std::isnan(matmul(tensor({0, 1}, dtype), tensor({bad, 2}, dtype)).item()));
      CHECK(std::isnan(
          matmul(tensor({{bad, 1}}, dtype), from_values({2, 1}, {0.0, 2.0}, dtype)).item()));
    }
}

TEST_CASE("MAT-05 stride 0 and odd strides of single rows") {
  const Tensor w = tensor({{1, 2}, {3, 4}, {5, 6}}, DType::f64).set_requires_grad();
  const Tensor v = tensor({10, -1}, DType::f64).set_requires_grad();
  const Tensors d = grad({sum(matmul(w, v))}, {w, v});
  CHECK(values_of(d[0]) == Values{10, -1, 10, -1, 10, -1});
  CHECK(values_of(d[1]) == Values{9, 12});
  CHECK(values_of(matmul(w, expand(tensor({2}, DType::f64), {2}))) == Values{6, 14, 22});
  const Tensor last = slice(random_integers({1, 8, 16}, 9), 1, 7, 8);  // [1, 1, 16], stride 128
  const Tensor b = random_integers({16, 3}, 10);
  CHECK(values_of(matmul(last, b)) == values_of(matmul(Tensor(last.array().copy()), b)));
}

TEST_CASE("MAT-06 vectors gain an axis for the product and lose it again") {
  const Tensor a = tensor({1, 2, 3}, DType::f64);
  const Tensor b = tensor({{1, 0}, {0, 2}, {-1, 1}}, DType::f64);
  CHECK(values_of(matmul(a, b)) == Values{-2, 7});
  const Tensors d = gradients(a, b, tensor({1, 10}, DType::f64));
  CHECK(values_of(d[0]) == Values{1, 20, 9});
  CHECK(values_of(d[1]) == Values{1, 10, 2, 20, 3, 30});
  CHECK(matmul(a, a).shape() == Shape{});
  CHECK(matmul(a, a).item() == 14);
  CHECK(matmul(counted({4, 2, 3}), a).shape() == Shape{4, 2});
  CHECK(values_of(matmul(counted({4, 2, 3}), a)) ==
        values_of(squeeze(matmul(counted({4, 2, 3}), unsqueeze(a, 1)), -1)));
  CHECK(matmul(a, counted({4, 3, 2})).shape() == Shape{4, 2});
}

TEST_CASE("MAT-06 the batch broadcasts and its gradients are summed") {
  const Tensor a = ones({2, 1, 2, 3}, DType::f64), b = counted({5, 3, 1});
  const Tensor y = matmul(a, b);
  CHECK(y.shape() == Shape{2, 5, 2, 1});
  CHECK(values_of(select(y, 0, 1)) == Values{3, 3, 12, 12, 21, 21, 30, 30, 39, 39});
  const Tensors d = gradients(a, b, ones({2, 5, 2, 1}, DType::f64));
  CHECK(values_of(d[0]) == Values{30, 35, 40, 30, 35, 40, 30, 35, 40, 30, 35, 40});
  CHECK(d[1].shape() == Shape{5, 3, 1});
  CHECK(values_of(d[1]) == Values(15, 4));
}

TEST_CASE("MAT-06 operands that do not fit are both named") {
  const auto error_of = [](const Shape& a, const Shape& b) {
    return message_of<ShapeError>([&] { matmul(zeros(a), zeros(b)); });
  };
  for (const auto& [a, b] : {std::pair<Shape, Shape>{{}, {3}}, {{3}, {}}, {{}, {2, 2}}, {{}, {}}})
    CHECK(error_of(a, b).starts_with("matmul: operands must be vectors, matrices or batches"));
  CHECK(error_of({2, 3}, {4, 2}) ==
        "matmul: a.dim(-1) must equal b.dim(-2), got a = f32[2, 3], b = f32[4, 2]");
}

#include <limits>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/optim/clip.h>

namespace attograd::optim {
namespace {

Tensor with_gradient(std::initializer_list<double> g, DType dtype = DType::f64) {
  Tensor w = zeros({static_cast<int64_t>(g.size())}, dtype);
  w.set_requires_grad();
  w.set_grad(tensor(g, dtype));
  return w;
}

std::vector<double> gradient(const Tensor& w) {
  return cast(w.grad(), DType::f64).to_vector<double>();
}

TEST_CASE("clipping scales all gradients by one factor and returns the norm before") {
  const Tensor a = with_gradient({3, 4});
  const Tensor b = with_gradient({12});
  CHECK(clip_gradient_norm({a, b}, 6.5) == 13);
  CHECK(gradient(a)[0] == doctest::Approx(1.5).epsilon(1e-6));
  CHECK(gradient(a)[1] == doctest::Approx(2).epsilon(1e-6));
  CHECK(gradient(b)[0] == doctest::Approx(6).epsilon(1e-6));
}

TEST_CASE("gradients within the limit stay as they are to the bit") {
  const Tensor a = with_gradient({0.1, 4});
  CHECK(clip_gradient_norm({a}, 100) == doctest::Approx(4.00124980475));
  CHECK(gradient(a) == std::vector<double>{0.1, 4});
}

TEST_CASE("zero and absent gradients have norm 0") {
  const Tensor a = with_gradient({0, 0});
  CHECK(clip_gradient_norm({a}, 1) == 0);
  CHECK(gradient(a) == std::vector<double>{0, 0});
  Tensor without = zeros({2});
  CHECK(clip_gradient_norm({without}, 1) == 0);
  without.set_requires_grad();
  CHECK(clip_gradient_norm({without, with_gradient({3, 4})}, 1) == 5);
  CHECK_FALSE(without.grad().defined());
  CHECK(clip_gradient_norm({}, 1) == 0);
  CHECK(clip_gradient_norm({with_gradient({})}, 1) == 0);
}

TEST_CASE("a tensor that is listed twice counts once and is scaled once") {
  const Tensor a = with_gradient({3, 4});
  CHECK(clip_gradient_norm({a, a}, 2.5) == 5);
  CHECK(gradient(a)[1] == doctest::Approx(2).epsilon(1e-6));
}

TEST_CASE("the norm survives squares that overflow or vanish") {
  CHECK(gradient_norm({with_gradient({3e200, 4e200})}) / 5e200 == doctest::Approx(1));
  CHECK(gradient_norm({with_gradient({3e-200, 4e-200})}) / 5e-200 == doctest::Approx(1));
  CHECK(gradient_norm({with_gradient({3e30, 4e30}, DType::f32)}) / 5e30 == doctest::Approx(1));
  const Tensor a = with_gradient({3e200, 4e200});
  clip_gradient_norm({a, with_gradient({1})}, 5);
  CHECK(gradient(a)[0] == doctest::Approx(3));
}

TEST_CASE("a norm that is not finite is an error and nothing is scaled") {
  for (double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Tensor a = with_gradient({3, 4});
    CHECK_THROWS_AS(clip_gradient_norm({a, with_gradient({1, bad})}, 1), NumericError);
    CHECK(gradient(a) == std::vector<double>{3, 4});
  }
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(gradient_norm({with_gradient({1, -infinity})}) == infinity);
}

TEST_CASE("gradients whose norm overflows are clipped all the same") {
  const double largest = std::numeric_limits<double>::max();
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor a = with_gradient({largest, -largest}), b = with_gradient({largest, largest});
  CHECK(gradients_are_finite({a, b}));
  CHECK(clip_gradient_norm({a, b}, infinity) == infinity);
  CHECK(gradient(a) == std::vector<double>{largest, -largest});
  CHECK(clip_gradient_norm({a, b}, 1e300) == infinity);
  CHECK(gradient(a)[0] / 5e299 == doctest::Approx(1).epsilon(1e-15));
  CHECK(gradient(a)[1] / -5e299 == doctest::Approx(1).epsilon(1e-15));
  CHECK(gradient_norm({a, b}) / 1e300 == doctest::Approx(1).epsilon(1e-15));
  CHECK_FALSE(gradients_are_finite({a, with_gradient({1, infinity})}));
}

TEST_CASE("a factor below what the gradients can hold loses no digits") {
  // 1e-8 / 5e30 is 2e-39, a denormal of f32; the quotients have f32's digits
  const Tensor a = with_gradient({3e30, 4e30}, DType::f32);
  clip_gradient_norm({a}, 1e-8);
  CHECK(gradient(a)[0] / 6e-9 == doctest::Approx(1).epsilon(1.2e-7));
  CHECK(gradient(a)[1] / 8e-9 == doctest::Approx(1).epsilon(1.2e-7));
  // 2e-100 / 5e300 underflows in f64
  const Tensor b = with_gradient({3e300, 4e300}), small = with_gradient({1}, DType::f32);
  clip_gradient_norm({b, small, with_gradient({})}, 5e-100);
  CHECK(gradient(b)[0] / 3e-100 == doctest::Approx(1).epsilon(1e-15));
  CHECK(gradient(small)[0] == 0);
  // with 1e-6 in the denominator
  const Tensor c = with_gradient({1e-200});
  clip_gradient_norm({c}, 1e-60);
  CHECK(gradient(c)[0] / 1e-254 == doctest::Approx(1).epsilon(1e-15));
  const Tensor zero = with_gradient({0});
  clip_gradient_norm({zero}, 1e-300);
  CHECK(gradient(zero)[0] == 0);
}

TEST_CASE("a gradient shared by two parameters is scaled once for each") {
  const Tensor a = with_gradient({3});
  Tensor b = with_gradient({4});
  b.set_grad(a.grad());
  clip_gradient_norm({a, b}, 1);
  CHECK(gradient(a)[0] == doctest::Approx(0.70710678).epsilon(1e-6));
  CHECK(gradient(b)[0] == gradient(a)[0]);
}

TEST_CASE("the limit must be positive") {
  CHECK_THROWS_AS(clip_gradient_norm({}, 0), ValueError);
  CHECK_THROWS_AS(clip_gradient_norm({}, std::numeric_limits<double>::quiet_NaN()), ValueError);
}

}  // namespace
}  // namespace attograd::optim

#include <doctest/doctest.h>
#include <tests/slopes.h>

using namespace attograd;

TEST_CASE("variance divides by n - correction") {
  const Tensor x = from_values({2, 4}, {1, 2, 3, 6, 5, 5, 7, 7}, DType::f64);
  CHECK(values(var(x, 1, {.correction = 0})) == Values{3.5, 1});
  CHECK(values(attograd::std(x, 1, {.correction = 0}))[1] == 1);
  CHECK(var(x, 1, {.keepdim = true}).shape() == Shape{2, 1});
  CHECK(var(x, 1).to_vector<double>()[0] == doctest::Approx(14.0 / 3).epsilon(1e-15));
  const Tensor far = x + 1e8;  // the mean of the squares would have lost it all
  CHECK(values(var(far, 1, {.correction = 0})) == Values{3.5, 1});
}

TEST_CASE("norm has gradient 0 at 0 and the unit vector elsewhere") {
  const Function f = [](const Tensor& x) { return norm(x); };
  CHECK(slope(f, {0, 0, 0}) == Values{0, 0, 0});
  CHECK(slope(f, {3, -4}) == Values{3.0 / 5, -4.0 / 5});
  CHECK(norm(zeros({0})).item() == 0);
  const Tensor rows = from_values({2, 2}, {3, 4, 0, 0}, DType::f64).set_requires_grad();
  const Tensor y = norm(rows, -1);
  CHECK(values(y) == Values{5, 0});
  const Tensor g = grad({sum(y)}, {rows}, {.create_graph = true})[0];
  const Values second = values(grad({sum(g)}, {rows})[0]);
  CHECK(second[2] == 0);
  CHECK(second[3] == 0);
}

TEST_CASE("the squares in norm neither overflow nor vanish") {
  CHECK(norm(vector({3e200, 4e200})).item() == doctest::Approx(5e200).epsilon(1e-15));
  CHECK(norm(vector({3e-200, 4e-200})).item() == doctest::Approx(5e-200).epsilon(1e-15));
  CHECK(norm(vector({3e30, 4e30}, DType::f32)).item() == doctest::Approx(5e30).epsilon(1e-7));
  CHECK(norm(vector({kInf, 1})).item() == kInf);
}

TEST_CASE("sqrt of a sum of squares is infinitely steep at 0 where norm is flat") {
  const Function by_hand = [](const Tensor& x) { return sqrt(sum(square(x))); };
  CHECK(std::isnan(slope(by_hand, {0, 0})[0]));  // inf times 0
}

TEST_CASE("logsumexp neither overflows nor makes NaN of -inf") {
  const auto f = [](const Tensor& x) { return logsumexp(x, -1); };
  CHECK(f(vector({1000, 1000})).item() == 1000 + std::log(2));
  CHECK(f(vector({-1000, -1000})).item() == -1000 + std::log(2));
  CHECK(f(vector({1e30, 0}, DType::f32)).item() == 1e30f);
  CHECK(f(vector({-kInf, 0})).item() == 0);
  CHECK(slope(f, {-kInf, 0}) == Values{0, 1});
  CHECK(f(vector({-kInf, -kInf})).item() == -kInf);
  CHECK(slope(f, {-kInf, -kInf}) == Values{0, 0});
  CHECK(f(vector({kInf, 0})).item() == kInf);
  CHECK(std::isnan(f(vector({kNaN, 0})).item()));
  CHECK(f(vector({})).item() == -kInf);
  CHECK(slope(f, {1e6 + 0.1, 1e6 + 0.1}) == Values{0.5, 0.5});

  const Tensor x = from_values({2, 2}, {-kInf, -kInf, 0, -kInf}, DType::f64).set_requires_grad();
  const Tensor g = grad({sum(f(x))}, {x}, {.create_graph = true})[0];
  CHECK(values(grad({sum(square(g))}, {x})[0]) == Values{0, 0, 0, 0});
}

TEST_CASE("prod has exact derivatives where elements are 0") {
  const Function f = [](const Tensor& x) { return prod(x); };
  CHECK(slope(f, {2, 3, 4, 5, 6}) == Values{360, 240, 180, 144, 120});
  CHECK(slope(f, {1, 2, 3, 4, 5, 6, 7})[0] == 5040);
  CHECK(slope(f, {1, 2, 3, 4, 5, 6, 7})[6] == 720);
  CHECK(slope(f, {2, 0, 4, 5, 6}) == Values{0, 240, 0, 0, 0});
  CHECK(slope(f, {2, 0, 4, 0, 6}) == Values{0, 0, 0, 0, 0});
  // The third derivative of x0 x1 x2 in one element each is 1, also at 0.
  const Tensor x = zeros({3}, DType::f64).set_requires_grad();
  Tensor y = prod(x);
  for (int64_t i = 0; i < 3; ++i) y = select(grad({y}, {x}, {.create_graph = true})[0], 0, i);
  CHECK(y.item() == 1);
}

TEST_CASE("products of nothing are 1 and any axes may be multiplied") {
  CHECK(prod(zeros({0})).item() == 1);
  CHECK(values(prod(zeros({2, 0}), 1)) == Values{1, 1});
  const Tensor none = zeros({2, 0}).set_requires_grad();
  CHECK(grad({sum(prod(none, 1))}, {none})[0].shape() == Shape{2, 0});
  const Tensor x = counted({2, 3, 2}) + 1;
  CHECK(values(prod(x, {0, 2})) == Values{1 * 2 * 7 * 8, 3 * 4 * 9 * 10, 5 * 6 * 11 * 12});
  CHECK(prod(x, {0, 2}, true).shape() == Shape{1, 3, 1});
  CHECK(prod(x).item() == 479001600);
  CHECK(prod(ids_of({3, -4})).to_vector<int64_t>()[0] == -12);
}

TEST_CASE("cumsum runs along an axis and its gradient runs back") {
  const Tensor x = from_values({2, 3}, {1, 2, 3, 4, 5, 6}, DType::f64);
  CHECK(values(cumsum(x, 1)) == Values{1, 3, 6, 4, 9, 15});
  CHECK(values(cumsum(x, 0)) == Values{1, 2, 3, 5, 7, 9});
  CHECK(values(cumsum(transpose(x), -1)) == Values{1, 5, 2, 7, 3, 9});
  CHECK(cumsum(zeros({2, 0}), 1).shape() == Shape{2, 0});
  for (int64_t axis : {0, 1, 2})
    CHECK(adjoint_gap([axis](const Tensor& v) { return cumsum(v, axis); }, {3, 4, 5}) == 0);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  CHECK(cumsum(ids_of({kMax, 1}), 0).to_vector<int64_t>()[1] ==
        std::numeric_limits<int64_t>::min());
  CHECK(message_of<ShapeError>([] { cumsum(tensor(1), 0); }) ==
        "cumsum: axis must be in [0, 0), got 0");
  const Tensor g = zeros({2, 0}, DType::f64).set_requires_grad();
  CHECK(grad({sum(cumsum(g, 1))}, {g})[0].shape() == Shape{2, 0});
}

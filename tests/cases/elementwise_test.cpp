// Broadcasting, kinks and NaN of elementwise operations.

#include <doctest/doctest.h>
#include <tests/slopes.h>

using namespace attograd;

// ---- broadcasting ----

TEST_CASE("BRC-01 gradients have the shapes of broadcast operands") {
  const Tensor a = reshape(cast(arange(0, 8), DType::f64), {2, 1, 4});
  const Tensor b = from_values({3, 1}, {1, 2, -3}, DType::f64);
  const Tensor x = detach(a).set_requires_grad(), y = detach(b).set_requires_grad();
  const Tensors g = grad({sum(square(x * y))}, {x, y});
  CHECK(g[0].shape() == Shape{2, 1, 4});
  CHECK(values(g[0]) == Values{0, 28, 56, 84, 112, 140, 168, 196});
  CHECK(g[1].shape() == Shape{3, 1});
  CHECK(values(g[1]) == Values{280, 560, -840});
}

TEST_CASE("BRC-02 the gradient of a scalar operand is a scalar") {
  const Tensor s = tensor(1.5, DType::f64).set_requires_grad();
  const Tensor c = vector({2, -4, 7}).set_requires_grad();
  const auto check_both = [&](const Tensor& y, double ds, double dc) {
    const Tensors g = grad({sum(y)}, {s, c});
    CHECK(g[0].shape() == Shape{});
    CHECK(g[0].item() == doctest::Approx(ds).epsilon(1e-15));
    for (double v : values(g[1])) CHECK(v == doctest::Approx(dc).epsilon(1e-15));
  };
  check_both(s * c, 5, 1.5);
  check_both(s + c, 3, 1);
  check_both(s - c, 3, -1);
  check_both(c / s, -5 / 2.25, 1 / 1.5);
}

TEST_CASE("BRC-04 size 0 broadcasts against 1 and its gradient is true zeros") {
  for (int i = 0; i < 4; ++i) full({1, 3}, kNaN, DType::f64);  // freed: the next tensors' memory
  const Tensor a = zeros({0, 3}, DType::f64).set_requires_grad();
  const Tensor b = ones({1, 3}, DType::f64).set_requires_grad();
  const Tensor y = a + b;
  CHECK(y.shape() == Shape{0, 3});
  CHECK(sum(y).item() == 0);
  const Tensors g = grad({sum(y)}, {a, b});
  CHECK(g[0].shape() == Shape{0, 3});
  CHECK(g[1].shape() == Shape{1, 3});
  CHECK(values(g[1]) == Values{0, 0, 0});
}

TEST_CASE("BRC-04 shapes that do not broadcast are both named") {
  const std::string rule =
      "add: shapes must broadcast (aligned at the end: equal, or one of them 1), got ";
  CHECK(message_of<ShapeError>([] { zeros({2, 3}) + zeros({2}); }) == rule + "[2, 3] and [2]");
  CHECK(message_of<ShapeError>([] { zeros({3}) + zeros({4}); }) == rule + "[3] and [4]");
}

// ---- kinks and singular points ----

TEST_CASE("KNK-01 where hands exact zeros to the side that it did not take") {
  const Tensor condition = from_values({2}, std::vector<bool>{true, false});
  const Function f = [&](const Tensor& x) { return where(condition, x, kInf); };
  CHECK(values(f(vector({2, 3}))) == Values{2, kInf});
  CHECK(slope(f, {2, 3}) == Values{1, 0});
  CHECK(slope([&](const Tensor& x) { return where(condition, kNaN, x); }, {2, 3}) == Values{0, 1});
}

TEST_CASE("KNK-01 a root that where discards leaves no NaN behind") {
  const Function root = [](const Tensor& x) { return where(x > 0.0, sqrt(x), x); };
  const Function safe = [](const Tensor& x) {
    return where(x > 0.0, sqrt(where(x > 0.0, x, 1)), x);
  };
  for (const Function& f : {root, safe}) {
    CHECK(values(f(vector({-1, 4}))) == Values{-1, 2});
    CHECK(slope(f, {-1, 4}) == Values{1, 0.25});
  }
}

TEST_CASE("KNK-02 norm and abs and relu are flat at 0") {
  const Values zero = {0, 0, 0};
  CHECK(slope([](const Tensor& x) { return norm(x); }, zero) == zero);
  CHECK(slope([](const Tensor& x) { return norm(x, -1); }, zero) == zero);
  CHECK(slope([](const Tensor& x) { return norm(x, 0, true); }, zero) == zero);
  CHECK(slope([](const Tensor& x) { return abs(x); }, zero) == zero);
  CHECK(slope([](const Tensor& x) { return relu(x); }, zero) == zero);
  // Documented at sqrt: its derivative is infinite at 0, so this is inf times 0.
  for (const double g : slope([](const Tensor& x) { return sqrt(sum(x * x)); }, zero))
    CHECK(std::isnan(g));
}

TEST_CASE("KNK-03 pow has the values and derivatives of its formula at 0") {
  const Values exponents = {0, 1, 2, 3, 0.5, -1};
  const Values expected = {1, 0, 0, 0, 0, kInf};
  const Values derivatives = {0, 1, 0, 0, kInf, -kInf};
  for (size_t i = 0; i < exponents.size(); ++i) {
    const double p = exponents[i];
    CAPTURE(p);
    CHECK(pow(vector({0}), p).item() == expected[i]);
    CHECK(slope([p](const Tensor& x) { return pow(x, p); }, {0}) == Values{derivatives[i]});
    CHECK(slope([p](const Tensor& x) { return pow(x, vector({p})); }, {0}) ==
          Values{derivatives[i]});
  }
  CHECK(curvature([](const Tensor& x) { return pow(x, 3); }, {0, 2}) == Values{0, 12});
  CHECK(curvature([](const Tensor& x) { return pow(x, 2); }, {0, 2}) == Values{2, 2});
  CHECK(curvature([](const Tensor& x) { return pow(x, 0); }, {0, 2}) == Values{0, 0});
}

TEST_CASE("KNK-05 the gradients of tied maxima add up to 1") {
  const Values v = {1, 3, 3, 2};
  CHECK(slope([](const Tensor& x) { return max(x); }, v) == Values{0, 0.5, 0.5, 0});
  CHECK(slope([](const Tensor& x) { return max(x, 0); }, v) == Values{0, 0.5, 0.5, 0});
  CHECK(slope([](const Tensor& x) { return max_with_index(x, 0).values; }, v) ==
        Values{0, 1, 0, 0});
  CHECK(max_with_index(vector(v), 0).indices.item() == 1);
  const Tensor a = vector({1, 2}).set_requires_grad(), b = vector({1, 5}).set_requires_grad();
  const Tensors g = grad({sum(maximum(a, b))}, {a, b});
  CHECK(values(g[0]) == Values{0.5, 0});
  CHECK(values(g[1]) == Values{0.5, 1});
}

// ---- NaN ----

TEST_CASE("NAN-01 NaN passes relu and clamp and maximum") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = vector({kNaN, -1, 2}, dtype), other = vector({0, kNaN, 1}, dtype);
    CHECK(same(values(relu(x)), {kNaN, 0, 2}));
    CHECK(same(values(clamp(x, 0, 1)), {kNaN, 0, 1}));
    CHECK(same(values(maximum(x, other)), {kNaN, kNaN, 2}));
    CHECK(same(values(maximum(other, x)), {kNaN, kNaN, 2}));
    CHECK(std::isnan(max(x).item()));
    CHECK(argmax(x).item() == 0);
  }
}

TEST_CASE("NAN-01 NaN passes at any length and place") {
  for (size_t n : {1u, 7u, 8u, 9u, 17u, 33u}) {
    CAPTURE(n);
    for (DType dtype : {DType::f32, DType::f64})
      for (size_t place = 0; place < n; ++place) {
        Values v(n, -1);
        v[place] = kNaN;
        const Tensor x = vector(v, dtype);
        const Tensor other = vector(Values(n, 0.5), dtype);
        for (const Tensor& y : {relu(x), clamp(x, 0, 1), maximum(x, other), maximum(other, x),
                                minimum(x, other), minimum(other, x), abs(x), sign(x)}) {
          const Values result = values(y);
          for (size_t i = 0; i < n; ++i) CHECK(std::isnan(result[i]) == (i == place));
        }
      }
  }
  CHECK(same(values(relu(vector({kNaN, -1, 2}))), {kNaN, 0, 2}));
  CHECK(same(values(clamp(vector({kNaN, -1, 2}), 0, 1)), {kNaN, 0, 1}));
}

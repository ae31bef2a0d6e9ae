#include <doctest/doctest.h>
#include <tests/slopes.h>

using namespace attograd;

// ---- kinks and singular points ----

TEST_CASE("a value that where discards leaves no NaN behind at order 1 and 2") {
  const Function root = [](const Tensor& x) { return where(x > 0.0, sqrt(x), x); };
  CHECK(slope(root, {-1, 4, 0}) == Values{1, 0.25, 1});
  CHECK(curvature(root, {-1, 4, 0}) == Values{0, -0.03125, 0});
  const Function safe = [](const Tensor& x) {
    return where(x > 0.0, sqrt(where(x > 0.0, x, 1)), x);
  };
  CHECK(slope(safe, {-1, 4}) == Values{1, 0.25});

  const std::vector<std::pair<Function, double>> poles = {
      {[](const Tensor& x) { return sqrt(x); }, 0},
      {[](const Tensor& x) { return sqrt(x); }, -1},
      {[](const Tensor& x) { return rsqrt(x); }, 0},
      {[](const Tensor& x) { return log(x); }, 0},
      {[](const Tensor& x) { return log(exp(x)); }, 1000},
      {[](const Tensor& x) { return expm1(x); }, 1000},
      {[](const Tensor& x) { return log1p(x); }, -1},
      {[](const Tensor& x) { return 1.0 / x; }, 0},
      {[](const Tensor& x) { return x / 0.0; }, 2},
      {[](const Tensor& x) { return x / x; }, 0},
      {[](const Tensor& x) { return pow(x, 0.5); }, 0},
      {[](const Tensor& x) { return pow(x, -1); }, 0},
      {[](const Tensor& x) { return pow(x, 0.5); }, -1},
      {[](const Tensor& x) { return pow(x, x); }, 0},
      {[](const Tensor& x) { return pow(x, x - 0.5); }, 0},
      {[](const Tensor& x) { return pow(0.0, x); }, -1},
  };
  for (size_t i = 0; i < poles.size(); ++i) {
    CAPTURE(i);
    const auto& [f, pole] = poles[i];
    const Function masked = [&f = f, pole = pole](const Tensor& x) {
      return where(equal(x, pole), 3 * x, f(x));
    };
    const Values at = {pole, 2.5};
    CHECK(slope(masked, at)[0] == 3);
    CHECK(curvature(masked, at)[0] == 0);
    CHECK(slope(masked, at)[1] == slope(f, at)[1]);
    CHECK(curvature(masked, at)[1] == curvature(f, at)[1]);
  }
}

TEST_CASE("a zero gradient keeps its own derivative beside a pole") {
  // (x - 1)^2 log(x) = (x - 1)^3 - ... : log receives 0 at 1 and its rule is still needed later.
  const Tensor x = vector({1, 0}).set_requires_grad();
  Tensor y = square(x - 1) * log(x);
  for (int order = 0; order < 3; ++order)
    y = grad({sum(slice(y, 0, 0, 1))}, {x}, {.create_graph = true})[0];
  CHECK(values(y)[0] == 6);
}

TEST_CASE("derivatives at poles are infinite and not NaN") {
  CHECK(slope([](const Tensor& x) { return sqrt(x); }, {0}) == Values{kInf});
  CHECK(slope([](const Tensor& x) { return rsqrt(x); }, {0}) == Values{-kInf});
  CHECK(slope([](const Tensor& x) { return log(x); }, {0}) == Values{kInf});
  CHECK(slope([](const Tensor& x) { return log1p(x); }, {-1}) == Values{kInf});
  CHECK(slope([](const Tensor& x) { return 1 / x; }, {0}) == Values{-kInf});
}

TEST_CASE("abs and relu and clamp have the documented gradients at their kinks") {
  CHECK(slope([](const Tensor& x) { return abs(x); }, {-2, 0, 3}) == Values{-1, 0, 1});
  CHECK(slope([](const Tensor& x) { return relu(x); }, {-2, 0, 3}) == Values{0, 0, 1});
  CHECK(slope([](const Tensor& x) { return leaky_relu(x, 0.5); }, {-2, 0, 3}) ==
        Values{0.5, 0.5, 1});
  CHECK(slope([](const Tensor& x) { return elu(x, 2); }, {0, 3}) == Values{2, 1});
  CHECK(slope([](const Tensor& x) { return clamp(x, 0, 1); }, {-1, 0, 0.5, 1, 2}) ==
        Values{0, 1, 1, 1, 0});
  CHECK(slope([](const Tensor& x) { return sign(x); }, {-2, 0, 3}) == Values{0, 0, 0});
}

TEST_CASE("pow has a finite gradient in its exponent at 0") {
  const Tensor base = vector({0, 0, 2});
  CHECK(slope([&](const Tensor& p) { return pow(base, p); }, {0, 3, 1}) ==
        Values{0, 0, 2 * std::log(2)});
  CHECK(values(pow(-2.0, vector({2, 3}))) == Values{4, -8});
}

TEST_CASE("ties of maximum and minimum are shared by halves") {
  const Tensor a = vector({1, 2}).set_requires_grad();
  const Tensor b = vector({1, 5}).set_requires_grad();
  Tensors g = grad({sum(maximum(a, b))}, {a, b});
  CHECK(values(g[0]) == Values{0.5, 0});
  CHECK(values(g[1]) == Values{0.5, 1});
  g = grad({sum(minimum(a, b))}, {a, b});
  CHECK(values(g[0]) == Values{0.5, 1});
  CHECK(values(g[1]) == Values{0.5, 0});
  CHECK(slope([](const Tensor& x) { return maximum(x, x); }, {3}) == Values{1});
}

// ---- NaN and infinity ----

TEST_CASE("activations neither overflow nor lose their gradients far from 0") {
  const Values far = {-1000, 1000};
  const auto check_far = [&](const Function& f, const Values& value, const Values& gradient) {
    CHECK(values(f(vector(far))) == value);
    CHECK(values(f(vector(far, DType::f32))) == value);
    CHECK(slope(f, far) == gradient);
    CHECK(curvature(f, far) == Values{0, 0});
  };
  check_far([](const Tensor& x) { return sigmoid(x); }, {0, 1}, {0, 0});
  check_far([](const Tensor& x) { return softplus(x); }, {0, 1000}, {0, 1});
  check_far([](const Tensor& x) { return silu(x); }, {0, 1000}, {0, 1});
  check_far([](const Tensor& x) { return elu(x); }, {-1, 1000}, {0, 1});
  check_far([](const Tensor& x) { return tanh(x); }, {-1, 1}, {0, 0});
  check_far([](const Tensor& x) { return erf(x); }, {-1, 1}, {0, 0});
  const Function swish = [](const Tensor& x) { return silu(x); };
  for (const DType dtype : {DType::f32, DType::f64})
    CHECK(values(swish(vector({-kInf, kInf}, dtype))) == Values{0, kInf});
  CHECK(slope(swish, {-kInf, kInf}) == Values{0, 1});  // by the kernel
  CHECK(curvature(swish, {-kInf, kInf}) == Values{0, 0});
  CHECK(std::isnan(slope(swish, {kNaN})[0]));
  CHECK(softplus(vector({-700})).item() == std::exp(-700));
  CHECK(expm1(vector({1e-18})).item() == 1e-18);
  CHECK(log1p(vector({1e-18})).item() == 1e-18);
  CHECK(slope([](const Tensor& x) { return expm1(x); }, {-700}) == Values{std::exp(-700)});
}

TEST_CASE("is_finite finds NaN and infinities") {
  CHECK(values(is_finite(vector({0, kNaN, kInf, -kInf, 1e308}))) == Values{1, 0, 0, 0, 1});
  CHECK(values(is_finite(ids_of({1, 2}))) == Values{1, 1});
}

// ---- broadcasting ----

TEST_CASE("where and masked_fill broadcast all of their operands") {
  const Tensor rows = from_values({2, 1}, std::vector<bool>{true, false});
  const Tensor x = vector({1, 2, 3});
  CHECK(values(where(rows, x, 0)) == Values{1, 2, 3, 0, 0, 0});
  CHECK(values(masked_fill(x, rows, 9)) == Values{9, 9, 9, 1, 2, 3});
  CHECK(slope([&](const Tensor& v) { return masked_fill(v, rows, 9); }, {1, 2, 3}) ==
        Values{1, 1, 1});
}

// ---- dtypes ----

TEST_CASE("integers wrap around instead of overflowing") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const Tensor x = ids_of({kMax, kMin, -3});
  const auto integers = [](const Tensor& y) { return y.to_vector<int64_t>(); };
  using Integers = std::vector<int64_t>;
  CHECK(integers(x + 1) == Integers{kMin, kMin + 1, -2});
  CHECK(integers(x - 1) == Integers{kMax - 1, kMax, -4});
  CHECK(integers(x * 2) == Integers{-2, 0, -6});
  CHECK(integers(-x) == Integers{-kMax, kMin, 3});
  CHECK(integers(abs(x)) == Integers{kMax, kMin, 3});
  CHECK(integers(square(x)) == Integers{1, 0, 9});
  CHECK(integers(maximum(x, 0)) == Integers{kMax, 0, 0});
  CHECK(integers(minimum(x, 0)) == Integers{0, kMin, -3});
  CHECK(integers(clamp(x, -5, 5)) == Integers{5, -5, -3});
  CHECK(integers(sign(x)) == Integers{1, -1, -1});
  CHECK(values(x < 0) == Values{0, 1, 1});
}

TEST_CASE("comparisons agree with their names") {
  const Tensor a = vector({1, 2, 3, kNaN}), b = vector({2, 2, 2, kNaN});
  CHECK(values(equal(a, b)) == Values{0, 1, 0, 0});
  CHECK(values(not_equal(a, b)) == Values{1, 0, 1, 1});
  CHECK(values(a < b) == Values{1, 0, 0, 0});
  CHECK(values(a <= b) == Values{1, 1, 0, 0});
  CHECK(values(a > b) == Values{0, 0, 1, 0});
  CHECK(values(a >= b) == Values{0, 1, 1, 0});
  CHECK(values(a < 2) == Values{1, 0, 0, 0});
  CHECK(values(a <= 2) == Values{1, 1, 0, 0});
  CHECK(values(a > 2) == Values{0, 0, 1, 0});
  CHECK(values(a >= 2) == Values{0, 1, 1, 0});
  CHECK(values(2 < a) == Values{0, 0, 1, 0});
  CHECK(values(2 <= a) == Values{0, 1, 1, 0});
  CHECK(values(2 > a) == Values{1, 0, 0, 0});
  CHECK(values(2 >= a) == Values{1, 1, 0, 0});
  const Tensor t = from_values({2}, std::vector<bool>{true, false});
  CHECK(values(equal(t, true)) == Values{1, 0});
  CHECK(values(logical_and(t, logical_not(t))) == Values{0, 0});
  CHECK(values(logical_or(t, logical_not(t))) == Values{1, 1});
}

TEST_CASE("cast cuts fractions off and refuses what i64 cannot hold") {
  CHECK(cast(vector({-1.9, 1.9}), DType::i64).to_vector<int64_t>() == std::vector<int64_t>{-1, 1});
  CHECK(values(cast(vector({0, 2, kNaN}), DType::boolean)) == Values{0, 1, 1});
  for (double bad : {kNaN, kInf, -kInf, 9223372036854775808.0})
    CHECK(message_of<NumericError>([&] {
            cast(vector({1, bad}), DType::i64);
          }) ==
          "cast: i64 holds whole numbers below 2^63, got NaN, an infinity or a larger number in "
          "f64[2]");
  CHECK(cast(vector({-9223372036854775808.0}), DType::i64).item() == -9223372036854775808.0);
  const Tensor x = vector({1, 2}, DType::f32).set_requires_grad();
  const Tensor g = grad({sum(cast(x, DType::f64) * vector({3, 4}))}, {x})[0];
  CHECK(g.dtype() == DType::f32);
  CHECK(values(g) == Values{3, 4});
}

TEST_CASE("operations name the dtypes that they take") {
  const Tensor mask = from_values({2}, std::vector<bool>{true, false});
  const Tensor ids = ids_of({1, 2}), x = vector({1, 2});
  CHECK(message_of<DTypeError>([&] { -mask; }) ==
        "neg: takes f32 or f64 or i64, got bool; convert with cast");
  CHECK(message_of<DTypeError>([&] { exp(ids); }) ==
        "exp: takes f32 or f64, got i64; convert with cast");
  CHECK(message_of<DTypeError>([&] { logical_not(x); }) ==
        "logical_not: takes bool, got f64; convert with cast");
  CHECK(message_of<DTypeError>([&] { ids * 2.5; }) ==
        "mul: 2.5 is no i64, as a number beside i64[2] must be; convert with cast");
  CHECK(message_of<DTypeError>([&] { maximum(ids, kInf); }) ==
        "maximum: inf is no i64, as a number beside i64[2] must be; convert with cast");
  CHECK(message_of<DTypeError>([&] { x + ids; }) ==
        "add: a and b must have one dtype, got a = f64[2], b = i64[2]; convert with cast(x, "
        "DType::f64)");
  CHECK(message_of<DTypeError>([&] { where(x, x, x); }) ==
        "where: the mask must be bool, got f64[2]; compare first, as in where(x > 0, a, b)");
  CHECK(message_of<ValueError>([&] { clamp(x, 1, 0); }) ==
        "clamp: low must be <= high, got 1 and 0");
  CHECK(message_of<ValueError>([&] { clamp(x, 0, kNaN); }) ==
        "clamp: low must be <= high, got 0 and nan");
}

TEST_CASE("the gradient of a cast is the gradient from above in the dtype of the input") {
  const Tensor x = tensor({1, 2}).set_requires_grad();
  const Tensor y = cast(x, DType::f64);
  const Tensor g = grad({y * y}, {x}, {}, {tensor({1, 10}, DType::f64)})[0];
  CHECK(g.dtype() == DType::f32);
  CHECK(g.to_vector<float>() == std::vector<float>{2, 40});
}

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>
#include <attograd/core/random.h>

using namespace attograd;

namespace {

Tensor leaf(const Shape& shape, uint64_t seed = 1) {
  Rng rng(seed);
  return randn(shape, rng, DType::f64).set_requires_grad();
}

Tensor point(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}

template <class F>
Tensor unary(const Tensor& x, F value, Rule rule) {
  return record({.name = user_op("unary"),
                 .inputs = {x},
                 .value = map("unary", x.array(), value),
                 .vjp = {rule}});
}

Tensor relu_of(const Tensor& x) {
  return unary(
      x, [](auto v) { return v > 0 ? v : v * 0; },
      [](const Tensor& g, const Tensors& in) {
        return g * Tensor(map("step", in[0].array(), [](auto v) { return v > 0 ? v / v : v * 0; }));
      });
}

std::string text_of(const GradcheckReport& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("correct derivatives pass at every seed") {
  const auto softmax_of = [](const Tensors& x) {
    const Tensor e = exp(x[0]);
    return e / expand(sum(e, -1, true), {3, 4});
  };
  const auto mixed = [](const Tensors& x) { return Tensors{tanh(x[0] * x[1]), x[0] - 2 * x[1]}; };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Tensors one = {leaf({3, 4}, seed)};
    const Tensors two = {leaf({2, 3}, seed), leaf({3}, seed + 1000)};
    for (const GradcheckReport& report :
         {gradcheck(softmax_of, one, {.seed = seed}),
          gradgradcheck(softmax_of, one, {.seed = seed}), gradcheck(mixed, two, {.seed = seed}),
          gradgradcheck(mixed, two, {.seed = seed})}) {
      CAPTURE(seed);
      CHECK_MESSAGE(report.ok(), report);
    }
  }
}

TEST_CASE("derivatives of any scale pass") {
  for (const double scale : {1e-200, 1e-12, 1e12, 1e200}) {
    CAPTURE(scale);
    const auto f = [scale](const Tensors& x) { return exp(x[0]) * scale; };
    CHECK(gradcheck(f, {leaf({5})}).ok());
    const auto wrong = [scale](const Tensors& x) {
      return exp(x[0]) * (x[0] + detach(x[0])) * scale;
    };
    CHECK(gradcheck(wrong, {leaf({5})}).verdict() == Verdict::fail);
  }
  for (const double shift : {1e-3, 1.0, 1e6}) {
    CAPTURE(shift);
    const auto f = [shift](const Tensors& x) { return log(x[0]) * shift; };
    CHECK(gradcheck(f, {point({shift, 2 * shift, 3 * shift})}).ok());
  }
}

TEST_CASE("a float32 input or output is refused") {
  const auto square = [](const Tensors& x) { return x[0] * x[0]; };
  const Tensors x = {tensor({1, 100}).set_requires_grad()};
  CHECK_THROWS_WITH_AS(gradcheck(square, x, {.name = "square"}),
                       "gradcheck: needs f64, got input 0 of square = f32[2]; rounding hides "
                       "mistakes in other types: check the operation in f64",
                       DTypeError);
  const auto narrow = [](const Tensors& in) { return cast(in[0], DType::f32); };
  CHECK_THROWS_AS(gradcheck(narrow, {leaf({2})}), DTypeError);
}

TEST_CASE("nothing to check is an error and not a pass") {
  const auto square = [](const Tensors& x) { return x[0] * x[0]; };
  CHECK_THROWS_WITH_AS(gradcheck(square, {ones({2}, DType::f64)}),
                       "gradcheck: no input of f requires gradients, so nothing would be checked; "
                       "call set_requires_grad()",
                       GraphError);
  CHECK_THROWS_AS(gradcheck(square, {}), GraphError);
  CHECK_THROWS_AS(gradgradcheck(square, {ones({2}, DType::f64)}), GraphError);
  const Tensor captured = leaf({2});
  const auto ignores = [captured](const Tensors&) { return captured * captured; };
  CHECK_THROWS_WITH_AS(gradcheck(ignores, {leaf({2})}),
                       "gradcheck: f does not depend on input 0 f64[2]; it must use the tensors "
                       "that it is given, not captured ones",
                       GraphError);
}

TEST_CASE("integers and constants are skipped and the report says so") {
  const auto f = [](const Tensors& x) { return x[0] * x[2] * cast(x[1], DType::f64); };
  const GradcheckReport report =
      gradcheck(f, {leaf({2}), arange(1, 3), ones({2}, DType::f64)}, {.name = "product"});
  CHECK(report.ok());
  CHECK(contains(text_of(report), "input 1 i64[2]: not checked, only f32 and f64 have gradients"));
  CHECK(contains(text_of(report), "input 2 f64[2]: not checked, it requires no gradients"));
}

TEST_CASE("NaN and infinite derivatives fail") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto square = [](const Tensors& x) { return x[0] * x[0]; };
  CHECK(gradcheck(square, {point({1, nan})}).verdict() == Verdict::fail);
  const auto log_of = [](const Tensors& x) { return log(x[0]); };
  CHECK(gradcheck(log_of, {point({1, 0})}).verdict() == Verdict::fail);
  const auto nan_rule = [](const Tensors& x) {
    return unary(
        x[0], [](auto v) { return v; }, [](const Tensor& g) { return g / (g - g); });
  };
  const GradcheckReport report = gradcheck(nan_rule, {leaf({2, 2})});
  CHECK(report.inputs[0].count(Verdict::fail) == 4);
}

TEST_CASE("outputs that stay infinite do not disturb the others") {
  const auto f = [](const Tensors& x) {
    const Tensor masked = full({2}, -std::numeric_limits<double>::infinity(), DType::f64);
    return Tensors{x[0] * x[0], masked};
  };
  CHECK(gradcheck(f, {leaf({2})}).ok());
}

TEST_CASE("terms that cancel may leave their rounding where no output moves") {
  const auto constant = [](double left_over) {
    return [=](const Tensors& x) {
      return unary(
          x[0], [](auto v) { return v * 0 + 1; }, [=](const Tensor& g) { return g * left_over; });
    };
  };
  CHECK(gradcheck(constant(2e-16), {leaf({5})}).ok());
  CHECK_FALSE(gradcheck(constant(1e-13), {leaf({5})}).ok());
}

TEST_CASE("a step that leaves the domain is made smaller") {
  const auto f = [](const Tensors& x) { return log(x[0]); };
  CHECK(gradcheck(f, {point({1e-3, 1e-4, 1})}).ok());
}

TEST_CASE("a kink is inconclusive and named") {
  const auto relu = [](const Tensors& x) { return relu_of(x[0]); };
  for (const double at : {0.0, 5e-7, -5e-7, 2e-6}) {
    CAPTURE(at);
    const GradcheckReport report = gradcheck(relu, {point({1, at})});
    CHECK_MESSAGE(report.verdict() == Verdict::inconclusive, report);
    CHECK(report.inputs[0].count(Verdict::pass) == 1);
    CHECK(contains(text_of(report), "kink"));
  }
  for (const double at : {1e-5, 1e-4, 1e-3, -3e-3, 4e-3, 5e-3}) {  // a smaller step clears it
    CAPTURE(at);
    CHECK(gradcheck(relu, {point({at})}).ok());
  }
  const auto abs_of = [](const Tensors& x) { return relu_of(x[0]) + relu_of(-x[0]); };
  CHECK(gradcheck(abs_of, {point({0})}).verdict() == Verdict::inconclusive);
  const auto wrong = [](const Tensors& x) {
    return unary(
        x[0], [](auto v) { return v > 0 ? v : v * 0; }, [](const Tensor& g) { return g * 2; });
  };
  CHECK(gradcheck(wrong, {point({0})}).verdict() == Verdict::fail);  // outside of both slopes
}

TEST_CASE("noise is inconclusive") {
  const auto noise = [](double v) {  // the scrambled bits of v, in [0, 1)
    return Rng(std::bit_cast<uint64_t>(v)).uniform();
  };
  const auto noisy = [noise](const Tensors& x) {
    return unary(
        x[0], [noise](auto v) { return v + static_cast<decltype(v)>(1e-4 * noise(v)); },
        [](const Tensor& g) { return g; });
  };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const GradcheckReport report = gradcheck(noisy, {leaf({4}, seed)});
    CHECK_MESSAGE(report.verdict() == Verdict::inconclusive, report);
  }
}

TEST_CASE("a function that changes from call to call is refused") {
  int calls = 0;
  const auto f = [&calls](const Tensors& x) { return x[0] * static_cast<double>(++calls); };
  CHECK_THROWS_AS(gradcheck(f, {leaf({2})}), ValueError);
}

TEST_CASE("the report names the function and input and index and both numbers") {
  const auto f = [](const Tensors& x) {
    return x[0] + unary(
                      x[1], [](auto v) { return v * 3; }, [](const Tensor& g) { return g * 6; });
  };
  const GradcheckReport report =
      gradcheck(f, {leaf({2, 1}), leaf({2, 3})}, {.name = "triple", .input_names = {"a", "b"}});
  const std::string text = text_of(report);
  CHECK(contains(text, "FAIL triple"));
  CHECK(contains(text, "a f64[2, 1]: 0 of 2 entries differ"));
  CHECK(contains(text, "b f64[2, 3]: 6 of 6 entries differ"));
  const GradcheckEntry& worst = *report.inputs[1].worst();
  CHECK(worst.analytic == doctest::Approx(2 * worst.numeric));
  std::ostringstream entry;
  entry << worst.index << "  analytic " << worst.analytic << "  numeric " << worst.numeric;
  CHECK(contains(text, entry.str()));
}

TEST_CASE("a gradient that never arrives is named") {
  const auto f = [](const Tensors& x) { return detach(x[0]) * 2; };
  const GradcheckReport report = gradcheck(f, {leaf({2})});
  CHECK(report.verdict() == Verdict::fail);
  CHECK(contains(text_of(report), "no gradient reaches it"));
}

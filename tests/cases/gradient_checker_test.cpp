// The gradient checker.

#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/gradcheck.h>
#include <attograd/core/random.h>

using namespace attograd;

namespace {

Tensor point(std::initializer_list<double> values, DType dtype = DType::f64) {
  return tensor(values, dtype).set_requires_grad();
}

Tensor leaf(const Shape& shape, uint64_t seed = 1) {
  Rng rng(seed);
  return randn(shape, rng, DType::f64).set_requires_grad();
}

Tensor squared(const Tensors& x) { return x[0] * x[0]; }

std::string text_of(const GradcheckReport& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("GCK-01 float32 inputs are refused and the same in double pass") {
  for (const double at : {1.0, 100.0}) {
    CHECK(
        message_of<DTypeError>([&] { gradcheck(squared, {point({at}, DType::f32)}); }) ==
        "gradcheck: needs f64, got input 0 of f = f32[1]; rounding hides mistakes in other types: "
        "check the operation in f64");
    CHECK(gradcheck(squared, {point({at})}).ok());
  }
}

TEST_CASE("GCK-03 a kink is inconclusive and named") {
  const auto relu_of = [](const Tensors& x) { return relu(x[0]); };
  const auto abs_of = [](const Tensors& x) { return abs(x[0]); };
  for (const GradcheckReport& report :
       {gradcheck(relu_of, {point({0})}), gradcheck(relu_of, {point({5e-7})}),
        gradcheck(abs_of, {point({0})})}) {
    CHECK(report.verdict() == Verdict::inconclusive);
    CHECK(contains(text_of(report), "kink"));
  }
  // From a small step on, a smaller one clears the kink, and the slope is the right one.
  CHECK(gradcheck(relu_of, {point({5e-7})}, {.step = 1e-6}).ok());
  const GradcheckReport report = gradcheck(relu_of, {point({0})});
  const GradcheckEntry& entry = report.inputs[0].entries[0];
  CHECK(entry.analytic == 0);
  CHECK(std::min(std::abs(entry.left), std::abs(entry.right)) == 0);  // slopes 0 and v
  CHECK(entry.numeric == doctest::Approx((entry.left + entry.right) / 2));
}

TEST_CASE("GCK-06 an input that requires no gradients is an error and not a pass") {
  CHECK(message_of<GraphError>([] { gradcheck(squared, {ones({2}, DType::f64)}); }) ==
        "gradcheck: no input of f requires gradients, so nothing would be checked; call "
        "set_requires_grad()");
}

TEST_CASE("GCK-06 an integer input is skipped and the report says so") {
  const auto lookup = [](const Tensors& x) { return embedding(x[0], x[1]); };
  const Tensor table = leaf({3, 2});
  const GradcheckReport report = gradcheck(lookup, {table, ids_of({2, 0, 1, 2})});
  CHECK(report.ok());
  CHECK(contains(text_of(report), "input 1 i64[4]: not checked, only f32 and f64 have gradients"));
}

TEST_CASE("GCK-06 a padding row that passes its value and no gradient is a mismatch in that row") {
  const auto padded = [](const Tensors& x) {  // row 1 is the padding
    const Tensor is_padding = unsqueeze(equal(arange(0, 3), 1), 1);
    return embedding(where(is_padding, detach(x[0]), x[0]), x[1]);
  };
  const Tensor table = leaf({3, 2});
  const GradcheckReport report = gradcheck(padded, {table, ids_of({2, 1, 0, 1})});
  CHECK(report.verdict() == Verdict::fail);
  for (const GradcheckEntry& entry : report.inputs[0].entries) {
    CHECK((entry.verdict == Verdict::fail) == (entry.index[0] == 1));
    if (entry.index[0] == 1) CHECK(entry.analytic == 0);
  }
  CHECK(contains(text_of(report), "2 of 6 entries differ"));
  CHECK(contains(text_of(report), "[1, "));
}

TEST_CASE("GCK-06 the identity passes and so do inputs in any layout") {
  const auto identity = [](const Tensors& x) { return x[0]; };
  CHECK(gradcheck(identity, {leaf({3})}).ok());
  const Array base = leaf({4, 3, 2}).array();
  const auto f = [](const Tensors& x) {
    CHECK_FALSE(x[0].array().is_contiguous());
    return exp(x[0]) * x[0];
  };
  Tensor transposed(base.view({2, 3, 4}, {1, 2, 6}));
  CHECK(gradcheck(f, {transposed.set_requires_grad()}).ok());
  CHECK(gradgradcheck(f, {transposed}).ok());
  Tensor expanded(base.view({3, 4}, {2, 0}));
  const auto g = [](const Tensors& x) { return exp(x[0]) * x[0]; };
  CHECK(gradcheck(g, {expanded.set_requires_grad()}).ok());
}

TEST_CASE("GCK-06 the inputs keep their bits also when the function throws") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = point({1, nan, -0.0});
  const uint64_t version = x.array().version();
  int calls = 0;
  const auto f = [&calls](const Tensors& in) {
    if (++calls == 6) throw std::runtime_error("enough");
    return in[0] * in[0];
  };
  CHECK_THROWS_WITH(gradcheck(f, {x}), "enough");
  CHECK(x.array().version() == version);
  CHECK(x.to_vector<double>()[0] == 1);
  CHECK(std::isnan(x.to_vector<double>()[1]));
  CHECK(std::signbit(x.to_vector<double>()[2]));
  CHECK_FALSE(x.grad().defined());
}

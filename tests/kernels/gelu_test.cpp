#include <numbers>
#include <type_traits>

#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/gelu.h>

namespace attograd::kernels {
namespace {

Exact cdf(Exact x) { return std::erfc(-x / std::numbers::sqrt2_v<Exact>) / 2; }
Exact density(Exact x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<Exact>); }
Exact inner(Exact x) {
  return std::sqrt(2 / std::numbers::pi_v<Exact>) * (x + Exact{0.044715} * x * x * x);
}
Exact inner_slope(Exact x) {
  return std::sqrt(2 / std::numbers::pi_v<Exact>) * (1 + 3 * Exact{0.044715} * x * x);
}
/// (1 + tanh u) / 2 without cancellation.
Exact gate(Exact u) { return 1 / (1 + std::exp(-2 * u)); }

Doubles inputs() {
  Doubles x = {0,  1e-30, -1e-30, 1e-42, 5.9,  -5.9,  -9.5, 12,
               30, -30,   200,    -200,  1e20, -1e20, 3e38, -3e38};
  for (int i = -800; i <= 800; ++i) x.push_back(static_cast<double>(static_cast<float>(i) / 128));
  return x;
}

template <class F>
Doubles each(const Doubles& x, F f) {
  Doubles y;
  for (const double v : x) y.push_back(static_cast<double>(f(Exact{v})));
  return y;
}

TEST_CASE_TEMPLATE("gelu is x times the normal distribution up to its tails", T, float, double) {
  const Doubles x = inputs();
  std::vector<T> y(x.size());
  gelu(static_cast<int64_t>(x.size()), as<T>(x).data(), y.data());
  const Doubles wanted = each(x, [](Exact v) { return v * cdf(v); });
  // scaled_erfc alone may be off by 6 of the smaller ULP below 1. In double the rounding of x /
  // sqrt 2 is magnified by the slope of log erfc, which is x^2 far out.
  for (size_t i = 0; i < x.size(); ++i) {
    const double tail = std::is_same_v<T, double> && x[i] < 0 ? x[i] * x[i] : 0;
    CHECK(ulps<T>({y[i]}, {wanted[i]}) <= 8 + tail);
  }
}

TEST_CASE_TEMPLATE("gelu_tanh is its formula up to its tails", T, float, double) {
  const Doubles x = inputs();
  std::vector<T> y(x.size());
  gelu_tanh(static_cast<int64_t>(x.size()), as<T>(x).data(), y.data());
  const Doubles wanted = each(x, [](Exact v) { return v * gate(inner(v)); });
  CHECK(ulps(y, wanted) <= 1);
  // 2 u is off by some 3 ULP, and 1 ULP of 2 u is |2 u| ULP of e^(2 u).
  for (size_t i = 0; i < x.size(); ++i) {
    const auto u = static_cast<double>(inner(x[i]));
    if (std::fabs(x[i]) < 7) CHECK(ulps<T>({y[i]}, {wanted[i]}) <= 4 + 3 * std::fabs(2 * u));
  }
}

TEST_CASE_TEMPLATE("the gradients of gelu are the definitions", T, float, double) {
  const Doubles x = inputs(), g = normals(static_cast<int64_t>(x.size()), 1);
  Doubles erf_form, tanh_form;
  for (size_t i = 0; i < x.size(); ++i) {
    const Exact v = x[i], s = gate(inner(v));
    const bool flat = std::fabs(x[i]) > 50;  // where x^2 times 0 may be inf times 0
    erf_form.push_back(static_cast<double>(g[i] * (cdf(v) + (flat ? 0 : v * density(v)))));
    const Exact slope = flat ? 0 : 2 * s * (1 - s) * inner_slope(v);
    tanh_form.push_back(static_cast<double>(g[i] * (s + v * slope)));
  }
  std::vector<T> dx(x.size());
  gelu_vjp(static_cast<int64_t>(x.size()), as<T>(g).data(), as<T>(x).data(), dx.data());
  CHECK(ulps(dx, erf_form) <= 4);
  gelu_tanh_vjp(static_cast<int64_t>(x.size()), as<T>(g).data(), as<T>(x).data(), dx.data());
  CHECK(ulps(dx, tanh_form) <= 4);
}

TEST_CASE_TEMPLATE("gelu knows its limits", T, float, double) {
  const auto x = as<T>({kInfinity, kNaN, 0});
  std::vector<T> y(3), dx(3), g(3, 1);
  for (const bool tanh_form : {false, true}) {
    (tanh_form ? gelu_tanh<T> : gelu<T>)(3, x.data(), y.data());
    CHECK(doubles(y)[0] == kInfinity);
    CHECK(std::isnan(y[1]));
    CHECK(y[2] == 0);
    (tanh_form ? gelu_tanh_vjp<T> : gelu_vjp<T>)(3, g.data(), x.data(), dx.data());
    CHECK(std::isnan(dx[1]));
    CHECK(static_cast<double>(dx[2]) == 0.5);
  }
}

}  // namespace
}  // namespace attograd::kernels

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/vector_math.h>

namespace attograd {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

/// Every 4,001st float, which meets all exponents and both signs, and the special ones.
std::vector<float> sweep() {
  std::vector<float> x = {0.0f, -0.0f, kInf, -kInf, kNaN, kDenormal, -kDenormal};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4001)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return x;
}

/// The error of y in units of the last place of the true value.
double ulp_error(float y, double wanted) {
  const auto rounded = static_cast<float>(wanted);
  if (std::isnan(wanted) || std::isinf(rounded))
    return std::isnan(wanted) == std::isnan(y) && (std::isnan(y) || y == rounded) ? 0 : 1e9;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  const double error = std::fabs(static_cast<double>(y) - wanted) / ulp;
  return std::isnan(error) ? 1e9 : error;
}

/// The largest error of f over the sweep where `within` holds: as vector code of this machine, and
/// as plain code.
template <class F>
double worst_error(F f, double (*wanted)(double), bool (*within)(float) = nullptr) {
  const std::vector<float> x = sweep();
  std::vector<float> fast(x.size()), plain(x.size());
  kernels::vectorized([&] {
    for (size_t i = 0; i < x.size(); ++i) fast[i] = f(x[i]);
  });
  for (size_t i = 0; i < x.size(); ++i) plain[i] = f(x[i]);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (within && !within(x[i])) continue;
    const double y = wanted(static_cast<double>(x[i]));
    worst = std::max({worst, ulp_error(fast[i], y), ulp_error(plain[i], y)});
  }
  return worst;
}

TEST_CASE("exp is within 1 ULP of every float") {
  CHECK(worst_error([](float x) { return kernels::exp(x); },
                    [](double x) { return std::exp(x); }) <= 1.01);
}

TEST_CASE("exp_weight is within 1 ULP for weights and 0 for denormal ones") {
  const auto flushed = [](double x) { return x < -87.3f ? 0 : std::exp(x); };
  CHECK(worst_error([](float x) { return kernels::exp_weight(x); }, flushed,
                    [](float x) { return !(x > 0); }) <= 1.01);
  CHECK(kernels::exp_weight(0.0f) == 1);
}

TEST_CASE("the low part of exp_weight belongs to the exponent") {
  CHECK(ulp_error(kernels::exp_weight(-20.0f, -0.003f), std::exp(-20.0 - double{0.003f})) <= 1.01);
}

TEST_CASE("log is within 1 ULP of every float") {
  CHECK(worst_error([](float x) { return kernels::log(x); },
                    [](double x) { return std::log(x); }) <= 1.01);
}

TEST_CASE("tanh is within 2 ULP of every float") {
  CHECK(worst_error([](float x) { return kernels::tanh(x); },
                    [](double x) { return std::tanh(x); }) <= 2);
  CHECK(std::signbit(kernels::tanh(-0.0f)));
}

TEST_CASE("erf is within 2 ULP of every float") {
  CHECK(worst_error([](float x) { return kernels::erf(x); },
                    [](double x) { return std::erf(x); }) <= 2);
  CHECK(std::signbit(kernels::erf(-0.0f)));
}

TEST_CASE("scaled_erfc is within 6 ULP between 0 and 10") {
  CHECK(worst_error([](float x) { return kernels::scaled_erfc(x); },
                    [](double x) { return std::erfc(x) * std::exp(x * x); },
                    [](float x) { return x >= 0 && x <= 10; }) <= 6);
}

TEST_CASE("sigmoid is within 3 ULP of every float") {
  CHECK(worst_error([](float x) { return kernels::sigmoid(x); },
                    [](double x) {
                      return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
                    }) <= 3);
}

TEST_CASE("double versions are those of the standard library") {
  CHECK(kernels::exp(1.5) == std::exp(1.5));
  CHECK(kernels::log(1.5) == std::log(1.5));
  CHECK(kernels::tanh(1.5) == std::tanh(1.5));
  CHECK(kernels::erf(1.5) == std::erf(1.5));
  CHECK(kernels::sigmoid(-800.0) == 0);
  CHECK(kernels::sigmoid(0.5) == doctest::Approx(0.62245933120185459).epsilon(1e-15));
}

TEST_CASE("vectorized runs its argument once") {
  int runs = 0;
  kernels::vectorized([&] { ++runs; });
  CHECK(runs == 1);
}

}  // namespace
}  // namespace attograd

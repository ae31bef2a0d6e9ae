#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <attograd/nn/init.h>

namespace attograd::nn::init {
namespace {

struct Spread {
  double lowest, highest, mean, deviation;
};

Spread spread(const Tensor& w) {
  CHECK(w.requires_grad());
  const std::vector<float> values = w.to_vector<float>();
  Spread s{values[0], values[0], 0, 0};
  for (const float v : values) {
    s.lowest = std::min<double>(s.lowest, v);
    s.highest = std::max<double>(s.highest, v);
    s.mean += v / static_cast<double>(values.size());
  }
  for (const float v : values)
    s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(values.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

/// Of 10^4 draws; what is checked lies more than 5 standard errors from chance.
void check_uniform(const Tensor& w, double low, double high) {
  const Spread s = spread(w);
  const double width = high - low;
  CHECK(s.lowest >= low);
  CHECK(s.highest <= high);
  CHECK(s.lowest < low + 0.002 * width);
  CHECK(s.highest > high - 0.002 * width);
  CHECK(std::abs(s.mean - (low + high) / 2) < 0.015 * width);
}

void check_normal(const Tensor& w, double deviation) {
  const Spread s = spread(w);
  CHECK(std::abs(s.mean) < 0.05 * deviation);
  CHECK(s.deviation == doctest::Approx(deviation).epsilon(0.04));
  CHECK(s.highest > 3 * deviation);
}

TEST_CASE("uniform parameters fill their interval") {
  Rng rng(1);
  check_uniform(uniform({100, 100}, -1, 3, rng), -1, 3);
  check_uniform(fan_in_uniform({200, 50}, 50, rng), -std::sqrt(1. / 50), std::sqrt(1. / 50));
  check_uniform(xavier_uniform(200, 50, rng), -std::sqrt(6. / 250), std::sqrt(6. / 250));
  check_uniform(kaiming_uniform(200, 50, rng), -std::sqrt(6. / 50), std::sqrt(6. / 50));
}

TEST_CASE("normal parameters have their deviation") {
  Rng rng(1);
  check_normal(normal({100, 100}, 0.02, rng), 0.02);
  check_normal(xavier_normal(200, 50, rng), std::sqrt(2. / 250));
  check_normal(kaiming_normal(200, 50, rng), std::sqrt(2. / 50));
}

TEST_CASE("constants are constants and matrices are out by in") {
  Rng rng(1);
  CHECK(zeros({2}).to_vector<float>() == std::vector<float>{0, 0});
  CHECK(ones({2}).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(ones({2}).requires_grad());
  CHECK(xavier_normal(3, 2, rng).shape() == Shape{3, 2});
}

TEST_CASE("one seed gives one start") {
  Rng a(7);
  Rng b(7);
  CHECK(normal({5}, 1, a).to_vector<float>() == normal({5}, 1, b).to_vector<float>());
  CHECK(normal({5}, 1, a).to_vector<float>() != normal({5}, 1, a).to_vector<float>());
}

}  // namespace
}  // namespace attograd::nn::init

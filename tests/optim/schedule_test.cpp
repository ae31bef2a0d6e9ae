#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "reference.h"
#include <attograd/optim/schedule.h>

namespace attograd::optim {
namespace {

using doctest::Approx;

std::vector<double> rates(const auto& schedule, int64_t steps) {
  std::vector<double> list;
  for (int64_t step = 0; step < steps; ++step) list.push_back(schedule(step));
  return list;
}

void check_equal(const std::vector<double>& got, const std::vector<double>& right) {
  REQUIRE(got.size() == right.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == Approx(right[i]).epsilon(1e-14));
  }
}

TEST_CASE("a warm-up rises in equal parts and its first step is not 0") {
  const std::vector<double> right{0.2, 0.4, 0.6, 0.8, 1};
  check_equal(rates(Constant{.peak = 1, .warmup = 4}, 5), right);
  check_equal(rates(Linear{.peak = 1, .warmup = 4, .total = 100}, 5), right);
  check_equal(rates(Cosine{.peak = 1, .warmup = 4, .total = 100}, 5), right);
}

TEST_CASE("a constant rate stays") {
  check_equal(rates(Constant{.peak = 0.5}, 3), {0.5, 0.5, 0.5});
  CHECK(Constant{.peak = 0.5, .warmup = 4}(1'000'000) == 0.5);
}

TEST_CASE("a line falls from the end of the warm-up to the total") {
  check_equal(rates(Linear{.peak = 1, .minimum = 0.2, .warmup = 1, .total = 5}, 7),
              {0.5, 1, 0.8, 0.6, 0.4, 0.2, 0.2});
}

TEST_CASE("a cosine falls from the end of the warm-up to the total") {
  // 1 - sin^2: at a quarter (1 + cos 45)/2 = 0.8535533905932737 of the way down from 1 to 0
  check_equal(rates(Cosine{.peak = 1, .warmup = 1, .total = 5}, 7),
              {0.5, 1, 0.8535533905932737, 0.5, 0.14644660940672624, 0, 0});
  check_equal(rates(Cosine{.peak = 1e-3, .minimum = 1e-4, .total = 2}, 4),
              {1e-3, 5.5e-4, 1e-4, 1e-4});
}

TEST_CASE("without a warm-up the first step has the peak") {
  CHECK(Linear{.peak = 3, .total = 10}(0) == 3);
  CHECK(Cosine{.peak = 3, .total = 10}(0) == 3);
}

TEST_CASE("a warm-up as long as the total is followed by the minimum") {
  const Cosine schedule{.peak = 1, .minimum = 0.1, .warmup = 10, .total = 10};
  CHECK(schedule(9) == Approx(10.0 / 11));
  CHECK(schedule(10) == 0.1);
  CHECK(Linear{.peak = 1, .minimum = 0.1, .warmup = 10, .total = 10}(10) == 0.1);
}

TEST_CASE("a warm-up longer than the total or a negative step is an error with the numbers") {
  const auto message = [](const auto& schedule, int64_t step) -> std::string {
    try {
      schedule(step);
    } catch (const ValueError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(message(Cosine{.peak = 1, .warmup = 11, .total = 10}, 0) ==
        "schedule: the warm-up must lie within the total, got warmup = 11 and total = 10");
  CHECK(message(Linear{.peak = 1, .warmup = -1, .total = 10}, 0).find("warmup = -1") !=
        std::string::npos);
  CHECK(message(Constant{.peak = 1, .warmup = -1}, 0).find("warmup = -1") != std::string::npos);
  CHECK(message(Constant{.peak = 1}, -1) == "schedule: steps count from 0, got -1");
  // a total that was forgotten would be a rate of `minimum`, here 0, at every step
  CHECK(message(Linear{.peak = 1}, 0) ==
        "schedule: the total must be > 0, got 0; it is the number of steps to fall in, the warm-up "
        "included");
  CHECK(message(Cosine{.peak = 1, .minimum = 0.1}, 5).find("the total must be > 0") !=
        std::string::npos);
  CHECK(message(Linear{.peak = 1, .total = -1}, 0).find("got -1") != std::string::npos);
}

TEST_CASE("noam and step schedules follow PyTorch for 20 steps") {
  check_equal(rates(Noam{.width = 16, .warmup = 4, .factor = 0.5}, 20), reference::kNoamRates);
  check_equal(rates(Step{.peak = 0.5, .gamma = 0.7, .every = 3}, 20), reference::kStepRates);
  check_equal(rates(Milestones{.peak = 0.5, .gamma = 0.3, .steps = {9, 2, 15, 9}}, 20),
              reference::kMilestoneRates);
}

TEST_CASE("noam has its peak at the last step of the warm-up and needs none") {
  const Noam schedule{.width = 512, .warmup = 4000};
  CHECK(schedule(3999) == Approx(1 / std::sqrt(512.0 * 4000)).epsilon(1e-14));
  CHECK(schedule(3998) < schedule(3999));
  CHECK(schedule(4000) < schedule(3999));
  CHECK(schedule(0) == Approx(schedule(3999) / 4000).epsilon(1e-14));
  CHECK(Noam{.width = 4}(0) == 0.5);
  CHECK(Noam{.width = 4, .factor = 2}(3) == 0.5);
  CHECK(Noam{.width = 1, .warmup = 1}(INT64_MAX) == Approx(0x1p-31 / std::sqrt(2)));
}

TEST_CASE("noam and step schedules name what they cannot take") {
  CHECK_THROWS_WITH_AS((Noam{.warmup = 4}(0)), doctest::Contains("got width = 0 and warmup = 4"),
                       ValueError);
  CHECK_THROWS_WITH_AS((Noam{.width = 8, .warmup = -1}(0)), doctest::Contains("warmup = -1"),
                       ValueError);
  CHECK_THROWS_WITH_AS((Step{.peak = 1}(0)), "schedule: the rate changes every >= 1 steps, got 0",
                       ValueError);
  CHECK_THROWS_AS((Noam{.width = 8, .warmup = 1}(-1)), ValueError);
  CHECK_THROWS_AS((Step{.peak = 1, .every = 1}(-1)), ValueError);
  CHECK_THROWS_AS((Milestones{.peak = 1}(-1)), ValueError);
}

TEST_CASE("a rate depends on the step alone") {
  const Cosine schedule{.peak = 1, .warmup = 2, .total = 8};
  const std::vector<double> forward = rates(schedule, 10);
  for (int64_t step = 9; step >= 0; --step)
    CHECK(schedule(step) == forward[static_cast<size_t>(step)]);
}

}  // namespace
}  // namespace attograd::optim

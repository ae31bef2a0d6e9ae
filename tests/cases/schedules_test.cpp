#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/schedule.h>
#include <attograd/optim/sgd.h>

namespace attograd::optim {
namespace {

std::vector<double> rates(const auto& schedule, int64_t steps) {
  std::vector<double> list;
  for (int64_t step = 0; step < steps; ++step) list.push_back(schedule(step));
  return list;
}

void check_close(const std::vector<double>& got, const std::vector<double>& right,
                 double tolerance = 1e-12) {
  REQUIRE(got.size() == right.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - right[i]) <= tolerance * std::abs(right[i]));
  }
}

TEST_CASE("SCH-01 a warm-up begins above 0 and ends at the rate and divides by no zero") {
  const std::vector<double> rising{0.2, 0.4, 0.6, 0.8, 1};  // (step + 1) / (warmup + 1)
  check_close(rates(Constant{.peak = 1, .warmup = 4}, 5), rising);
  check_close(rates(Linear{.peak = 1, .warmup = 4, .total = 20}, 5), rising);
  check_close(rates(Cosine{.peak = 1, .warmup = 4, .total = 20}, 5), rising);
  CHECK(Noam{.width = 1, .warmup = 4}(0) == 0.125);

  CHECK(Linear{.peak = 1, .minimum = 0.1, .warmup = 10, .total = 10}(10) == 0.1);
  CHECK(Cosine{.peak = 1, .minimum = 0.1, .warmup = 10, .total = 10}(10) == 0.1);
  CHECK(Constant{.peak = 1}(0) == 1);
  CHECK(Linear{.peak = 1, .total = 10}(0) == 1);
  CHECK(Cosine{.peak = 1, .total = 10}(0) == 1);
  CHECK_THROWS_AS((Linear{.peak = 1, .warmup = 11, .total = 10}(0)), ValueError);
  CHECK_THROWS_AS((Cosine{.peak = 1, .warmup = 11, .total = 10}(0)), ValueError);
}

TEST_CASE("SCH-03 the rates after a resume are those of the uninterrupted run") {
  const std::vector<double> right{1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1};
  const auto check_every_stop = [&](const auto& schedule) {
    for (int64_t stop = 0; stop < 8; ++stop) {
      CAPTURE(stop);
      std::vector<double> used;
      Tensor w = tensor(1, DType::f64).set_requires_grad();
      const auto run = [&](Sgd& sgd, int64_t from, int64_t to) {
        for (int64_t step = from; step < to; ++step) {
          sgd.set_lr(schedule(step));
          w.set_grad(tensor(1, DType::f64));
          sgd.step();
          used.push_back(sgd.options().lr);
        }
      };
      Sgd before(Tensors{w}, {.lr = 1, .momentum = 0.5});
      run(before, 0, stop);
      Sgd after(Tensors{w}, {.lr = 0.1, .momentum = 0.5});  // a rate that had already fallen
      after.load_state(before.state());
      run(after, stop, 8);
      CHECK(used == right);
    }
  };
  check_every_stop(Milestones{.peak = 1, .steps = {4}});
  check_every_stop(Step{.peak = 1, .every = 4});
}

Tensor with_gradient(std::initializer_list<double> g) {
  Tensor w = zeros({static_cast<int64_t>(g.size())}, DType::f64).set_requires_grad();
  w.set_grad(tensor(g, DType::f64));
  return w;
}

TEST_CASE("SCH-04 clipping has one norm of all parameters and returns it from before") {
  for (double limit : {6.5, 13., 100.}) {
    CAPTURE(limit);
    const Tensor a = with_gradient({3, 4}), b = with_gradient({12});
    CHECK(clip_gradient_norm({a, b}, limit) == 13);
    const double factor = limit == 6.5 ? 0.5 : 1, tolerance = limit == 100 ? 0 : 1e-6;
    check_close(a.grad().to_vector<double>(), {3 * factor, 4 * factor}, tolerance);
    check_close(b.grad().to_vector<double>(), {12 * factor}, tolerance);
  }
  const Tensor zero = with_gradient({0, 0});
  CHECK(clip_gradient_norm({zero}, 1) == 0);
  CHECK(zero.grad().to_vector<double>() == std::vector<double>{0, 0});
  const Tensor without = zeros({2}).set_requires_grad();
  CHECK(clip_gradient_norm({without, with_gradient({3, 4})}, 1) == 5);
  CHECK_FALSE(without.grad().defined());
  CHECK(clip_gradient_norm({}, 1) == 0);
}

}  // namespace
}  // namespace attograd::optim

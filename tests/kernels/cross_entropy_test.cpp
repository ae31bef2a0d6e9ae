#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/cross_entropy.h>

namespace attograd::kernels {
namespace {

constexpr int64_t kIgnored = -100;

struct Losses {
  Doubles loss, logsumexp, dlogits;
};

Losses naive(int64_t rows, int64_t classes, const Doubles& x, const std::vector<int64_t>& targets,
             double smoothing, const Doubles& g) {
  Losses y{Doubles(targets.size()), Doubles(targets.size()), Doubles(x.size())};
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    if (targets[r] == kIgnored) continue;
    const auto n = static_cast<size_t>(classes), first = r * n, t = static_cast<size_t>(targets[r]);
    Exact sum = 0, loss = 0;
    for (size_t i = 0; i < n; ++i) sum += std::exp(Exact{x[first + i]});
    const Exact lse = std::log(sum);
    for (size_t i = 0; i < n; ++i) {
      const Exact wanted =
          (i == t ? 1 - Exact{smoothing} : 0) + Exact{smoothing} / static_cast<Exact>(classes);
      loss += wanted * (lse - x[first + i]);
      y.dlogits[first + i] = static_cast<double>(g[r] * (std::exp(x[first + i] - lse) - wanted));
    }
    y.loss[r] = static_cast<double>(loss);
    y.logsumexp[r] = static_cast<double>(lse);
  }
  return y;
}

template <class T>
struct Got {
  std::vector<T> loss, logsumexp, dlogits;

  Got(int64_t classes, const std::vector<T>& x, const std::vector<int64_t>& targets,
      double smoothing, const std::vector<T>& g)
      : loss(targets.size(), 7), logsumexp(targets.size(), 7), dlogits(x.size(), 7) {
    const auto rows = static_cast<int64_t>(targets.size());
    cross_entropy(rows, classes, x.data(), targets.data(), kIgnored, smoothing, loss.data(),
                  logsumexp.data());
    cross_entropy_vjp(rows, classes, g.data(), x.data(), targets.data(), kIgnored, smoothing,
                      logsumexp.data(), dlogits.data());
  }
};

TEST_CASE_TEMPLATE("cross_entropy and its gradient are the definitions", T, float, double) {
  for (const int64_t classes : {1, 7, 17, 33, 65, 1000}) {
    for (const size_t rows : {size_t{0}, size_t{1}, size_t{9}}) {
      for (const double smoothing : {0.0, 0.1}) {
        const auto count = static_cast<int64_t>(rows);
        const Doubles x = normals(count * classes, 1, 3), g = normals(count, 2);
        std::vector<int64_t> targets;
        for (int64_t r = 0; r < count; ++r)
          targets.push_back(r % 4 == 3 ? kIgnored : (5 * r) % classes);
        const Losses y = naive(count, classes, x, targets, smoothing, g);
        const Got<T> got(classes, as<T>(x), targets, smoothing, as<T>(g));
        // With one class the loss is a difference of equal numbers, and no such sum rounds
        // otherwise.
        CHECK(ulps(got.loss, y.loss, largest(x)) <= 2);
        CHECK(ulps(got.logsumexp, y.logsumexp) <= 2);
        CHECK(ulps(got.dlogits, y.dlogits, largest(g)) <= 4);
      }
    }
  }
}

TEST_CASE_TEMPLATE("certain logits have exact losses and gradients", T, float, double) {
  const std::vector<T> x = {1000, -1000, 1000, -1000};
  const Got<T> got(2, x, {1, 0}, 0, {1, 1});
  CHECK(doubles(got.loss) == Doubles{2000, 0});
  CHECK(doubles(got.dlogits) == Doubles{1, -1, 0, 0});
}

TEST_CASE_TEMPLATE("ignored rows have loss and gradient 0 even where they are NaN", T, float,
                   double) {
  const auto x = as<T>({2, 0.5, -1, kNaN, kInfinity, 0.3, 1, 1, 3});
  const Got<T> got(3, x, {0, kIgnored, 2}, 0, {0.5, static_cast<T>(kNaN), 0.5});
  CHECK(got.loss[1] == 0);
  CHECK(static_cast<double>(got.loss[0] + got.loss[2]) == doctest::Approx(0.480856).epsilon(1e-5));
  const Doubles wanted = {-0.107201, 0.087645, 0.019556, 0, 0, 0, 0.053253, 0.053253, -0.106507};
  for (size_t i = 0; i < 9; ++i) {
    CHECK(static_cast<double>(got.dlogits[i]) == doctest::Approx(wanted[i]).epsilon(2e-5));
    if (wanted[i] == 0) CHECK(got.dlogits[i] == 0);
  }
}

TEST_CASE_TEMPLATE("a class that cannot occur costs nothing", T, float, double) {
  const auto x = as<T>({1, -kInfinity, 2});
  const Got<T> got(3, x, {0}, 0, {1}), two(2, as<T>({1, 2}), {0}, 0, {1});
  CHECK(got.loss == two.loss);
  CHECK(doubles(got.dlogits) ==
        Doubles{static_cast<double>(two.dlogits[0]), 0, static_cast<double>(two.dlogits[1])});
}

TEST_CASE("gradients of large logits add up to 0") {
  // logsumexp has an error of 3e-5 here, which would be that of every weight.
  std::vector<float> x = as<float>(normals(50, 1));
  for (float& v : x) v += 1000;
  const Got<float> got(50, x, {3}, 0, {1});
  double sum = 0;
  for (const float v : got.dlogits) sum += static_cast<double>(v);
  CHECK(std::fabs(sum) < 1e-6);
}

}  // namespace
}  // namespace attograd::kernels

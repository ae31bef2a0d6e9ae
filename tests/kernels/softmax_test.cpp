#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/softmax.h>

namespace attograd::kernels {
namespace {

Doubles naive_softmax(int64_t rows, int64_t cols, const Doubles& x) {
  Doubles y(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    const auto first = static_cast<size_t>(r * cols), last = first + static_cast<size_t>(cols);
    Exact sum = 0;
    for (size_t i = first; i < last; ++i) sum += std::exp(Exact{x[i]});
    for (size_t i = first; i < last; ++i) y[i] = static_cast<double>(std::exp(Exact{x[i]}) / sum);
  }
  return y;
}

/// dx_j = sum over i of g_i dy_i / dx_j, with the Jacobian d(i, j) written out.
template <class Jacobian>
Doubles pulled_back(int64_t rows, int64_t cols, const Doubles& g, Jacobian d) {
  Doubles dx(g.size());
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = static_cast<size_t>(r * cols);
    for (size_t j = 0; j < static_cast<size_t>(cols); ++j) {
      Exact sum = 0;
      for (size_t i = 0; i < static_cast<size_t>(cols); ++i) {
        sum += Exact{g[row + i]} * d(row, i, j);
      }
      dx[row + j] = static_cast<double>(sum);
    }
  }
  return dx;
}

constexpr int64_t kSizes[] = {0, 1, 7, 17, 33, 600};

TEST_CASE_TEMPLATE("softmax and its gradient are the definitions", T, float, double) {
  for (const int64_t cols : kSizes) {
    for (const int64_t rows : {0, 1, 5}) {
      const Doubles x = normals(rows * cols, 1, 3), g = normals(rows * cols, 2);
      const Doubles y = naive_softmax(rows, cols, x);
      std::vector<T> got(x.size());
      softmax(rows, cols, as<T>(x).data(), got.data());
      CHECK(ulps(got, y) <= 4);
      const Doubles dx = pulled_back(rows, cols, g, [&](size_t row, size_t i, size_t j) {
        return y[row + i] * ((i == j ? 1 : 0) - Exact{y[row + j]});
      });
      softmax_vjp(rows, cols, as<T>(g).data(), as<T>(y).data(), got.data());
      if (cols == 1) {
        CHECK(doubles(got) == Doubles(got.size(), 0));
      } else {
        CHECK(ulps(got, dx, largest(g) * largest(y)) <=
              4);  // y (g - sum g y) cancels where y is near 1
      }
    }
  }
}

TEST_CASE_TEMPLATE("log_softmax and its gradient are the definitions", T, float, double) {
  for (const int64_t cols : kSizes) {
    for (const int64_t rows : {0, 1, 5}) {
      const Doubles x = normals(rows * cols, 1, 3), g = normals(rows * cols, 2);
      const Doubles p = naive_softmax(rows, cols, x);
      Doubles y(x.size());
      for (size_t i = 0; i < y.size(); ++i) y[i] = std::log(p[i]);
      std::vector<T> got(x.size());
      log_softmax(rows, cols, as<T>(x).data(), got.data());
      if (cols == 1) {
        CHECK(doubles(got) == Doubles(got.size(), 0));
      } else {
        CHECK(ulps(got, y) <= 4);
      }
      const Doubles dx = pulled_back(rows, cols, g, [&](size_t row, size_t i, size_t j) {
        return (i == j ? 1 : 0) - Exact{p[row + j]};
      });
      log_softmax_vjp(rows, cols, as<T>(g).data(), as<T>(y).data(), got.data());
      // y is rounded to T first: up to 8 ULP of 8, and e^y turns that into as many of the weight.
      if (cols != 1) CHECK(ulps(got, dx) <= 16);
    }
  }
}

TEST_CASE_TEMPLATE("softmax takes logits of any size", T, float, double) {
  const std::vector<T> x = {1000, 1001, 1002, -1000, -1001, -1002};
  std::vector<T> y(6);
  softmax<T>(2, 3, x.data(), y.data());
  const Doubles wanted = {0.09003057317038046, 0.24472847105479767, 0.6652409557748219};
  for (size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(y[i]) == doctest::Approx(wanted[i]).epsilon(1e-6));
    CHECK(y[3 + i] == y[2 - i]);
  }
  const std::vector<T> far = {static_cast<T>(1e30), 0};
  softmax<T>(1, 2, far.data(), y.data());
  CHECK(doubles(y)[0] == 1);
  CHECK(doubles(y)[1] == 0);
  log_softmax<T>(1, 2, far.data(), y.data());
  CHECK(y[0] == 0);
  CHECK(y[1] == -far[0]);
}

TEST_CASE_TEMPLATE("rows without a softmax are NaN and the others are not", T, float, double) {
  const auto x = as<T>({-kInfinity, 0, -kInfinity, -kInfinity, 0, kInfinity, kNaN, 0, 0, kNaN});
  std::vector<T> y(x.size()), logs(x.size());
  softmax<T>(5, 2, x.data(), y.data());
  log_softmax<T>(5, 2, x.data(), logs.data());
  CHECK(y[0] == 0);
  CHECK(y[1] == 1);
  CHECK(doubles(logs)[0] == -kInfinity);
  CHECK(logs[1] == 0);
  for (size_t i = 2; i < x.size(); ++i) {
    CHECK(std::isnan(y[i]));
    CHECK(std::isnan(logs[i]));
  }
  const std::vector<T> g = {2, 3};
  std::vector<T> dx(2);
  softmax_vjp<T>(1, 2, g.data(), y.data(), dx.data());
  CHECK(doubles(dx) == Doubles{0, 0});
  log_softmax_vjp<T>(1, 2, g.data(), logs.data(), dx.data());
  CHECK(doubles(dx) == Doubles{2, -2});
}

TEST_CASE_TEMPLATE("softmax may overwrite its input", T, float, double) {
  const auto x = as<T>(normals(3 * 50, 1));
  std::vector<T> y(x.size()), in_place = x;
  softmax<T>(3, 50, x.data(), y.data());
  softmax<T>(3, 50, in_place.data(), in_place.data());
  CHECK(in_place == y);
}

TEST_CASE("a long row of floats sums as well as a short one") {
  // 2^22 terms of about 0.1: added to one float, or to one on each of 16 lanes, they drift.
  std::vector<float> x(1 << 22, std::log(0.1f)), y(x.size());
  x[0] = 0;
  softmax<float>(1, 1 << 22, x.data(), y.data());
  const double sum = 1 + std::exp(static_cast<double>(x[1])) * ((1 << 22) - 1);
  CHECK(ulps<float>({y[0]}, {1 / sum}) <= 2);
}

}  // namespace
}  // namespace attograd::kernels

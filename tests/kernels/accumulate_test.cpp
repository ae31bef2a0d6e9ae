#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/accumulate.h>

namespace attograd::kernels {
namespace {

TEST_CASE_TEMPLATE("add_into adds", T, float, double) {
  for (const int64_t n : {0, 1, 7, 17, 33}) {
    const auto x = as<T>(normals(n, 1)), y = as<T>(normals(n, 2));
    auto got = y, wanted = y;
    add_into(n, x.data(), got.data());
    for (size_t i = 0; i < x.size(); ++i) wanted[i] += x[i];
    CHECK(got == wanted);
  }
}

TEST_CASE_TEMPLATE("sum_of_squares is exact to double and overflows late", T, float, double) {
  for (const int64_t n : {0, 1, 7, 17, 33, 5000, 300000}) {
    const Doubles x = normals(n, 1);
    Exact wanted = 0;
    for (const double v : x) wanted += Exact{v} * v;
    // Rounding errors of n terms are at most n / 2 ULP and add up like a random walk.
    const double bound = 4 + std::sqrt(static_cast<double>(n));
    CHECK(ulps<double>({sum_of_squares(n, as<T>(x).data())}, {static_cast<double>(wanted)}) <=
          bound);
  }
  const std::vector<T> large = {static_cast<T>(1e30), static_cast<T>(1e30)};
  CHECK(sum_of_squares<T>(2, large.data()) == doctest::Approx(2e60).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("column_sum adds rows", T, float, double) {
  for (const int64_t rows : {0, 1, 7, 8, 17, 33, 1000, 5000}) {
    for (const int64_t cols : {0, 1, 7, 17, 33}) {
      const Doubles x = normals(rows * cols, 1);
      std::vector<Exact> wanted(static_cast<size_t>(cols));
      for (size_t i = 0; i < x.size(); ++i) wanted[i % wanted.size()] += x[i];
      std::vector<T> got(wanted.size(), 7);
      column_sum(rows, cols, as<T>(x).data(), got.data());
      CHECK(ulps(got, Doubles(wanted.begin(), wanted.end()), largest(x)) <= 4);
    }
  }
}

TEST_CASE("a long column of floats adds up exactly") {
  // In float the sum would stop at 2^24.
  const int64_t rows = (1 << 24) + 64;
  const std::vector<float> x(static_cast<size_t>(rows), 1.0f);
  float sum = 0;
  column_sum<float>(rows, 1, x.data(), &sum);
  CHECK(sum == static_cast<float>(rows));
}

}  // namespace
}  // namespace attograd::kernels

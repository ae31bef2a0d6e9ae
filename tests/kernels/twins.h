#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <attograd/core/kernels/parallel.h>

// Every kernel has a twin in its test: the definition as plain loops in double. Kernels run in
// float and in double on the same inputs, which are floats, and are compared in units of the last
// place (ULP) of the largest number that the twin gives.
namespace attograd::kernels {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Doubles = std::vector<double>;
using Exact = long double;

/// n normal numbers, each a float.
inline Doubles normals(int64_t n, uint64_t seed, double deviation = 1) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal(0, deviation);
  Doubles x(static_cast<size_t>(n));
  for (double& v : x) v = static_cast<double>(static_cast<float>(normal(bits)));
  return x;
}

template <class T>
std::vector<T> as(const Doubles& x) {
  std::vector<T> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), [](double v) { return static_cast<T>(v); });
  return y;
}

template <class T>
Doubles doubles(const std::vector<T>& x) {
  return Doubles(x.begin(), x.end());
}

inline double largest(const Doubles& x) {
  double y = 0;
  for (const double v : x) y = std::max(y, std::fabs(v));
  return y;
}

/// Largest difference in ULP of T at the largest of `wanted`, or at `terms` where the results are
/// differences of numbers as large as that. Infinite for NaN and for another length.
template <class T>
double ulps(const std::vector<T>& got, const Doubles& wanted, double terms = 0) {
  if (got.size() != wanted.size()) return kInfinity;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - wanted[i]);
    if (!(error <= worst)) worst = std::isnan(error) ? kInfinity : error;
  }
  const double scale = std::max({largest(wanted), terms, double{std::numeric_limits<T>::min()}});
  return worst / scale / static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Sets thread_count() while it lives.
class Threads {
 public:
  explicit Threads(int n) : before_(thread_count()) { set_thread_count(n); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace attograd::kernels

#pragma once

#include <cmath>
#include <limits>

#include <tests/exact.h>

// Helpers for tests that look at values and derivatives point by point.
namespace attograd {

using Values = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline Tensor vector(const Values& values, DType dtype = DType::f64) {
  return from_values({static_cast<int64_t>(values.size())}, values, dtype);
}

inline Values values(const Tensor& x) { return values_of(cast(x, DType::f64)); }

/// Equal, where NaN equals NaN.
inline bool same(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

/// The gradient of the sum of f.
inline Values slope(const Function& f, const Values& at) {
  const Tensor x = vector(at).set_requires_grad();
  return values(grad({sum(f(x))}, {x})[0]);
}

/// The gradient of the sum of the gradient of the sum of f.
inline Values curvature(const Function& f, const Values& at) {
  const Tensor x = vector(at).set_requires_grad();
  const Tensor first = grad({sum(f(x))}, {x}, {.create_graph = true})[0];
  if (!first.requires_grad()) return Values(at.size(), 0);
  const Tensor second = grad({sum(first)}, {x}, {.allow_unused = true})[0];
  return second.defined() ? values(second) : Values(at.size(), 0);
}

}  // namespace attograd

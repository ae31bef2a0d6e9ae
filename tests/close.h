#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>
#include <tests/exact.h>

// Helpers for tests of operations whose right results are known numbers.
namespace attograd {

/// Checks x against numbers with 12 digits: to 1e-5 (f32) or 1e-9 (f64) of the largest of them, and
/// exactly where 0, NaN or an infinity is expected.
inline void check_close(const Tensor& x, const std::vector<double>& right) {
  std::ostringstream text;
  text << x;
  CAPTURE(text.str());
  const std::vector<double> found = values_of(cast(x, DType::f64));
  REQUIRE_EQ(found.size(), right.size());
  double largest = 0;
  for (const double v : right)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  const double tolerance = (x.dtype() == DType::f32 ? 1e-5 : 1e-9) * largest;
  for (size_t i = 0; i < right.size(); ++i) {
    CAPTURE(i);
    CAPTURE(right[i]);
    if (std::isnan(right[i])) {
      CHECK(std::isnan(found[i]));
    } else if (right[i] == 0 || std::isinf(right[i])) {
      CHECK_EQ(found[i], right[i]);
    } else {
      CHECK_LE(std::abs(found[i] - right[i]), tolerance);
    }
  }
}

/// A leaf.
inline Tensor leaf(const Shape& shape, const std::vector<double>& values, DType dtype) {
  return from_values(shape, values, dtype).set_requires_grad();
}

/// The gradients of <g, y>, by the kernels or, recorded, by the definitions.
inline Tensors pulled_back(const Tensor& y, const Tensor& g, const Tensors& x, bool recorded) {
  return grad({y}, x, {.create_graph = recorded, .retain_graph = true}, {g});
}

inline constexpr DType kFloating[] = {DType::f32, DType::f64};

}  // namespace attograd

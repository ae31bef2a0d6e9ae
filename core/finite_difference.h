#pragma once

#include <functional>
#include <vector>

#include <attograd/core/tensor.h>

namespace attograd {

/// A derivative found by differences, and how far to trust it.
struct NumericDerivative {
  double value;
  double error;  // estimated, of `value`
  double floor;  // a billionth of f for each unit of x: smaller errors never matter
  double left;   // the one-sided slopes
  double right;
  bool kink;  // the slopes differ, by the same amount at every distance

  /// Good to four digits of itself or of `scale`, the usual size of such a derivative.
  bool settled(double scale) const;
  bool confirms(const NumericDerivative& other) const;
};

/// The derivatives of phi(x) = <v, f(x)> along single elements of x, by central differences.
class FiniteDifference {
 public:
  /// Keeps x and writes to it. Throws ValueError if two calls of f with x differ.
  FiniteDifference(std::function<Tensors(const Tensors&)> f, Tensors x, const Tensors& v);

  /// d phi / d x[input][index], of order 6, from x - 3 step ... x + 3 step. The error is the
  /// distance from order 4, plus the noise that the sixth difference shows, plus rounding.
  NumericDerivative along(size_t input, const Shape& index, double step);

 private:
  std::vector<double> values() const;

  std::function<Tensors(const Tensors&)> f_;
  Tensors x_;
  std::vector<double> v_;
  std::vector<double> center_;  // f(x)
};

}  // namespace attograd

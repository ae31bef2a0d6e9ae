#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <attograd/core/finite_difference.h>

namespace attograd {
namespace {

/// Values are good to some roundings.
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

using Triple = std::array<double, 3>;  // at the distances h, 2h, 3h

std::vector<double> concatenate(const Tensors& y) {
  std::vector<double> all;
  for (const Tensor& output : y) {
    const std::vector<double> values = output.to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// `up` is phi(x + kh) - phi(x) and `down` phi(x) - phi(x - kh), between values of size
/// `magnitude`.
NumericDerivative estimate(const Triple& up, const Triple& down, double magnitude, double h) {
  Triple both{}, bend{};
  for (size_t k = 0; k < 3; ++k) {
    both[k] = up[k] + down[k];
    bend[k] = up[k] - down[k];
  }
  const double order4 = (8 * both[0] - both[1]) / (12 * h);
  const double order6 = (45 * both[0] - 9 * both[1] + both[2]) / (60 * h);
  // Where f is smooth the sixth difference is next to nothing; noise of size e makes it 30 e, and
  // order6 wrong by e / h.
  const double noise = std::abs(15 * bend[0] - 6 * bend[1] + bend[2]) / (30 * h);
  const double rounding = kRounding * magnitude / h;  // the weights of order6 add up to less than 2
  const double error = std::abs(order6 - order4) + noise + rounding;
  // Where f is smooth the bend grows with the square of the distance; at a kink, with the distance.
  const bool kink = std::abs(bend[0]) > (50 * rounding + 1e-6 * std::abs(order6)) * h &&
                    std::abs(bend[1] / 2 - bend[0]) < 0.1 * std::abs(bend[0]) &&
                    std::abs(bend[2] / 3 - bend[0]) < 0.1 * std::abs(bend[0]);
  return {order6, error, 1e-9 * magnitude, down[0] / h, up[0] / h, kink};
}

}  // namespace

bool NumericDerivative::settled(double scale) const {
  return std::isfinite(value) &&
         (error <= 1e-4 * std::max(std::abs(value), scale) || error <= floor);
}

bool NumericDerivative::confirms(const NumericDerivative& other) const {
  return std::abs(value - other.value) <= 4 * (error + other.error);
}

FiniteDifference::FiniteDifference(std::function<Tensors(const Tensors&)> f, Tensors x,
                                   const Tensors& v)
    : f_(std::move(f)), x_(std::move(x)), v_(concatenate(v)), center_(values()) {
  const std::vector<double> again = values();
  check<ValueError>(std::equal(center_.begin(), center_.end(), again.begin(), same),
                    "gradcheck: two calls with the same input gave different results; fix the seed "
                    "inside of the function");
}

std::vector<double> FiniteDifference::values() const {
  std::vector<double> y = concatenate(f_(x_));
  check<ShapeError>(y.size() == v_.size(), "gradcheck: the number of results must stay, got ",
                    v_.size(), " and ", y.size());
  return y;
}

NumericDerivative FiniteDifference::along(size_t input, const Shape& index, double step) {
  Array array = x_[input].array();
  auto* element = array.mutable_data<double>();
  for (int axis = 0; axis < index.rank(); ++axis) element += index[axis] * array.strides()[axis];
  const double x = *element;
  const double h = (x + step) - x;  // a distance that x + h really has
  std::array<std::vector<double>, 3> above, below;
  for (size_t k = 0; k < 3; ++k) {
    const double distance = static_cast<double>(k + 1) * h;
    *element = x + distance;
    above[k] = values();
    *element = x - distance;
    below[k] = values();
  }
  *element = x;

  // Outputs are subtracted one by one before they are summed: those that do not depend on the
  // element (or are -inf) then add neither to the value nor to the rounding of the difference.
  Triple up{}, down{};
  double magnitude = 0;
  double resting = 0;
  for (size_t j = 0; j < v_.size(); ++j) {
    bool moves = false;
    double largest = 0;
    for (size_t k = 0; k < 3; ++k) {
      moves |= above[k][j] != center_[j] || below[k][j] != center_[j];
      largest = std::max({largest, std::abs(above[k][j]), std::abs(below[k][j])});
    }
    if (!moves) {
      if (std::isfinite(center_[j])) resting += std::abs(v_[j] * center_[j]);
      continue;
    }
    magnitude += std::abs(v_[j]) * largest;
    for (size_t k = 0; k < 3; ++k) {
      up[k] += v_[j] * (above[k][j] - center_[j]);
      down[k] += v_[j] * (center_[j] - below[k][j]);
    }
  }
  NumericDerivative derivative = estimate(up, down, magnitude, h);
  // Nothing moves. Rules whose terms cancel (the bias of all keys moves no softmax) may still leave
  // their rounding.
  if (magnitude == 0) derivative.error = derivative.floor = kRounding * resting;
  return derivative;
}

}  // namespace attograd

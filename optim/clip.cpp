#include <algorithm>
#include <cmath>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/accumulate.h>
#include <attograd/core/named_tensors.h>
#include <attograd/core/ops.h>
#include <attograd/optim/clip.h>

namespace attograd::optim {
namespace {

double norm_of(const Tensor& x) {
  const Array row_major = x.array().contiguous();
  const double squares = dispatch<Floating>("gradient_norm", x.dtype(), [&]<class T>() {
    return kernels::sum_of_squares(x.numel(), row_major.data<T>());
  });
  if (std::isnormal(squares) || x.numel() == 0) return std::sqrt(squares);
  // All is 0, or some square overflowed or vanished, or some entry is NaN or infinite.
  const double largest = max(abs(x)).item();
  if (largest == 0 || !std::isfinite(largest)) return largest;
  return largest * std::sqrt(sum(square(x / largest)).item());
}

/// Calls f(w, g) for each parameter that has a gradient, once.
void for_each_gradient(const Tensors& parameters, auto&& f) {
  for (const Tensor& w : distinct(parameters))
    if (const Tensor g = w.grad(); g.defined()) f(w, g);
}

/// The norm of all gradients in units of this many, in f64.
double norm_in(double unit, const Tensors& parameters) {
  double norm = 0;
  for_each_gradient(parameters, [&](const Tensor&, const Tensor& g) {
    norm = std::hypot(norm, norm_of(cast(g, DType::f64) / unit));
  });
  return norm;
}

}  // namespace

double gradient_norm(const Tensors& parameters) {
  const NoGrad numbers_only;
  double norm = 0;
  for_each_gradient(parameters,
                    [&](const Tensor&, const Tensor& g) { norm = std::hypot(norm, norm_of(g)); });
  return norm;
}

bool gradients_are_finite(const Tensors& parameters) {
  const NoGrad numbers_only;
  bool finite = true;
  for_each_gradient(parameters, [&](const Tensor&, const Tensor& g) {
    finite &= std::isfinite(norm_of(g)) || std::isfinite(max(abs(g)).item());
  });
  return finite;
}

double clip_gradient_norm(const Tensors& parameters, double limit) {
  check<ValueError>(limit > 0, "clip_gradient_norm: the limit must be > 0, got ", limit);
  const NoGrad numbers_only;
  const double norm = gradient_norm(parameters);
  check<NumericError>(std::isfinite(norm) || gradients_are_finite(parameters),
                      "clip_gradient_norm: gradients must be finite, got some of norm ", norm,
                      "; they are as they were");
  const double factor = limit / (norm + 1e-6);
  if (factor >= 1 || norm == 0) return norm;
  constexpr double kSmallest = 0x1p-100;  // f32 holds such factors with all their digits
  if (factor >= kSmallest) {
    for_each_gradient(parameters, [&](Tensor w, const Tensor& g) { w.set_grad(g * factor); });
    return norm;
  }
  // The same in units of the largest entry and in f64, where nothing leaves the range.
  double unit = 0;
  for_each_gradient(parameters, [&](const Tensor&, const Tensor& g) {
    if (g.numel() > 0) unit = std::max(unit, max(abs(g)).item());
  });
  const double target = limit / (norm_in(unit, parameters) + 1e-6 / unit);
  if (target >= unit) return norm;
  for_each_gradient(parameters, [&](Tensor w, const Tensor& g) {
    w.set_grad(cast(cast(g, DType::f64) / unit * target, g.dtype()));
  });
  return norm;
}

}  // namespace attograd::optim

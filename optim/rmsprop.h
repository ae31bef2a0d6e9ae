#pragma once

#include <attograd/core/create.h>
#include <attograd/optim/optimizer.h>

namespace attograd::optim {

struct RmspropOptions {
  static constexpr const char* kName = "rmsprop";
  double lr = 1e-2;
  double alpha = 0.99;  // how much of the mean squared gradient is kept
  double eps = 1e-8;
  double momentum = 0;
  bool centered = false;    // divides by the deviation of the gradients, not by their magnitude
  double weight_decay = 0;  // adds weight_decay w to the gradient (an L2 penalty)
};

/// Named as in PyTorch.
struct RmspropState {
  Tensor square_avg;       // v
  Tensor grad_avg;         // a, if centered
  Tensor momentum_buffer;  // b, if there is momentum

  explicit RmspropState(const Tensor& w)
      : square_avg(zeros_like(w)), grad_avg(zeros_like(w)), momentum_buffer(zeros_like(w)) {}
  void visit(auto&& v) {
    v("square_avg", square_avg, kNotNegative);
    v("grad_avg", grad_avg);
    v("momentum_buffer", momentum_buffer);
  }
};

/// Throws    ValueError unless lr, eps, momentum and weight_decay are finite in the dtype and >= 0,
///           eps > 0 and 0 <= alpha < 1
void check_options(const RmspropOptions& options, DType narrowest);

/// RMSprop as in PyTorch (Hinton 2012, lecture 6e; centred: Graves 2013, equations 38 to 41):
///   g += weight_decay w;   v = alpha v + (1 - alpha) g^2;   r = v
///   centred: a = alpha a + (1 - alpha) g;   r = v - a^2, and 0 where rounding makes that negative
///   u = g / (sqrt(r) + eps);   w -= lr u;   with momentum: b = momentum b + u;   w -= lr b
void update(const RmspropOptions& options, RmspropState& state, Tensor& w, const Tensor& g);

using Rmsprop = Optimizer<RmspropOptions, RmspropState>;

}  // namespace attograd::optim

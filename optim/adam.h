#pragma once

#include <attograd/core/create.h>
#include <attograd/optim/optimizer.h>

namespace attograd::optim {

struct AdamOptions {
  static constexpr const char* kName = "adam";
  double lr = 1e-3;
  double beta1 = 0.9;    // how much of the mean gradient is kept
  double beta2 = 0.999;  // and of the mean squared gradient
  double eps = 1e-8;
  double weight_decay = 0;  // adds weight_decay w to the gradient (an L2 penalty)
};

struct AdamWOptions {
  static constexpr const char* kName = "adamw";
  double lr = 1e-3;
  double beta1 = 0.9;    // how much of the mean gradient is kept
  double beta2 = 0.999;  // and of the mean squared gradient
  double eps = 1e-8;
  double weight_decay = 0.01;  // decoupled: shrinks w by lr weight_decay, apart from the gradient
};

/// The state of Adam and of AdamW, named as in PyTorch.
struct AdamState {
  Tensor step;        // i64: the updates so far
  Tensor exp_avg;     // m
  Tensor exp_avg_sq;  // v

  explicit AdamState(const Tensor& w)
      : step(zeros({}, DType::i64)), exp_avg(zeros_like(w)), exp_avg_sq(zeros_like(w)) {}
  void visit(auto&& v) {
    v("step", step, kCount);
    v("exp_avg", exp_avg);
    v("exp_avg_sq", exp_avg_sq, kNotNegative);
  }
};

/// Throws ValueError unless lr, the first rate lr / (1 - beta1), weight_decay and eps are finite in
/// the dtype and >= 0, eps > 0 in it (PyTorch takes 0), and 0 <= betas < 1.
void check_options(const AdamOptions& options, DType narrowest);
void check_options(const AdamWOptions& options, DType narrowest);

/// Adam with an L2 penalty (Kingma and Ba 2015, algorithm 1), t counting from 1:
///   g += weight_decay w;   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
///   w -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
void update(const AdamOptions& options, AdamState& state, Tensor& w, const Tensor& g);

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2):
///   w -= lr weight_decay w;   m, v and the step as above, from g alone
/// Cost      one pass over w, g, m and v
void update(const AdamWOptions& options, AdamState& state, Tensor& w, const Tensor& g);

using Adam = Optimizer<AdamOptions, AdamState>;
using AdamW = Optimizer<AdamWOptions, AdamState>;

}  // namespace attograd::optim

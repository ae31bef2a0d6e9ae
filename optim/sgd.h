#pragma once

#include <attograd/core/create.h>
#include <attograd/optim/optimizer.h>

namespace attograd::optim {

struct SgdOptions {
  static constexpr const char* kName = "sgd";
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;  // how much less than the whole gradient the momentum takes in
  bool nesterov = false;
  double weight_decay = 0;  // adds weight_decay w to the gradient (an L2 penalty)
};

struct SgdState {
  Tensor step;             // i64: the updates of the buffer so far
  Tensor momentum_buffer;  // b

  explicit SgdState(const Tensor& w)
      : step(zeros({}, DType::i64)), momentum_buffer(zeros_like(w)) {}
  void visit(auto&& v) {
    v("step", step, kCount);
    v("momentum_buffer", momentum_buffer);
  }
};

/// Throws ValueError unless lr, momentum and weight_decay are finite in the dtype and >= 0, 0 <=
/// dampening <= 1, and Nesterov's form has a momentum and no dampening.
void check_options(const SgdOptions& options, DType narrowest);

/// Stochastic gradient descent as in PyTorch (Sutskever et al. 2013 with the rate outside the
/// momentum):
///   g += weight_decay w;   b = momentum b + (1 - dampening) g, but the first time b = g
///   w -= lr b;   Nesterov: w -= lr (g + momentum b);   without momentum: w -= lr g
void update(const SgdOptions& options, SgdState& state, Tensor& w, const Tensor& g);

using Sgd = Optimizer<SgdOptions, SgdState>;

}  // namespace attograd::optim

#pragma once

#include <attograd/core/ops.h>

namespace attograd::nn {

enum class Activation { relu, gelu, gelu_tanh, silu };

/// f(x) for every element: max(x, 0); x Phi(x), exactly or by its tanh approximation (Hendrycks and
/// Gimpel 2016); x sigmoid(x).   [...] -> [...]
inline Tensor activate(const Tensor& x, Activation f) {
  switch (f) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu(x, GeluForm::tanh);
    case Activation::silu:
      return silu(x);
  }
  fail<ValueError>("activate: no such activation, got ", static_cast<int>(f));
}

/// y = exp(x) / sum(exp(x)) along an axis, the last by default.   [...] -> [...]
struct Softmax {
  int64_t axis = -1;

  Tensor operator()(const Tensor& x) const { return softmax(x, axis); }

  void visit(auto&&) {}
};

}  // namespace attograd::nn

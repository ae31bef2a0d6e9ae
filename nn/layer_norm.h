#pragma once

#include <cmath>

#include <attograd/core/ops.h>
#include <attograd/nn/init.h>

namespace attograd::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool bias = true;
};

/// y = (x - mean) / sqrt(variance + eps) weight + bias, over the last axis (Ba et al. 2016).
/// x [..., width] -> y [..., width]
struct LayerNorm {
  Tensor weight;  // [width], begins at 1
  Tensor bias;    // [width], begins at 0, or undefined
  double eps;

  /// Throws    ValueError unless width > 0 and eps > 0 is finite
  explicit LayerNorm(int64_t width, const LayerNormOptions& options = {}) : eps(options.eps) {
    check<ValueError>(width > 0, "LayerNorm: the width must be > 0, got ", width);
    check<ValueError>(eps > 0 && std::isfinite(eps), "LayerNorm: eps must be > 0 and finite, got ",
                      eps);
    weight = init::ones({width});
    if (options.bias) bias = init::zeros({width});
  }

  Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

  void visit(auto&& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace attograd::nn

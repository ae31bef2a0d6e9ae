#pragma once

#include <cmath>

#include <attograd/core/ops.h>
#include <attograd/nn/init.h>

namespace attograd::nn {

struct RMSNormOptions {
  double eps = 1e-5;
};

/// y = x / sqrt(mean(x²) + eps) weight, over the last axis (Zhang and Sennrich 2019, equation 4).
/// x [..., width] -> y [..., width]
struct RMSNorm {
  Tensor weight;  // [width], begins at 1
  double eps;

  /// Throws    ValueError unless width > 0, and eps > 0 and finite
  explicit RMSNorm(int64_t width, const RMSNormOptions& options = {}) : eps(options.eps) {
    check<ValueError>(width > 0, "RMSNorm: the width must be > 0, got ", width);
    check<ValueError>(eps > 0 && std::isfinite(eps), "RMSNorm: eps must be > 0 and finite, got ",
                      eps);
    weight = init::ones({width});
  }

  Tensor operator()(const Tensor& x) const { return rms_norm(x, weight, eps); }

  void visit(auto&& v) { v("weight", weight); }
};

}  // namespace attograd::nn

#pragma once

#include <attograd/core/ops.h>
#include <attograd/nn/init.h>

namespace attograd::nn {

struct LinearOptions {
  bool bias = true;
};

/// y = x Wᵀ + b.   x [..., in] -> y [..., out]
struct Linear {
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined

  /// Weight and bias begin uniform in +-1 / sqrt(in), as PyTorch's do.
  /// Throws    ValueError unless in, out > 0
  Linear(int64_t in, int64_t out, Rng& rng, const LinearOptions& options = {}) {
    check<ValueError>(in > 0 && out > 0, "Linear: widths must be > 0, got in = ", in,
                      " and out = ", out);
    weight = init::fan_in_uniform({out, in}, in, rng);
    if (options.bias) bias = init::fan_in_uniform({out}, in, rng);
  }

  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }

  void visit(auto&& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace attograd::nn

#pragma once

#include <attograd/core/ops.h>

namespace attograd::nn {

/// Training passes a generator: each element becomes 0 with probability p and is scaled by
/// 1 / (1 - p) otherwise (Srivastava et al. 2014). Evaluation passes none: y is x.   [...] -> [...]
struct Dropout {
  double p;

  /// Throws    ValueError unless 0 <= p <= 1
  explicit Dropout(double probability) : p(probability) {
    check<ValueError>(0 <= p && p <= 1, "Dropout: the probability must be in [0, 1], got ", p);
  }

  Tensor operator()(const Tensor& x, Rng* rng = nullptr) const { return dropout(x, p, rng); }

  void visit(auto&&) {}
};

}  // namespace attograd::nn

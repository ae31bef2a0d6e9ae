#pragma once

#include <attograd/core/create.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/graph.h>
#include <attograd/core/ops.h>
#include <attograd/core/random.h>

namespace attograd {

/// Checks the second derivatives of f along one random direction for each input that requires
/// gradients: all pairs of inputs, at a cost that does not depend on their sizes. Directions are
/// short, for a long one would cross the kinks of relu.
inline GradcheckReport gradgradcheck_along(const TensorFunction& f, const Tensors& inputs,
                                           const GradcheckOptions& options = {}) {
  Rng rng(1);
  Tensors directions, steps;
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) directions.push_back(0.05 * randn(x.shape(), rng, DType::f64));
    if (x.requires_grad()) steps.push_back(zeros({}, DType::f64).set_requires_grad());
  }
  const auto along = [&](const Tensors& t) {
    Tensors moved = inputs;
    size_t i = 0;
    for (Tensor& x : moved) {
      if (!x.requires_grad()) continue;
      x = detach(x) + t[i] * directions[i];
      ++i;
    }
    return f(moved);
  };
  return gradgradcheck(along, steps, options);
}

}  // namespace attograd

#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Over the last axis, of size C. f32 or f64. Gradient: any order. Throws ShapeError, DTypeError;
// ValueError unless eps is positive and finite. Cost: two passes over a row that stays in the
// cache. A row of finite numbers has its right result even where their squares overflow.

/// y = (x - mean) / sqrt(var + eps) * weight + bias, var the biased variance (Ba et al. 2016,
/// eq. 3). The mean is subtracted first, so that a large one does not cancel the variance.
/// Shapes    x [..., C], weight and bias [C] or undefined (1 and 0)
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps = 1e-5);

/// y = x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich 2019, eq. 4).
/// Shapes    x [..., C], weight [C] or undefined (1)
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps = 1e-5);

}  // namespace attograd

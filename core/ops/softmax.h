#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

// Along one axis, by default the last. f32 or f64. Gradient: any order. Throws ShapeError,
// DTypeError. Cost: three passes over a row that stays in the cache; another axis than the last is
// copied.

/// y_i = exp(x_i - m) / sum_j exp(x_j - m), m = max x. It never overflows. -inf has weight 0; a row
/// of nothing but -inf, or with +inf or NaN, is NaN.
Tensor softmax(const Tensor& x, int64_t axis = -1);

/// log softmax(x) = x - m - log sum_j exp(x_j - m), finite where softmax rounds to 0.
Tensor log_softmax(const Tensor& x, int64_t axis = -1);

/// Softmax over the scores where `keep` is true; the others have weight exactly 0, whatever they
/// are, NaN included. A row that keeps nothing (or nothing but -inf) is 0 and passes gradient 0.
/// Shapes    scores and keep (boolean) broadcast
Tensor masked_softmax(const Tensor& scores, const Tensor& keep, int64_t axis = -1);

}  // namespace attograd

#pragma once

#include <attograd/core/ops/cross_entropy.h>

namespace attograd::nn {

// Losses beside cross_entropy. Prediction and target have one shape and one dtype, f32 or f64:
// nothing is broadcast, since a [B, 1] against a [B] would silently make B^2 pairs.
// Shapes    [...] of the losses for Reduction::none, a scalar otherwise. A mean over nothing is 0
// Gradient  of prediction and target, any order
// Throws    ShapeError, DTypeError; ValueError for a number that was cast to a Reduction
// Cost      a few passes

/// (prediction - target)^2, for every element.   [...], [...] -> [...]
Tensor mse_loss(const Tensor& prediction, const Tensor& target,
                Reduction reduction = Reduction::mean);

struct BceOptions {
  Reduction reduction = Reduction::mean;
  Tensor pos_weight = {};  // of the positive class: [], or [C] along the last axis; undefined: 1
};

/// The cross entropy in nats of a yes with probability p = sigmoid(x), x the logit, for every
/// element:
///   -(pos_weight t log p + (1 - t) log(1 - p)) = pos_weight t softplus(-x) + (1 - t) softplus(x)
/// for a target t in [0, 1]. No term is negative, so nothing cancels, and finite logits of any size
/// have finite losses.   [...], [...] -> [...]
Tensor bce_with_logits(const Tensor& logits, const Tensor& target, const BceOptions& options = {});

/// The Kullback-Leibler divergence D(target || p) in nats (Kullback and Leibler 1951, equation
/// 2.4), for every distribution along the last axis:
///   sum_v t_v (log t_v - log p_v)
/// of target probabilities t and predicted log-probabilities log p, as log_softmax gives them. The
/// mean is over the distributions: PyTorch's reduction "batchmean" for [B, V], while its "mean"
/// divides by V as well.
/// A target of 0 contributes nothing: value 0 and both gradients exactly 0, by selection, also
/// where log p is -inf (the slope of t log t at 0 would be infinite). Negative targets make NaN.
/// The slope 1 / t of the second derivative by a target overflows below 1e-19 in f32 (1e-154 in
/// f64).
/// Shapes    log_p [..., V], target [..., V] -> [...]
Tensor kl_divergence(const Tensor& log_p, const Tensor& target,
                     Reduction reduction = Reduction::mean);

}  // namespace attograd::nn

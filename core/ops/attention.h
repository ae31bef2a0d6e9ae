#pragma once

#include <optional>

#include <attograd/core/mask.h>
#include <attograd/core/tensor.h>

namespace attograd {

struct AttentionOptions {
  Mask mask = {};
  std::optional<double> scale = {};  // of q k^T; default 1 / sqrt(D)
  /// What the score of a hidden key becomes: a finite number, such as the -1e9 of many sources. No
  /// gradient passes through it, and a query that may see nothing then looks at all keys alike.
  /// By default a hidden key has weight exactly 0, and so has all that such a query sees.
  std::optional<double> fill = {};
};

/// Scaled dot-product attention (Vaswani et al. 2017, eq. 1), per batch and head:
/// y = softmax(scale q k^T + bias, masked) v
/// A query that may see nothing has weights, output and gradient exactly 0 (unless `fill` is set).
/// What stands in a key or value that no query may see, NaN too, leaves no trace (unless `fill` is
/// set); in one that some may see, it can reach all queries of the head.
/// Shapes    q [B, H, T, D], k [B, H, S, D], v [B, H, S, Dv] -> y [B, H, T, Dv]; without a
///           bias or fill y lies in memory like q, so heads that were views of [B, T, H, D] merge
///           again without a copy
/// Gradient  any order, with respect to q, k, v and the mask's bias
/// Throws    ShapeError, DTypeError (f32 or f64, one for all); ValueError for a scale that is not
///           finite; as attention_weights does
/// Cost      O(B H T S (D + Dv)) time, half of it under a causal mask; O(B H T) extra memory
///           (a logsumexp per query): the weights are never stored whole. With a bias, a fill under
///           a mask, or create_graph, they are.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options = {});

/// The weights [B, H, T, S] by which attention averages v; matmul(weights, v) is its output.
/// Cost      O(B H T S) memory
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});

/// The weights that scores of any kind give: their softmax over the keys, masked, after the mask's
/// bias has been added.
/// Shapes    scores [B, H, T, S] -> weights [B, H, T, S]
/// Throws    ShapeError showing the scores and a mask that does not fit them; DTypeError for a bias
///           of another dtype; ValueError for a fill that is not finite in the scores' dtype
Tensor attention_weights(const Tensor& scores, const Mask& mask, std::optional<double> fill = {});

}  // namespace attograd

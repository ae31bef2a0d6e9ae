#pragma once

#include <optional>

#include <attograd/core/mask.h>
#include <attograd/core/tensor.h>

namespace attograd {

struct AttentionOptions {
  Mask mask = {};
  std::optional<double> scale = {};  // of q k^T; default 1 / sqrt(D)
};

/// Scaled dot-product attention (Vaswani et al. 2017, eq. 1), per batch and head:
/// y = softmax(scale q k^T + bias, masked) v
/// A query that may see nothing has weights, output and gradient exactly 0.
/// Shapes    q [B, H, T, D], k [B, H, S, D], v [B, H, S, Dv] -> y [B, H, T, Dv]; without a
///           bias y lies in memory like q, so heads that were views of [B, T, H, D] merge again
///           without a copy
/// Gradient  any order, with respect to q, k, v and the mask's bias
/// Throws    ShapeError, DTypeError (f32 or f64, one for all); ValueError for a scale that is not
///           finite
/// Cost      O(B H T S (D + Dv)) time, half of it under a causal mask; O(B H T) extra memory
///           (a logsumexp per query): the weights are never stored whole. With a bias, or under
///           create_graph, they are.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options = {});

/// The weights [B, H, T, S] by which attention averages v; matmul(weights, v) is its output.
/// Cost      O(B H T S) memory
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});

}  // namespace attograd

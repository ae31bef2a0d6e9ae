#pragma once

#include <examples/systems/heads_first.h>

#include <attograd/nn/attention.h>

namespace attograd::systems {

/// System D, MultiHeadAttention: four biased maps C -> C and nothing else.   [B, T, C]; mask [T, S]
/// or [B, H, T, S] (1 for any axis); hidden scores are filled with -1e9. A width that the heads do
/// not divide throws. The root of d_k, which the source takes in f32, has the tensors' own type.
struct Plain {
  nn::MultiHeadAttention attention;

  Plain(int64_t d_model, int64_t num_heads, Rng& rng)
      : attention({.d_model = d_model, .heads = num_heads, .fill = kHiddenScore}, rng) {}

  nn::Attended operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                          const nn::AttentionCall& call) const {
    return attention(q, k, v, call);
  }

  void visit(auto&& v) {
    v("W_q", attention.query);
    v("W_k", attention.key);
    v("W_v", attention.value);
    v("W_o", attention.output);
  }
};

}  // namespace attograd::systems

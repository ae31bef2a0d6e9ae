#pragma once

#include <attograd/nn/attention.h>
#include <attograd/nn/layer_norm.h>

namespace attograd::systems {

/// What hidden scores become in systems B and D.
inline constexpr double kHiddenScore = -1e9;

/// Systems B and D, ScaledDotProductAttention: q, k, v [B, H, T or S, D] -> (y, weights), by a mask
/// [T, S] or [B, H, T, S] (1 for any axis; rank 3 is [B, T, S]). `dropout` is that of the weights:
/// 0.1 in B, none in D, whose temperature is sqrt(d_k). The sources divide q by the temperature
/// before the product; this is equal up to rounding.
inline nn::Attention scaled_dot_product_attention(double temperature, double dropout) {
  return {.score = nn::ScaledDot{.temperature = temperature},
          .fill = kHiddenScore,
          .dropout = nn::Dropout(dropout)};
}

struct HeadsFirstOptions {
  int64_t n_head = 1, d_model = 0, d_k = 0, d_v = 0;
  double dropout = 0.1;  // after fc; the weights have their own, always 0.1
  std::optional<double> fill = kHiddenScore;
  double eps = 1e-6;
};

/// System B, MultiHeadAttention: no biases; a layer norm on the query alone, in self-attention too;
/// the query as it came in is added to y.   [B, T, C]; mask [B, T or 1, S]. The weights that the
/// source always returns are those after dropout.
struct HeadsFirst {
  nn::LayerNorm layer_norm;
  nn::MultiHeadAttention attention;
  nn::Dropout dropout;

  HeadsFirst(const HeadsFirstOptions& o, Rng& rng)
      : layer_norm(o.d_model, {.eps = o.eps}),
        attention({.d_model = o.d_model,
                   .heads = o.n_head,
                   .d_k = o.d_k,
                   .d_v = o.d_v,
                   .query_bias = false,
                   .key_bias = false,
                   .value_bias = false,
                   .output_bias = false,
                   .dropout = 0.1,
                   .fill = o.fill},
                  rng),
        dropout(o.dropout) {}

  nn::Attended operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                          const nn::AttentionCall& call) const {
    const auto [y, weights] = attention(layer_norm(q), k, v, call);
    return {.y = q + dropout(y, call.rng), .weights = weights};
  }

  void visit(auto&& v) {
    v("w_qs", attention.query);
    v("w_ks", attention.key);
    v("w_vs", attention.value);
    v("fc", attention.output);
    v("layer_norm", layer_norm);
  }
};

}  // namespace attograd::systems

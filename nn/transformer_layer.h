#pragma once

#include <attograd/nn/attention.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/feed_forward.h>
#include <attograd/nn/layer_norm.h>

namespace attograd::nn {

struct TransformerLayerOptions {
  int64_t d_model = 0;  // C
  int64_t heads = 1;
  int64_t d_ff = 0;  // channels inside the feed-forward network; 0: 4 d_model
  Activation activation = Activation::relu;
  double dropout = 0;       // of attention weights, of the hidden channels, and after each branch
  double eps = 1e-5;        // of the norms
  bool norm_first = false;  // pre-norm; else post-norm, as in the paper
  bool bias = true;         // of linear maps and norms
};

/// How an encoder is called.
struct EncoderCall {
  Mask mask = {};      // fits the scores [B, H, S, S]
  Rng* rng = nullptr;  // training passes one, for dropout
};

/// How a decoder is called.
struct DecoderCall {
  Mask mask = {};         // of the target to itself, [B, H, T, T]; often Mask::causal()
  Mask memory_mask = {};  // of the target to the memory, [B, H, T, S]
  Rng* rng = nullptr;     // training passes one, for dropout
};

/// A layer of a transformer's encoder (Vaswani et al. 2017, section 3.1). Each branch is added to
/// what came in and normed after it, or, pre-norm (Xiong et al. 2020), before it:
///   post-norm: h = norm(x + attention(x)),   y = norm(h + feed_forward(h))
///   pre-norm:  h = x + attention(norm(x)),   y = h + feed_forward(norm(h))
struct TransformerEncoderLayer {
  MultiHeadAttention self_attention;
  LayerNorm self_attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
  Dropout dropout;
  bool norm_first;

  /// Throws    ValueError for sizes that are not > 0, heads that do not divide d_model, and
  ///           probabilities outside [0, 1]
  TransformerEncoderLayer(const TransformerLayerOptions& o, Rng& rng);

  /// Shapes    x [B, S, C] -> [B, S, C]
  Tensor operator()(const Tensor& x, const EncoderCall& call = {}) const;

  void visit(auto&& v) {
    v("self_attention", self_attention);
    v("self_attention_norm", self_attention_norm);
    v("feed_forward", feed_forward);
    v("feed_forward_norm", feed_forward_norm);
  }
};

/// A layer of a transformer's decoder: self-attention, then attention to the memory that the
/// encoder made, then the feed-forward network. The memory is not normed.
///   post-norm: h = norm(x + self_attention(x)),   i = norm(h + cross_attention(h, memory)),
///              y = norm(i + feed_forward(i));     pre-norm as in the encoder
struct TransformerDecoderLayer {
  MultiHeadAttention self_attention;
  LayerNorm self_attention_norm;
  MultiHeadAttention cross_attention;
  LayerNorm cross_attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
  Dropout dropout;
  bool norm_first;

  /// Throws    as TransformerEncoderLayer does
  TransformerDecoderLayer(const TransformerLayerOptions& o, Rng& rng);

  /// Shapes    x [B, T, C], memory [B, S, C] -> [B, T, C]
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderCall& call = {}) const;

  void visit(auto&& v) {
    v("self_attention", self_attention);
    v("self_attention_norm", self_attention_norm);
    v("cross_attention", cross_attention);
    v("cross_attention_norm", cross_attention_norm);
    v("feed_forward", feed_forward);
    v("feed_forward_norm", feed_forward_norm);
  }
};

}  // namespace attograd::nn

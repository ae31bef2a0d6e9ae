#pragma once

#include <optional>
#include <vector>

#include <attograd/nn/attention.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/embedding.h>
#include <attograd/nn/feed_forward.h>
#include <attograd/nn/layer_norm.h>
#include <attograd/nn/positions.h>

namespace attograd::nn {

struct GptOptions {
  int64_t vocabulary = 0;  // V: token ids are in [0, V)
  int64_t context = 64;    // the longest T
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t width = 128;  // C
  double dropout = 0;   // of the embeddings, the attention weights and both branches of a block
  bool bias = false;    // in linear maps and layer norms; the head has none
  bool tied = true;     // the head uses the token embedding's weight
};

/// A pre-norm transformer block (Radford et al. 2019, section 2.3).   x [B, T, C] -> y [B, T, C]
struct GptBlock {
  LayerNorm attention_norm;
  MultiHeadAttention attention;
  LayerNorm feed_forward_norm;
  FeedForward feed_forward;
  Dropout dropout;

  GptBlock(const GptOptions& options, Rng& rng);

  /// h = x + attention(norm(x));   y = h + feed_forward(norm(h))
  Tensor operator()(const Tensor& x, Rng* rng = nullptr) const;

  void visit(auto&& v) {
    v("attention_norm", attention_norm);
    v("attention", attention);
    v("feed_forward_norm", feed_forward_norm);
    v("feed_forward", feed_forward);
  }
};

/// A causal language model: GPT-2 (Radford et al. 2019) with the choices of nanoGPT.
///   h = token_embedding(ids) + position_embedding(T), through the blocks and a norm;
///   logits = h Wᵀ, W the weight of the token embedding if tied, else of the head
/// Shapes    ids i64 [B, T], T <= context -> logits [B, T, V], those after each token
struct Gpt {
  GptOptions options;
  Embedding token_embedding;            // [V, C]
  LearnedPositions position_embedding;  // [context, C]
  Dropout dropout;
  std::vector<GptBlock> blocks;
  LayerNorm norm;
  std::optional<Linear> head;  // [V, C], unless tied

  /// Embeddings and linear maps begin normal with deviation 0.02, those that end a branch with
  /// 0.02 / sqrt(2 layers), their biases at 0; norms begin as LayerNorm says.
  /// Throws    ValueError for sizes that are not > 0 or heads that do not divide the width
  Gpt(const GptOptions& o, Rng& rng);

  /// Training passes a generator, for dropout.
  /// Throws    ShapeError unless ids are [B, T] with 1 <= T <= context; IndexError for an id
  ///           outside [0, V)
  Tensor operator()(const Tensor& ids, Rng* rng = nullptr) const;

  void visit(auto&& v) {
    v("token_embedding", token_embedding);
    v("position_embedding", position_embedding);
    v("blocks", blocks);
    v("norm", norm);
    v("head", head);
  }
};

}  // namespace attograd::nn

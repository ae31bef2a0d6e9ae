#include <attograd/nn/transformer_layer.h>

namespace attograd::nn {
namespace {

MultiHeadAttentionOptions attention_options(const TransformerLayerOptions& o) {
  return {.d_model = o.d_model,
          .heads = o.heads,
          .query_bias = o.bias,
          .key_bias = o.bias,
          .value_bias = o.bias,
          .output_bias = o.bias,
          .dropout = o.dropout};
}

LayerNormOptions norm_options(const TransformerLayerOptions& o) {
  return {.eps = o.eps, .bias = o.bias};
}

FeedForwardOptions feed_forward_options(const TransformerLayerOptions& o) {
  return {.d_model = o.d_model,
          .d_ff = o.d_ff,
          .activation = o.activation,
          .bias = o.bias,
          .dropout = o.dropout};
}

/// x and a branch, in a layer of either kind.
template <class Layer, class Branch>
Tensor add_branch(const Layer& layer, const Tensor& x, const LayerNorm& norm, Rng* rng,
                  const Branch& branch) {
  if (layer.norm_first) return x + layer.dropout(branch(norm(x)), rng);
  return norm(x + layer.dropout(branch(x), rng));
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& o, Rng& rng)
    : self_attention(attention_options(o), rng),
      self_attention_norm(o.d_model, norm_options(o)),
      feed_forward(feed_forward_options(o), rng),
      feed_forward_norm(o.d_model, norm_options(o)),
      dropout(o.dropout),
      norm_first(o.norm_first) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const EncoderCall& call) const {
  const Tensor h =
      add_branch(*this, x, self_attention_norm, call.rng, [&](const Tensor& branch_in) {
        return self_attention(branch_in, {.mask = call.mask, .rng = call.rng}).y;
      });
  return add_branch(*this, h, feed_forward_norm, call.rng,
                    [&](const Tensor& branch_in) { return feed_forward(branch_in, call.rng); });
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& o, Rng& rng)
    : self_attention(attention_options(o), rng),
      self_attention_norm(o.d_model, norm_options(o)),
      cross_attention(attention_options(o), rng),
      cross_attention_norm(o.d_model, norm_options(o)),
      feed_forward(feed_forward_options(o), rng),
      feed_forward_norm(o.d_model, norm_options(o)),
      dropout(o.dropout),
      norm_first(o.norm_first) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory,
                                           const DecoderCall& call) const {
  const Tensor h =
      add_branch(*this, x, self_attention_norm, call.rng, [&](const Tensor& branch_in) {
        return self_attention(branch_in, {.mask = call.mask, .rng = call.rng}).y;
      });
  const Tensor i =
      add_branch(*this, h, cross_attention_norm, call.rng, [&](const Tensor& branch_in) {
        return cross_attention(branch_in, memory, memory,
                               {.mask = call.memory_mask, .rng = call.rng})
            .y;
      });
  return add_branch(*this, i, feed_forward_norm, call.rng,
                    [&](const Tensor& branch_in) { return feed_forward(branch_in, call.rng); });
}

}  // namespace attograd::nn

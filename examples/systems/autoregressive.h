#pragma once

#include <cmath>

#include <examples/systems/seq_first.h>

#include <attograd/core/create.h>
#include <attograd/nn/embedding.h>
#include <attograd/nn/layer_norm.h>
#include <attograd/nn/positions.h>

namespace attograd::systems {

struct AutoregressiveOptions {
  int64_t vocab = 0, d_model = 0, heads = 1, d_ff = 0, layers = 1;
  double dropout = 0.1;
  bool bias = true;  // of the attention's query and key
  double eps = 1e-5;
};

/// A layer of system F, pre-norm.   x [T, B, C] -> [T, B, C]
///   h = x + dropout(self_attn(norm_self_attn(x)))
///   y = h + dropout(layer2(dropout(relu(layer1(norm_ff(h))))))
struct AutoregressiveLayer {
  nn::LayerNorm norm_self_attn, norm_ff;
  SeqFirst self_attn;
  nn::Linear layer1, layer2;
  nn::Dropout dropout;

  AutoregressiveLayer(const AutoregressiveOptions& o, Rng& rng)
      : norm_self_attn(o.d_model, {.eps = o.eps}),
        norm_ff(o.d_model, {.eps = o.eps}),
        self_attn({.heads = o.heads, .d_model = o.d_model, .dropout = o.dropout, .bias = o.bias},
                  rng),
        layer1(o.d_model, o.d_ff, rng),
        layer2(o.d_ff, o.d_model, rng),
        dropout(o.dropout) {}

  Tensor operator()(const Tensor& x, const Tensor& mask, Rng* rng) {
    const Tensor z = norm_self_attn(x);
    const Tensor attended = self_attn({.query = z, .key = z, .value = z, .mask = mask, .rng = rng});
    const Tensor h = x + dropout(attended, rng);
    return h + dropout(layer2(dropout(relu(layer1(norm_ff(h))), rng)), rng);
  }

  void visit(auto&& v) {
    v("self_attn", self_attn);
    v("norm_self_attn", norm_self_attn);
    v("feed_forward.layer1", layer1);
    v("feed_forward.layer2", layer2);
    v("norm_ff", norm_ff);
  }
};

/// System F, an autoregressive model around A: dropout(embedding sqrt(C) + sinusoid), pre-norm
/// layers under a causal mask, a norm, and a linear map to the vocabulary. examples/08 trains it.
/// tokens i64 [T, B] -> logits [T, B, V], those of the token that follows
struct Autoregressive {
  nn::Embedding embedding;
  std::vector<AutoregressiveLayer> layers;
  nn::LayerNorm norm;
  nn::Linear generator;
  nn::Dropout dropout;

  Autoregressive(const AutoregressiveOptions& o, Rng& rng)
      : embedding(o.vocab, o.d_model, rng),
        norm(o.d_model, {.eps = o.eps}),
        generator(o.d_model, o.vocab, rng),
        dropout(o.dropout) {
    for (int64_t i = 0; i < o.layers; ++i) layers.emplace_back(o, rng);
  }

  Tensor operator()(const Tensor& tokens, Rng* rng = nullptr) {
    check<ShapeError>(tokens.rank() == 2 && tokens.dim(0) > 0,
                      "autoregressive: tokens must be [T, B] with T > 0, got ", signature(tokens));
    const int64_t length = tokens.dim(0), width = norm.weight.dim(0);
    const Tensor positions = unsqueeze(nn::sinusoid(length, width, norm.weight.dtype()), 1);
    Tensor x = embedding(tokens) * std::sqrt(static_cast<double>(width)) + positions;
    x = dropout(x, rng);  // [T, B, C]
    const Tensor mask = unsqueeze(causal_keep(length, length), 2);
    for (AutoregressiveLayer& layer : layers) x = layer(x, mask, rng);
    return generator(norm(x));  // [T, B, V]
  }

  void visit(auto&& v) {
    v("embedding", embedding);
    v("layers", layers);
    v("norm", norm);
    v("generator", generator);
  }
};

/// The prompt [T, B] and `count` more tokens, each the likeliest after all those before it.
inline Tensor continue_greedily(Autoregressive& model, Tensor tokens, int64_t count) {
  const NoGrad no_grad;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor logits = model(tokens);  // [T, B, V]
    tokens = cat({tokens, argmax(slice(logits, 0, logits.dim(0) - 1), -1)}, 0);
  }
  return tokens;
}

}  // namespace attograd::systems

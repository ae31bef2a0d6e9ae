#pragma once

#include <optional>
#include <vector>

#include <attograd/nn/transformer_layer.h>

namespace attograd::nn {

struct TransformerStackOptions {
  TransformerLayerOptions layer = {};
  int64_t layers = 6;
  bool final_norm = true;  // pre-norm layers need it: nothing else norms their sum
};

/// Encoder layers one after the other, and a norm at the end.
struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  /// Throws    ValueError unless layers >= 0; as TransformerEncoderLayer does
  TransformerEncoder(const TransformerStackOptions& o, Rng& rng);

  /// Shapes    x [B, S, C] -> memory [B, S, C]
  Tensor operator()(const Tensor& x, const EncoderCall& call = {}) const;

  void visit(auto&& v) {
    v("layers", layers);
    v("norm", norm);
  }
};

/// Decoder layers one after the other, each attending to the same memory, and a norm at the end.
struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  /// Throws    as TransformerEncoder does
  TransformerDecoder(const TransformerStackOptions& o, Rng& rng);

  /// Shapes    x [B, T, C], memory [B, S, C] -> [B, T, C]
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderCall& call = {}) const;

  void visit(auto&& v) {
    v("layers", layers);
    v("norm", norm);
  }
};

struct TransformerOptions {
  TransformerLayerOptions layer = {};
  int64_t encoder_layers = 6;
  int64_t decoder_layers = 6;
};

/// How a Transformer is called.
struct TransformerCall {
  /// Which source positions may be seen, by the encoder and by the decoder alike: the same
  /// for every query and head, as Mask::padding is.
  Mask source_mask = {};
  Mask target_mask = Mask::causal();  // of the target to itself, [B, H, T, T]
  Rng* rng = nullptr;                 // training passes one, for dropout
};

/// Sequence to sequence (Vaswani et al. 2017, figure 1, between the embeddings and the last linear
/// map): y = decoder(target, encoder(source)). Both stacks end with a norm, as PyTorch's do.
/// The parts may be called by themselves: for other masks, or to encode a source once.
struct Transformer {
  TransformerEncoder encoder;
  TransformerDecoder decoder;

  /// Throws    as TransformerEncoder does
  Transformer(const TransformerOptions& o, Rng& rng);

  /// Shapes    source [B, S, C], target [B, T, C] -> [B, T, C]
  /// Throws    ShapeError for a source mask that depends on the query or the head
  Tensor operator()(const Tensor& source, const Tensor& target,
                    const TransformerCall& call = {}) const;

  void visit(auto&& v) {
    v("encoder", encoder);
    v("decoder", decoder);
  }
};

}  // namespace attograd::nn

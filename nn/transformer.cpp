#include <attograd/nn/transformer.h>

namespace attograd::nn {
namespace {

template <class Stack>
void build(Stack& stack, const char* name, const TransformerStackOptions& o, Rng& rng) {
  check<ValueError>(o.layers >= 0, name, ": the number of layers must be >= 0, got ", o.layers);
  for (int64_t layer = 0; layer < o.layers; ++layer) stack.layers.emplace_back(o.layer, rng);
  if (o.final_norm)
    stack.norm.emplace(o.layer.d_model, LayerNormOptions{.eps = o.layer.eps, .bias = o.layer.bias});
}

/// The encoder has S queries, the decoder T: one mask serves both only if it depends on neither
/// query nor head.
void check_source_mask(const Mask& mask, const Tensor& source) {
  check<ShapeError>(mask.is_for_keys(source.dim(0), source.dim(1)),
                    "Transformer: the source mask must be of padding or [B or 1, 1, 1, S or 1], "
                    "the same for every query and head, got for source = ",
                    signature(source), " the ", mask,
                    "\n; call the encoder and the decoder by themselves for another");
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerStackOptions& o, Rng& rng) {
  build(*this, "TransformerEncoder", o, rng);
}

Tensor TransformerEncoder::operator()(const Tensor& x, const EncoderCall& call) const {
  Tensor h = x;
  for (const TransformerEncoderLayer& layer : layers) h = layer(h, call);
  return norm ? (*norm)(h) : h;
}

TransformerDecoder::TransformerDecoder(const TransformerStackOptions& o, Rng& rng) {
  build(*this, "TransformerDecoder", o, rng);
}

Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory,
                                      const DecoderCall& call) const {
  Tensor h = x;
  for (const TransformerDecoderLayer& layer : layers) h = layer(h, memory, call);
  return norm ? (*norm)(h) : h;
}

Transformer::Transformer(const TransformerOptions& o, Rng& rng)
    : encoder({.layer = o.layer, .layers = o.encoder_layers}, rng),
      decoder({.layer = o.layer, .layers = o.decoder_layers}, rng) {}

Tensor Transformer::operator()(const Tensor& source, const Tensor& target,
                               const TransformerCall& call) const {
  check<ShapeError>(source.rank() == 3 && target.rank() == 3,
                    "Transformer: source must be [B, S, C] and target [B, T, C], got ",
                    signature(source), " and ", signature(target));
  check_source_mask(call.source_mask, source);
  const Tensor memory = encoder(source, {.mask = call.source_mask, .rng = call.rng});
  return decoder(target, memory,
                 {.mask = call.target_mask, .memory_mask = call.source_mask, .rng = call.rng});
}

}  // namespace attograd::nn

// PyTorch's own modules from the options of a golden file.

#include <tests/golden/golden.h>

#include <attograd/core/ops.h>
#include <attograd/nn/attention.h>
#include <attograd/nn/torch_names.h>
#include <attograd/nn/transformer.h>

namespace attograd::golden {
namespace {

/// A module over the parameters of a file, which have PyTorch's names.
template <nn::Module M>
M over_torch(const M& module, const TensorMap& parameters) {
  const NamedTensors state(parameters.begin(), parameters.end());
  return nn::with_parameters(module, nn::from_torch(state, nn::named_parameters(module)));
}

bool has_bias(Options& options) { return !options.has("bias") || options.flag("bias"); }

bool has_causal_mask(Options& options) {
  return options.has("mask") && options.text("mask").starts_with("causal");
}

/// The padding that a file may have.
Mask padding(const TensorMap& inputs) {
  return inputs.contains("keep") ? Mask::keep(unsqueeze(inputs.at("keep"), 1)) : Mask();
}

/// Of the first argument to itself: causal, or that of the file.
Mask self_mask(const TensorMap& inputs, bool causal) {
  if (causal) return Mask::causal();
  return inputs.contains("mask") ? Mask::keep(inputs.at("mask")) : Mask();
}

/// Reads what the metadata say of masks, which these layers drop by -inf alone.
bool read_masks(Options& options) {
  if (options.has("keep"))
    check<FormatError>(options.text("keep").starts_with("true keeps"), "option keep: got ",
                       options.text("keep"));
  if (has_causal_mask(options)) return true;
  check<FormatError>(!options.fill(), "option fill: only the zero row is known to these layers");
  return false;
}

nn::Activation activation(Options& options) {
  const std::string name = options.text("activation");
  if (name == "relu") return nn::Activation::relu;
  if (name == "gelu") return nn::Activation::gelu;
  fail<FormatError>("option activation: must be relu or gelu, got ", name);
}

nn::TransformerLayerOptions layer_options(Options& options) {
  return {.d_model = options.integer("d_model"),
          .heads = options.integer("nhead"),
          .d_ff = options.integer("dim_feedforward"),
          .activation = activation(options),
          .eps = options.number("eps"),
          .norm_first = options.flag("norm_first"),
          .bias = has_bias(options)};
}

Forward multihead_attention(Options& options) {
  Rng rng(1);
  const bool bias = has_bias(options);
  const nn::MultiHeadAttention module({.d_model = options.integer("embed_dim"),
                                       .heads = options.integer("num_heads"),
                                       .key_width = options.integer("kdim"),
                                       .value_width = options.integer("vdim"),
                                       .query_bias = bias,
                                       .key_bias = bias,
                                       .value_bias = bias,
                                       .output_bias = bias,
                                       .fill = options.fill()},
                                      rng);
  return [=](const TensorMap& in, const TensorMap& parameters, bool weights) -> TensorMap {
    const auto input = [&](const char* name) { return in.at(in.contains("x") ? "x" : name); };
    const nn::Attended attended = over_torch(module, parameters)(
        input("q"), input("k"), input("v"),
        {.mask = self_mask(in, false),
         .weights = weights ? nn::ReturnedWeights::after_dropout : nn::ReturnedWeights::none});
    if (!weights) return {{"y", attended.y}};
    return {{"y", attended.y}, {"attn", attended.weights}};
  };
}

Forward encoder_layer(Options& options) {
  Rng rng(1);
  const nn::TransformerEncoderLayer module(layer_options(options), rng);
  const bool causal = read_masks(options);
  return [=](const TensorMap& in, const TensorMap& parameters, bool) -> TensorMap {
    const auto layer = over_torch(module, parameters);
    return {{"y", layer(in.at("x"), {.mask = self_mask(in, causal) & padding(in)})}};
  };
}

Forward decoder_layer(Options& options) {
  Rng rng(1);
  const nn::TransformerDecoderLayer module(layer_options(options), rng);
  const bool causal = read_masks(options);
  return [=](const TensorMap& in, const TensorMap& parameters, bool) -> TensorMap {
    const auto layer = over_torch(module, parameters);
    return {{"y", layer(in.at("x"), in.at("memory"),
                        {.mask = self_mask(in, causal), .memory_mask = padding(in)})}};
  };
}

Forward transformer(Options& options) {
  Rng rng(1);
  const nn::Transformer module({.layer = layer_options(options),
                                .encoder_layers = options.integer("num_encoder_layers"),
                                .decoder_layers = options.integer("num_decoder_layers")},
                               rng);
  const bool causal = read_masks(options);
  return [=](const TensorMap& in, const TensorMap& parameters, bool) -> TensorMap {
    const auto model = over_torch(module, parameters);
    return {{"y", model(in.at("source"), in.at("target"),
                        {.source_mask = padding(in), .target_mask = self_mask(in, causal)})}};
  };
}

}  // namespace

Forward build_torch_module(const std::string& module, Options& options) {
  if (module == "torch_multihead_attention") return multihead_attention(options);
  if (module == "encoder_layer") return encoder_layer(options);
  if (module == "decoder_layer") return decoder_layer(options);
  if (module == "transformer") return transformer(options);
  return {};
}

}  // namespace attograd::golden

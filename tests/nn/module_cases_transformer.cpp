#include <tests/nn/module_cases.h>

#include <attograd/nn/transformer.h>

namespace attograd::nn {
namespace {

using op_cases::normal;

// Width 3 (a norm of 2 channels is nearly constant, and so its gradients nearly 0), hidden 2.
constexpr TransformerLayerOptions kPostNorm{
    .d_model = 3, .heads = 3, .d_ff = 2, .activation = Activation::gelu, .dropout = 0.3};
constexpr TransformerLayerOptions kPreNorm{.d_model = 3,
                                           .d_ff = 2,
                                           .activation = Activation::silu,
                                           .dropout = 0.3,
                                           .eps = 0.01,
                                           .norm_first = true,
                                           .bias = false};

/// Stacks, whose layers have rows of their own, are checked in evaluation alone.
TransformerLayerOptions without_dropout(TransformerLayerOptions options) {
  options.dropout = 0;
  return options;
}

std::vector<std::string> prefixed(const std::string& prefix,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(prefix + name);
  return all;
}

std::vector<std::string> concatenated(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<std::string> attention(bool bias) {
  return bias ? std::vector<std::string>{"query.weight[3, 3]",  "query.bias[3]",
                                         "key.weight[3, 3]",    "key.bias[3]",
                                         "value.weight[3, 3]",  "value.bias[3]",
                                         "output.weight[3, 3]", "output.bias[3]"}
              : std::vector<std::string>{"query.weight[3, 3]", "key.weight[3, 3]",
                                         "value.weight[3, 3]", "output.weight[3, 3]"};
}

std::vector<std::string> norm(bool bias) {
  return bias ? std::vector<std::string>{"weight[3]", "bias[3]"}
              : std::vector<std::string>{"weight[3]"};
}

std::vector<std::string> feed_forward(bool bias) {
  return bias ? std::vector<std::string>{"up.weight[2, 3]", "up.bias[2]", "down.weight[3, 2]",
                                         "down.bias[3]"}
              : std::vector<std::string>{"up.weight[2, 3]", "down.weight[3, 2]"};
}

std::vector<std::string> encoder_layer(bool bias) {
  return concatenated(
      {prefixed("self_attention.", attention(bias)), prefixed("self_attention_norm.", norm(bias)),
       prefixed("feed_forward.", feed_forward(bias)), prefixed("feed_forward_norm.", norm(bias))});
}

std::vector<std::string> decoder_layer(bool bias) {
  return concatenated(
      {prefixed("self_attention.", attention(bias)), prefixed("self_attention_norm.", norm(bias)),
       prefixed("cross_attention.", attention(bias)), prefixed("cross_attention_norm.", norm(bias)),
       prefixed("feed_forward.", feed_forward(bias)), prefixed("feed_forward_norm.", norm(bias))});
}

// With bias: attention 48, norm 6, feed-forward 17; without: 36, 3, 12.
constexpr int64_t kEncoderLayer = 48 + 6 + 17 + 6, kDecoderLayer = 48 + 6 + 48 + 6 + 17 + 6;
constexpr int64_t kUnbiasedEncoderLayer = 36 + 3 + 12 + 3;
constexpr int64_t kUnbiasedDecoderLayer = 36 + 3 + 36 + 3 + 12 + 3;

Mask padding() { return Mask::padding(std::vector<int64_t>{3, 1}); }

/// A module of one input and an EncoderCall.
template <Module M>
AnyModule encoding(const M& module) {
  return without_type(module, [](const M& m, const Tensors& x, Rng* rng) {
    return m(x[0], {.mask = padding(), .rng = rng});
  });
}

/// A module of target and memory and a DecoderCall.
template <Module M>
AnyModule decoding(const M& module) {
  return without_type(module, [](const M& m, const Tensors& x, Rng* rng) {
    return m(x[0], x[1], {.mask = Mask::causal(), .memory_mask = padding(), .rng = rng});
  });
}

void add_encoder(std::vector<ModuleCase>& rows) {
  const auto add_layer = [&](const char* name, const TransformerLayerOptions& o, int64_t count) {
    rows.push_back({.name = name,
                    .make = [=](Rng& rng) { return encoding(TransformerEncoderLayer(o, rng)); },
                    .inputs = {normal({2, 3, 3})},
                    .parameters = encoder_layer(o.bias),
                    .count = count,
                    .output = {2, 3, 3}});
  };
  add_layer("TransformerEncoderLayer post-norm", kPostNorm, kEncoderLayer);
  add_layer("TransformerEncoderLayer pre-norm without biases", kPreNorm, kUnbiasedEncoderLayer);
  rows.push_back({.name = "TransformerEncoder",
                  .make =
                      [](Rng& rng) {
                        return encoding(TransformerEncoder(
                            {.layer = without_dropout(kPreNorm), .layers = 2}, rng));
                      },
                  .inputs = {normal({2, 3, 3})},
                  .parameters = concatenated({prefixed("layers.0.", encoder_layer(false)),
                                              prefixed("layers.1.", encoder_layer(false)),
                                              {"norm.weight[3]"}}),
                  .count = 2 * kUnbiasedEncoderLayer + 3,
                  .output = {2, 3, 3}});
}

void add_decoder(std::vector<ModuleCase>& rows) {
  const auto add_layer = [&](const char* name, const TransformerLayerOptions& o, int64_t count) {
    rows.push_back({.name = name,
                    .make = [=](Rng& rng) { return decoding(TransformerDecoderLayer(o, rng)); },
                    .inputs = {normal({2, 2, 3}), normal({2, 3, 3})},
                    .parameters = decoder_layer(o.bias),
                    .count = count,
                    .output = {2, 2, 3}});
  };
  add_layer("TransformerDecoderLayer post-norm", kPostNorm, kDecoderLayer);
  add_layer("TransformerDecoderLayer pre-norm without biases", kPreNorm, kUnbiasedDecoderLayer);
  rows.push_back(
      {.name = "TransformerDecoder without a norm",
       .make =
           [](Rng& rng) {
             return decoding(TransformerDecoder(
                 {.layer = without_dropout(kPostNorm), .layers = 1, .final_norm = false}, rng));
           },
       .inputs = {normal({2, 2, 3}), normal({2, 3, 3})},
       .parameters = prefixed("layers.0.", decoder_layer(true)),
       .count = kDecoderLayer,
       .output = {2, 2, 3}});
}

void add_transformer(std::vector<ModuleCase>& rows) {
  rows.push_back({.name = "Transformer",
                  .make =
                      [](Rng& rng) {
                        const auto call = [](const Transformer& m, const Tensors& x, Rng* own) {
                          return m(x[0], x[1], {.source_mask = padding(), .rng = own});
                        };
                        return without_type(Transformer({.layer = without_dropout(kPostNorm),
                                                         .encoder_layers = 1,
                                                         .decoder_layers = 1},
                                                        rng),
                                            call);
                      },
                  .inputs = {normal({2, 3, 3}), normal({2, 2, 3})},
                  .parameters = concatenated({prefixed("encoder.layers.0.", encoder_layer(true)),
                                              prefixed("encoder.norm.", norm(true)),
                                              prefixed("decoder.layers.0.", decoder_layer(true)),
                                              prefixed("decoder.norm.", norm(true))}),
                  .count = kEncoderLayer + 6 + kDecoderLayer + 6,
                  .output = {2, 2, 3}});
}

}  // namespace

void add_transformer_cases(std::vector<ModuleCase>& rows) {
  add_encoder(rows);
  add_decoder(rows);
  add_transformer(rows);
}

}  // namespace attograd::nn

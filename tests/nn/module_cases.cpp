#include <tests/nn/module_cases.h>

#include <attograd/core/create.h>
#include <attograd/nn/activation.h>
#include <attograd/nn/attention.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/embedding.h>
#include <attograd/nn/feed_forward.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/layer_norm.h>
#include <attograd/nn/linear.h>
#include <attograd/nn/positions.h>
#include <attograd/nn/rms_norm.h>
#include <attograd/nn/sequential.h>

namespace attograd::nn {
namespace {

using op_cases::ids;
using op_cases::normal;

void add_layers(std::vector<ModuleCase>& rows) {
  rows.push_back({.name = "Linear",
                  .make = [](Rng& rng) { return of_one(Linear(3, 2, rng)); },
                  .inputs = {normal({4, 2, 3})},
                  .parameters = {"weight[2, 3]", "bias[2]"},
                  .count = 8,
                  .output = {4, 2, 2}});
  rows.push_back({.name = "Linear without bias",
                  .make = [](Rng& rng) { return of_one(Linear(3, 2, rng, {.bias = false})); },
                  .inputs = {normal({3})},
                  .parameters = {"weight[2, 3]"},
                  .count = 6,
                  .output = {2}});
  rows.push_back({.name = "Embedding",
                  .make = [](Rng& rng) { return of_one(Embedding(5, 3, rng)); },
                  .inputs = {ids({2, 3}, 5)},
                  .parameters = {"weight[5, 3]"},
                  .count = 15,
                  .output = {2, 3, 3}});
  rows.push_back({.name = "LayerNorm",
                  .make = [](Rng&) { return of_one(LayerNorm(4)); },
                  .inputs = {normal({2, 3, 4})},
                  .parameters = {"weight[4]", "bias[4]"},
                  .count = 8,
                  .output = {2, 3, 4}});
  rows.push_back({.name = "LayerNorm without bias",
                  .make = [](Rng&) { return of_one(LayerNorm(4, {.eps = 0.1, .bias = false})); },
                  .inputs = {normal({3, 4})},
                  .parameters = {"weight[4]"},
                  .count = 4,
                  .output = {3, 4}});
  rows.push_back({.name = "Dropout",
                  .make = [](Rng&) { return of_one(Dropout(0.5)); },
                  .inputs = {normal({3, 4})},
                  .parameters = {},
                  .count = 0,
                  .output = {3, 4}});
  rows.push_back({.name = "Softmax",
                  .make = [](Rng&) { return of_one(Softmax{.axis = 1}); },
                  .inputs = {normal({2, 3, 2})},
                  .parameters = {},
                  .count = 0,
                  .output = {2, 3, 2}});
  rows.push_back({.name = "RMSNorm",
                  .make = [](Rng&) { return of_one(RMSNorm(4, {.eps = 0.1})); },
                  .inputs = {normal({2, 3, 4})},
                  .parameters = {"weight[4]"},
                  .count = 4,
                  .output = {2, 3, 4}});
  rows.push_back({.name = "LearnedPositions",
                  .make =
                      [](Rng& rng) {
                        const auto call = [](const LearnedPositions& m, const Tensors& x, Rng*) {
                          return x[0] * m(x[0].dim(1));
                        };
                        return without_type(LearnedPositions(4, 2, rng), call);
                      },
                  .inputs = {normal({2, 3, 2})},
                  .parameters = {"weight[4, 2]"},
                  .count = 8,
                  .output = {2, 3, 2}});
  rows.push_back({.name = "Sequential",
                  .make =
                      [](Rng& rng) {
                        return of_one(Sequential(Linear(3, 4, rng), tanh, Dropout(0.5),
                                                 Sequential(LayerNorm(4)),
                                                 Linear(4, 2, rng, {.bias = false})));
                      },
                  .inputs = {normal({2, 3})},
                  .parameters = {"0.weight[4, 3]", "0.bias[4]", "3.0.weight[4]", "3.0.bias[4]",
                                 "4.weight[2, 4]"},
                  .count = 32,
                  .output = {2, 2}});
}

void add_feed_forward(std::vector<ModuleCase>& rows) {
  const auto add = [&](std::string name, const FeedForwardOptions& options,
                       std::vector<std::string> parameters, int64_t count) {
    rows.push_back({.name = "FeedForward with " + name,
                    .make = [=](Rng& rng) { return of_one(FeedForward(options, rng)); },
                    .inputs = {normal({2, 2, 3})},
                    .parameters = std::move(parameters),
                    .count = count,
                    .output = {2, 2, 3}});
  };
  const std::vector<std::string> biased{"up.weight[5, 3]", "up.bias[5]", "down.weight[3, 5]",
                                        "down.bias[3]"};
  add("relu", {.d_model = 3, .d_ff = 5, .activation = Activation::relu}, biased, 38);
  add("gelu", {.d_model = 3, .d_ff = 5}, biased, 38);
  add("gelu_tanh", {.d_model = 3, .d_ff = 5, .activation = Activation::gelu_tanh}, biased, 38);
  add("silu", {.d_model = 3, .d_ff = 5, .activation = Activation::silu}, biased, 38);
  add("swiglu",
      {.d_model = 3, .d_ff = 5, .activation = Activation::silu, .gated = true, .bias = false},
      {"up.weight[5, 3]", "gate.weight[5, 3]", "down.weight[3, 5]"}, 45);
  add("dropout", {.d_model = 3, .d_ff = 5, .dropout = 0.4}, biased, 38);
  add("the default width", {.d_model = 3},
      {"up.weight[12, 3]", "up.bias[12]", "down.weight[3, 12]", "down.bias[3]"}, 87);
}

const std::vector<std::string> kAttention{
    "query.weight[4, 4]", "query.bias[4]", "key.weight[4, 4]",    "key.bias[4]",
    "value.weight[4, 4]", "value.bias[4]", "output.weight[4, 4]", "output.bias[4]"};

void add_scores(std::vector<ModuleCase>& rows) {
  const auto add = [&](std::string name, const std::function<Score(Rng&)>& score,
                       const std::vector<std::string>& extra, int64_t count) {
    std::vector<std::string> parameters = kAttention;
    parameters.insert(parameters.begin() + 6, extra.begin(), extra.end());
    const auto make = [=](Rng& rng) {
      return without_type(
          MultiHeadAttention({.d_model = 4, .heads = 2, .batch_first = false, .score = score(rng)},
                             rng),
          [](const MultiHeadAttention& m, const Tensors& x, Rng* dropping) {
            return m(x[0], {.mask = Mask::causal(), .rng = dropping}).y;
          });
    };
    rows.push_back({.name = "MultiHeadAttention sequence first by " + name,
                    .make = make,
                    .inputs = {normal({3, 2, 4})},
                    .parameters = parameters,
                    .count = 80 + count,
                    .output = {3, 2, 4}});
  };
  add(
      "dot", [](Rng&) { return Dot(); }, {}, 0);
  add(
      "cosine", [](Rng&) { return Cosine{.scale = 2}; }, {}, 0);
  add(
      "bilinear", [](Rng& rng) { return Bilinear(2, rng); }, {"score.weight[2, 2]"}, 4);
  add(
      "additive", [](Rng& rng) { return Additive(2, 3, rng); },
      {"score.query.weight[3, 2]", "score.key.weight[3, 2]", "score.key.bias[3]",
       "score.energy[3]"},
      18);
}

void add_attention(std::vector<ModuleCase>& rows) {
  const auto add_self = [&](std::string name, const Mask& mask, ReturnedWeights weights) {
    const auto call = [=](const MultiHeadAttention& m, const Tensors& x, Rng* rng) {
      return m(x[0], {.mask = mask, .rng = rng, .weights = weights}).y;
    };
    rows.push_back({.name = "MultiHeadAttention " + name,
                    .make =
                        [=](Rng& rng) {
                          return without_type(
                              MultiHeadAttention({.d_model = 4, .heads = 2, .dropout = 0.5}, rng),
                              call);
                        },
                    .inputs = {normal({2, 3, 4})},
                    .parameters = kAttention,
                    .count = 80,
                    .output = {2, 3, 4}});
  };
  for (const auto weights : {ReturnedWeights::none, ReturnedWeights::after_dropout}) {
    const std::string how = weights == ReturnedWeights::none ? "" : " with weights";
    add_self("to itself" + how, {}, weights);
    add_self("that is causal" + how, Mask::causal(), weights);
    add_self(
        "with left padding and causal" + how,
        Mask::causal() & Mask::keep(from_values({2, 1, 3}, std::vector<bool>{false, true, true,  //
                                                                             true, true, true})),
        weights);
    add_self("with padding" + how, Mask::padding(std::vector<int64_t>{2, 0}), weights);
  }
  const MultiHeadAttentionOptions across{.d_model = 4,
                                         .heads = 3,
                                         .d_k = 2,
                                         .d_v = 1,
                                         .key_width = 5,
                                         .value_width = 2,
                                         .query_bias = false,
                                         .key_bias = false,
                                         .output_bias = false,
                                         .score = ScaledDot{.temperature = 0.7}};
  const auto call = [](const MultiHeadAttention& m, const Tensors& x, Rng* rng) {
    return m(x[0], x[1], x[2], {.rng = rng}).y;
  };
  rows.push_back(
      {.name = "MultiHeadAttention across with all widths",
       .make = [=](Rng& rng) { return without_type(MultiHeadAttention(across, rng), call); },
       .inputs = {normal({2, 3, 4}), normal({2, 2, 5}), normal({2, 2, 2})},
       .parameters = {"query.weight[6, 4]", "key.weight[6, 5]", "value.weight[3, 2]",
                      "value.bias[3]", "output.weight[4, 3]"},
       .count = 24 + 30 + 6 + 3 + 12,
       .output = {2, 3, 4}});
}

std::vector<std::string> block(const std::string& prefix) {
  std::vector<std::string> names;
  for (const char* name : {"attention_norm.weight[2]", "attention.query.weight[2, 2]",
                           "attention.key.weight[2, 2]", "attention.value.weight[2, 2]",
                           "attention.output.weight[2, 2]", "feed_forward_norm.weight[2]",
                           "feed_forward.up.weight[8, 2]", "feed_forward.down.weight[2, 8]"})
    names.push_back(prefix + name);
  return names;
}

void add_gpt(std::vector<ModuleCase>& rows) {
  const GptOptions small{
      .vocabulary = 3, .context = 3, .layers = 1, .heads = 1, .width = 2, .dropout = 0.3};
  rows.push_back({.name = "GptBlock",
                  .make = [=](Rng& rng) { return of_one(GptBlock(small, rng)); },
                  .inputs = {normal({2, 3, 2})},
                  .parameters = block(""),
                  .count = 52,
                  .output = {2, 3, 2}});
  std::vector<std::string> names{"token_embedding.weight[3, 2]", "position_embedding.weight[3, 2]"};
  for (const std::string& name : block("blocks.0.")) names.push_back(name);
  names.emplace_back("norm.weight[2]");
  rows.push_back({.name = "Gpt",
                  .make = [=](Rng& rng) { return of_one(Gpt(small, rng)); },
                  .inputs = {ids({2, 3}, 3)},
                  .parameters = names,
                  .count = 6 + 6 + 52 + 2,
                  .output = {2, 3, 3}});
  GptOptions untied = small;
  untied.tied = false;
  names.emplace_back("head.weight[3, 2]");
  rows.push_back({.name = "Gpt with a head",
                  .make = [=](Rng& rng) { return of_one(Gpt(untied, rng)); },
                  .inputs = {ids({1, 3}, 3)},
                  .parameters = names,
                  .count = 72,
                  .output = {1, 3, 3}});
}

}  // namespace

const std::vector<ModuleCase>& module_cases() {
  static const std::vector<ModuleCase> all = [] {
    std::vector<ModuleCase> rows;
    add_layers(rows);
    add_feed_forward(rows);
    add_attention(rows);
    add_scores(rows);
    add_gpt(rows);
    add_transformer_cases(rows);
    return rows;
  }();
  return all;
}

}  // namespace attograd::nn

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/create.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/module.h>
#include <attograd/nn/torch_names.h>
#include <attograd/nn/transformer.h>

namespace attograd::nn {
namespace {

/// Names with shapes.
std::vector<std::string> described(const NamedTensors& tensors) {
  std::vector<std::string> list;
  for (const auto& [name, tensor] : tensors) {
    std::ostringstream text;
    text << name << tensor.shape();
    list.push_back(text.str());
  }
  return list;
}

std::vector<std::string> described_there(const auto& module) {
  return described(to_torch(named_parameters(module)));
}

TEST_CASE("attention has the names of PyTorch's") {
  Rng rng(1);
  CHECK(described_there(MultiHeadAttention({.d_model = 4, .heads = 2}, rng)) ==
        std::vector<std::string>{"in_proj_weight[12, 4]", "in_proj_bias[12]",
                                 "out_proj.weight[4, 4]", "out_proj.bias[4]"});
  CHECK(described_there(MultiHeadAttention(
            {.d_model = 4, .heads = 2, .key_width = 3, .value_width = 4}, rng)) ==
        std::vector<std::string>{"q_proj_weight[4, 4]", "k_proj_weight[4, 3]",
                                 "v_proj_weight[4, 4]", "in_proj_bias[12]", "out_proj.weight[4, 4]",
                                 "out_proj.bias[4]"});
  CHECK(described_there(MultiHeadAttention({.d_model = 4,
                                            .query_bias = false,
                                            .key_bias = false,
                                            .value_bias = false,
                                            .output_bias = false},
                                           rng)) ==
        std::vector<std::string>{"in_proj_weight[12, 4]", "out_proj.weight[4, 4]"});
}

TEST_CASE("rows of the packed projections are those of query then key then value") {
  Rng rng(1);
  const MultiHeadAttention module({.d_model = 2}, rng);
  Tensor(module.query.bias).assign(tensor({1, 2}));
  Tensor(module.key.bias).assign(tensor({3, 4}));
  Tensor(module.value.bias).assign(tensor({5, 6}));
  CHECK(to_torch(named_parameters(module))[1].second.to_vector<float>() ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("layers and the transformer have the names of PyTorch's") {
  Rng rng(1);
  const TransformerLayerOptions layer{.d_model = 2, .d_ff = 3, .bias = false};
  CHECK(described_there(TransformerEncoderLayer(layer, rng)) ==
        std::vector<std::string>{
            "self_attn.in_proj_weight[6, 2]", "self_attn.out_proj.weight[2, 2]", "norm1.weight[2]",
            "linear1.weight[3, 2]", "linear2.weight[2, 3]", "norm2.weight[2]"});
  CHECK(described_there(TransformerDecoderLayer(layer, rng)) ==
        std::vector<std::string>{
            "self_attn.in_proj_weight[6, 2]", "self_attn.out_proj.weight[2, 2]", "norm1.weight[2]",
            "multihead_attn.in_proj_weight[6, 2]", "multihead_attn.out_proj.weight[2, 2]",
            "norm2.weight[2]", "linear1.weight[3, 2]", "linear2.weight[2, 3]", "norm3.weight[2]"});
  const NamedTensors whole = to_torch(named_parameters(
      Transformer({.layer = {.d_model = 2}, .encoder_layers = 2, .decoder_layers = 1}, rng)));
  std::vector<std::string> norms;
  for (const auto& [name, tensor] : whole)
    if (name.find("norm") != std::string::npos && name.ends_with("bias")) norms.push_back(name);
  CHECK(norms ==
        std::vector<std::string>{"encoder.layers.0.norm1.bias", "encoder.layers.0.norm2.bias",
                                 "encoder.layers.1.norm1.bias", "encoder.layers.1.norm2.bias",
                                 "encoder.norm.bias", "decoder.layers.0.norm1.bias",
                                 "decoder.layers.0.norm2.bias", "decoder.layers.0.norm3.bias",
                                 "decoder.norm.bias"});
}

template <Module M>
void check_round_trip(const M& module, const M& other) {
  const NamedTensors own = named_parameters(module);
  const NamedTensors state = to_torch(own);
  load_state(other, from_torch(state, named_parameters(other)));
  const NamedTensors loaded = named_parameters(other);
  REQUIRE(described(loaded) == described(own));
  for (size_t i = 0; i < own.size(); ++i)
    CHECK(loaded[i].second.template to_vector<float>() ==
          own[i].second.template to_vector<float>());
  const NamedTensors again = to_torch(loaded);
  REQUIRE(described(again) == described(state));
  for (size_t i = 0; i < state.size(); ++i)
    CHECK(again[i].second.template to_vector<float>() ==
          state[i].second.template to_vector<float>());
}

TEST_CASE("parameters are the same to the bit after a way there and back") {
  Rng rng(1);
  const MultiHeadAttentionOptions across{.d_model = 4, .heads = 2, .key_width = 3};
  check_round_trip(MultiHeadAttention(across, rng), MultiHeadAttention(across, rng));
  for (const bool bias : {true, false}) {
    const TransformerOptions options{.layer = {.d_model = 4, .heads = 2, .bias = bias},
                                     .encoder_layers = 2,
                                     .decoder_layers = 2};
    check_round_trip(Transformer(options, rng), Transformer(options, rng));
  }
}

TEST_CASE("gradients flow to a state through its views") {
  Rng rng(1);
  const MultiHeadAttention module({.d_model = 2}, rng);
  NamedTensors state;
  for (const auto& [name, tensor] : to_torch(named_parameters(module)))
    state.emplace_back(name, Tensor(tensor.array().copy()).set_requires_grad());
  const MultiHeadAttention over =
      with_parameters(module, from_torch(state, named_parameters(module)));
  backward(sum(over.key.weight * tensor({{1, 2}, {3, 4}}) + over.value.bias));
  CHECK(state[0].second.grad().to_vector<float>() ==
        std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0});
  CHECK(state[1].second.grad().to_vector<float>() == std::vector<float>{0, 0, 0, 0, 2, 2});
}

TEST_CASE("a state that does not fit is one error in PyTorch's names") {
  Rng rng(1);
  const TransformerEncoderLayer layer({.d_model = 2, .d_ff = 3}, rng);
  const NamedTensors parameters = named_parameters(layer);
  NamedTensors state = to_torch(parameters);
  state[0].second = ones({4, 2});
  state[1].first = "self_attn.bias_k";
  state.pop_back();
  state.emplace_back("norm3.bias", ones({2}));
  CHECK(message_of<FormatError>([&] { from_torch(state, parameters); }) ==
        "from_torch: every tensor must have one of its name, shape and type, got\n"
        "  of another shape or type: self_attn.in_proj_weight (f32[4, 2] for f32[6, 2])\n"
        "  missing: self_attn.in_proj_bias norm2.bias\n"
        "  unexpected: norm3.bias self_attn.bias_k");
}

TEST_CASE("modules that PyTorch has not are refused") {
  Rng rng(1);
  CHECK_THROWS_WITH_AS(
      described_there(FeedForward({.d_model = 2, .gated = true, .bias = false}, rng)),
      "to_torch: PyTorch's modules have no place for gate.weight", FormatError);
  const GptBlock block({.vocabulary = 3, .heads = 1, .width = 2}, rng);
  CHECK_THROWS_WITH_AS(described_there(block),
                       doctest::Contains("no place for attention_norm.weight "
                                         "attention.query.weight attention.key.weight"),
                       FormatError);
  const char* const rule =
      "to_torch: PyTorch's attention has as many outputs of query, key and value as inputs of "
      "query, and all three biases or none, got ";
  const auto refused = [&](const MultiHeadAttentionOptions& options) {
    return message_of<ShapeError>([&] { described_there(MultiHeadAttention(options, rng)); });
  };
  CHECK(refused({.d_model = 4, .heads = 2, .d_k = 3}) ==
        rule + std::string("query.weight f32[6, 4] and a query of f32[6, 4]"));
  CHECK(refused({.d_model = 4, .heads = 2, .d_v = 3}) ==
        rule + std::string("value.weight f32[6, 4] and a query of f32[4, 4]"));
  CHECK(refused({.d_model = 4, .key_bias = false}) == rule + std::string("no key.bias"));
  CHECK(refused({.d_model = 4, .query_bias = false}) == rule + std::string("no query.bias"));
}

TEST_CASE("two parameters that would have one name there are refused") {
  const Tensor w = zeros({2, 2});
  CHECK_THROWS_WITH_AS(to_torch({{"up.weight", w}, {"feed_forward.up.weight", w}}),
                       doctest::Contains("must not have one name there, got linear1.weight"),
                       FormatError);
  CHECK_THROWS_AS(to_torch({{"up.weight", w}, {"up.weight", w}}), FormatError);
}

}  // namespace
}  // namespace attograd::nn

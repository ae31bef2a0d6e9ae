// The systems A to F from the options of a golden file.

#include <examples/systems/autoregressive.h>
#include <examples/systems/feed_forward.h>
#include <examples/systems/heads_first.h>
#include <examples/systems/plain.h>
#include <examples/systems/seq_first.h>
#include <tests/golden/golden.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::golden {
namespace {

using namespace systems;

Tensor named(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  check<FormatError>(found != tensors.end(), "input ", name, " is missing");
  return found->second;
}

Tensor optional(const TensorMap& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? Tensor() : found->second;
}

Mask mask_of(const TensorMap& inputs) {
  const Tensor mask = optional(inputs, "mask");
  return mask.defined() ? Mask::keep(mask) : Mask();
}

/// Query, key and value; x is all three.
struct Inputs {
  Tensor q, k, v;
};
Inputs inputs_of(const TensorMap& inputs) {
  if (const Tensor x = optional(inputs, "x"); x.defined()) return {x, x, x};
  return {named(inputs, "q"), named(inputs, "k"), named(inputs, "v")};
}

/// A module that is called with query, key, value and an AttentionCall.
template <nn::Module M>
Forward attention_forward(const M& module) {
  return [module](const TensorMap& inputs, const TensorMap& parameters, bool weights) -> TensorMap {
    const auto [q, k, v] = inputs_of(inputs);
    const auto [y, attn] = over(module, parameters)(
        q, k, v,
        {.mask = mask_of(inputs),
         .weights = weights ? nn::ReturnedWeights::after_dropout : nn::ReturnedWeights::none});
    if (!weights) return {{"y", y}};
    return {{"y", y}, {"attn", attn}};
  };
}

template <nn::Module M>
Forward function_of_x(const M& module) {
  return [module](const TensorMap& inputs, const TensorMap& parameters, bool) -> TensorMap {
    return {{"y", over(module, parameters)(named(inputs, "x"))}};
  };
}

/// The scores of seq_first_relative: a learned number for each head and clipped distance is added.
struct RelativeScores {
  Tensor distance_bias;  // [H, 2 reach + 1]
  int64_t reach;

  Tensor operator()(const Tensor& q, const Tensor& k) const {  // [T, B, H, D], [S, B, H, D]
    const Tensor i = reshape(arange(0, q.dim(0)), {q.dim(0), 1});
    const Tensor column =
        clamp(i - arange(0, k.dim(0)), -static_cast<double>(reach), static_cast<double>(reach)) +
        static_cast<double>(reach);                                   // [T, S]
    const Tensor bias = embedding(transpose(distance_bias), column);  // [T, S, H]
    return DotScores()(q, k) + unsqueeze(bias, 2);                    // [T, S, B, H]
  }
  void visit(auto&& v) { v("distance_bias", distance_bias); }
};

Forward seq_first(Options& options, const nn::Score& score) {
  Rng rng(1);
  // The zero row is the only fill of this system.
  check<FormatError>(!options.fill(), "seq_first: fill must be the zero row");
  const SeqFirst module({.heads = options.integer("heads"),
                         .d_model = options.integer("d_model"),
                         .bias = options.flag("bias"),
                         .score = score},
                        rng);
  return [module](const TensorMap& inputs, const TensorMap& parameters, bool weights) -> TensorMap {
    const auto [q, k, v] = inputs_of(inputs);
    SeqFirst attention = over(module, parameters);
    const Tensor y =
        attention({.query = q, .key = k, .value = v, .mask = optional(inputs, "mask")});
    if (!weights) return {{"y", y}};
    return {{"y", y}, {"attn", attention.attn}};
  };
}

nn::Score score_of(Options& options) {
  Rng rng(1);
  const std::string kind = options.text("kind");
  const int64_t width = options.integer("d");
  if (kind == "dot") return nn::Dot();
  if (kind == "cosine") return nn::Cosine{.scale = options.number("scale")};
  if (kind == "additive") return nn::Additive(width, options.integer("hidden"), rng);
  if (kind == "bilinear") return nn::Bilinear(width, rng);
  fail<FormatError>("option kind: no such score, got ", kind);
}

/// Attention under a score, whose parameters have no name in front of them.
struct Scored {
  nn::Attention attention;

  nn::Attended operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                          const nn::AttentionCall& call) const {
    return attention(q, k, v, call);
  }
  void visit(auto&& v) { attention.score.visit(v); }
};

Forward prepare(Options& options) {
  Rng rng(1);
  const int64_t heads = options.integer("heads"), d_model = options.integer("d_model");
  return function_of_x(Prepare(d_model, heads, d_model / heads, options.flag("bias"), rng));
}

Forward heads_first(Options& options) {
  Rng rng(1);
  HeadsFirstOptions o{.n_head = options.integer("n_head"),
                      .d_model = options.integer("d_model"),
                      .d_k = options.integer("d_k"),
                      .d_v = options.integer("d_v"),
                      .eps = options.number("eps")};
  if (options.has("mask")) o.fill = options.fill();
  return attention_forward(HeadsFirst(o, rng));
}

Forward scaled_dot(Options& options) {
  nn::Attention attention = scaled_dot_product_attention(options.number("temperature"), 0);
  if (options.has("mask")) attention.fill = options.fill();
  return attention_forward(attention);
}

Forward plain(Options& options) {
  Rng rng(1);
  Plain module(options.integer("d_model"), options.integer("num_heads"), rng);
  if (options.has("mask")) module.attention.attention.fill = options.fill();
  return attention_forward(module);
}

Forward feed_forward(Options& options) {
  Rng rng(1);
  return function_of_x(PositionwiseFeedForward(options.integer("d_in"), options.integer("d_hid"),
                                               rng, 0, options.number("eps")));
}

Forward relative(Options& options) {
  const int64_t reach = options.integer("reach"), heads = options.integer("heads");
  return seq_first(options,
                   SeqFirstScore<RelativeScores>{{nn::init::zeros({heads, 2 * reach + 1}), reach}});
}

Forward autoregressive(Options& options) {
  Rng rng(1);
  check<FormatError>(options.text("mask") == "causal", "autoregressive: the mask must be causal");
  const Autoregressive module({.vocab = options.integer("vocab"),
                               .d_model = options.integer("d_model"),
                               .heads = options.integer("heads"),
                               .d_ff = options.integer("d_ff"),
                               .layers = options.integer("layers"),
                               .bias = options.flag("bias"),
                               .eps = options.number("eps")},
                              rng);
  return [module](const TensorMap& inputs, const TensorMap& parameters, bool) -> TensorMap {
    Autoregressive model = over(module, parameters);
    const Tensor tokens = named(inputs, "tokens");
    const Tensor logits = model(tokens);  // [T, B, V]
    return {{"logits", logits},
            {"loss", cross_entropy(reshape(logits, {tokens.numel(), logits.dim(2)}),
                                   reshape(named(inputs, "targets"), {tokens.numel()}))},
            {"greedy", continue_greedily(model, slice(tokens, 0, 0, 3), 6)}};
  };
}

}  // namespace

Forward build_system(const std::string& module, Options& options) {
  if (module == "seq_first") return seq_first(options, SeqFirstScore<DotScores>{});
  if (module == "seq_first_relative") return relative(options);
  if (module == "prepare") return prepare(options);
  if (module == "heads_first") return heads_first(options);
  if (module == "scaled_dot") return scaled_dot(options);
  if (module == "feed_forward") return feed_forward(options);
  if (module == "plain") return plain(options);
  if (module == "autoregressive") return autoregressive(options);
  if (module == "score")
    return attention_forward(Scored{{.score = score_of(options), .fill = options.fill()}});
  return {};
}

}  // namespace attograd::golden

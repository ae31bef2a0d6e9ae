#pragma once

#include <cmath>

#include <attograd/core/graph.h>
#include <attograd/nn/attention.h>

namespace attograd::systems {

/// System A, PrepareForMultiHeadAttention: a linear map whose channels are then split into heads.
/// x [..., C] -> [..., H, D]
struct Prepare {
  int64_t heads;
  nn::Linear linear;

  Prepare(int64_t d_model, int64_t n_heads, int64_t d_k, bool bias, Rng& rng)
      : heads(n_heads), linear(d_model, n_heads * d_k, rng, {.bias = bias}) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor y = linear(x);  // [..., H D]
    Shape split = y.shape();
    split[y.rank() - 1] = heads;
    split.append(y.dim(-1) / heads);
    return reshape(y, split);  // [..., H, D]
  }
  void visit(auto&& v) { v("linear", linear); }
};

/// System A, its get_scores: q [T, B, H, D], k [S, B, H, D] -> [T, S, B, H].
struct DotScores {
  Tensor operator()(const Tensor& q, const Tensor& k) const {
    return einsum("ibhd,jbhd->ijbh", {q, k});
  }
};

/// Scores that are overridden, a function or a module of their own: they are scaled by 1 / sqrt(D)
/// like the product that they replace.
template <class S>
struct SeqFirstScore {
  S get_scores;

  Tensor operator()(const Tensor& q, const Tensor& k) const {  // [B, H, T, D], [B, H, S, D]
    const auto seq_first = [](const Tensor& x) { return permute(x, {2, 0, 1, 3}); };
    const Tensor scores = get_scores(seq_first(q), seq_first(k));  // [T, S, B, H]
    return permute(scores, {2, 3, 0, 1}) / std::sqrt(static_cast<double>(q.dim(-1)));
  }
  void visit(auto&& v) {
    if constexpr (nn::Module<S>) get_scores.visit(v);
  }
};

struct SeqFirstOptions {
  int64_t heads = 1;
  int64_t d_model = 0;
  double dropout = 0.1;
  bool bias = true;  // of query and key; value and output always have one
  nn::Score score = SeqFirstScore<DotScores>{};  // another goes into a SeqFirstScore as well
};

struct SeqFirstCall {
  Tensor query, key, value;  // [T, B, C], [S, B, C], [S, B, C]
  Tensor mask = {};          // bool [T or 1, S, B or 1], false drops; one for all heads. Numbers
                             // are refused: compare them first, as in mask != 0
  Rng* rng = nullptr;
};

/// System A, MultiHeadAttention: sequence first; y alone is returned, and the weights of the last
/// call, after dropout, can be looked at. attention.attention.inspect sees them before dropout, as
/// [B, H, T, S].
struct SeqFirst {
  nn::MultiHeadAttention attention;
  Tensor attn = {};  // [T, S, B, H], without its graph; undefined before the first call

  SeqFirst(const SeqFirstOptions& o, Rng& rng)
      : attention({.d_model = o.d_model,
                   .heads = o.heads,
                   .query_bias = o.bias,
                   .key_bias = o.bias,
                   .batch_first = false,
                   .dropout = o.dropout,
                   .score = o.score},
                  rng) {}

  Tensor operator()(const SeqFirstCall& call) {
    const auto [y, weights] = attention(
        call.query, call.key, call.value,
        {.mask = mask_of(call), .rng = call.rng, .weights = nn::ReturnedWeights::after_dropout});
    attn = permute(detach(weights), {2, 3, 0, 1});
    return y;  // [T, B, C]
  }

  void visit(auto&& v) {
    v("query.linear", attention.query);
    v("key.linear", attention.key);
    v("value.linear", attention.value);
    attention.attention.score.visit(v);
    v("output", attention.output);
  }

 private:
  static Mask mask_of(const SeqFirstCall& call) {
    if (!call.mask.defined()) return {};
    const Tensor& mask = call.mask;
    check<ShapeError>(call.query.rank() == 3 && call.key.rank() == 3,
                      "seq_first: query must be [T, B, C] and key [S, B, C], got query = ",
                      signature(call.query), ", key = ", signature(call.key));
    check<ShapeError>(mask.rank() == 3, "seq_first: a mask is [T or 1, S, B or 1], got ",
                      signature(mask));
    const int64_t queries = call.query.dim(0), keys = call.key.dim(0), batch = call.query.dim(1);
    const auto rule = [&](bool holds, const char* axis, const char* what, int64_t size) {
      check<ShapeError>(holds, "seq_first: axis ", axis, " of the mask must be ", what, " = ", size,
                        ", got mask = ", signature(mask), ", query = ", signature(call.query),
                        ", key = ", signature(call.key));
    };
    rule(mask.dim(0) == 1 || mask.dim(0) == queries, "0", "1 or the queries T", queries);
    rule(mask.dim(1) == keys, "1", "the keys S", keys);
    rule(mask.dim(2) == 1 || mask.dim(2) == batch, "2", "1 or the batch B", batch);
    return Mask::keep(unsqueeze(permute(mask, {2, 0, 1}), 1));  // [B or 1, 1, T or 1, S]
  }
};

}  // namespace attograd::systems

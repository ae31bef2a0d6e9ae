#pragma once

#include <functional>
#include <optional>

#include <attograd/core/mask.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/linear.h>
#include <attograd/nn/score.h>

namespace attograd::nn {

/// Whether a call returns its weights, and those that dropout has thinned out or those before.
enum class ReturnedWeights { none, after_dropout, before_dropout };

/// How attention is called.
struct AttentionCall {
  Mask mask = {};      // fits the scores [B, H, T, S]
  Rng* rng = nullptr;  // training passes one, for dropout
  ReturnedWeights weights = ReturnedWeights::none;
};

/// What a call returns.
struct Attended {
  Tensor y;
  Tensor weights = {};  // [B, H, T, S]; undefined unless asked for
};

/// Attention of heads side by side (Vaswani et al. 2017, equation 1), by any score:
///   weights = dropout(softmax(score(q, k), masked));   y = weights v
/// A query that may see nothing has weights, y and gradient exactly 0 (unless `fill` is set).
/// The fused operation, which stores no scores, runs where they are a dot product (every Score
/// that has `product`) and nothing needs them whole: not the caller, who may want the weights,
/// nor dropout, `inspect`, a mask's bias, or a `fill` under a mask. Else it is the definition. Both
/// give the same values up to rounding.
/// Shapes    q [B, H, T, D], k [B, H, S, D], v [B, H, S, Dv] -> y [B, H, T, Dv]
/// Gradient  any order, with respect to q, k, v, the score's parameters and the mask's bias
/// Throws    ShapeError, DTypeError; ValueError for a temperature that is not > 0, a fill that is
///           not finite, or padding beyond the keys
/// Cost      of the fused operation (core/ops/attention.h), or O(B H T S) memory for the weights
struct Attention {
  Score score = ScaledDot{};
  std::optional<double> fill = {};  // what hidden scores become (core/ops/attention.h)
  Dropout dropout = Dropout(0);     // of the weights
  /// Sees the weights of every call, before dropout, without their graph. While it is set, the
  /// definition runs.
  std::function<void(const Tensor& weights)> inspect = {};

  Attended operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                      const AttentionCall& call = {}) const;

  void visit(auto&& v) { v("score", score); }
};

struct MultiHeadAttentionOptions {
  int64_t d_model = 0;      // C: width of the queries and of y
  int64_t heads = 1;        // H
  int64_t d_k = 0;          // width of a head's queries and keys; 0: d_model / heads
  int64_t d_v = 0;          // width of a head's values; 0: d_model / heads
  int64_t key_width = 0;    // of the keys that come in; 0: d_model
  int64_t value_width = 0;  // of the values that come in; 0: d_model
  bool query_bias = true;   // of the four linear maps; a bias on the scores is Mask::bias
  bool key_bias = true;
  bool value_bias = true;
  bool output_bias = true;
  bool batch_first = true;  // inputs and y are [B, T, C]; false: [T, B, C]
  double dropout = 0;       // of the weights
  Score score = ScaledDot{};
  std::optional<double> fill = {};  // what hidden scores become (core/ops/attention.h)
};

/// Attention in several heads at once (Vaswani et al. 2017, section 3.2.2). Head h projects query,
/// key and value to its own q, k [., d_k] and v [., d_v], and mixes the v by
///   head_h = attention(q, k, v)
/// y is the output map of all heads side by side. A query that may see nothing mixes to exactly 0,
/// so its y is the output bias. All heads share the parameters of the score, if it has any.
struct MultiHeadAttention {
  int64_t heads;  // H
  bool batch_first;
  Linear query;         // [H d_k, C]
  Linear key;           // [H d_k, key_width]
  Linear value;         // [H d_v, value_width]
  Attention attention;  // of the heads
  Linear output;        // [C, H d_v]

  /// Throws    ValueError for sizes that are not > 0, or heads that do not divide a d_model from
  ///           which a head's width is derived
  MultiHeadAttention(const MultiHeadAttentionOptions& options, Rng& rng);

  /// Shapes    query [B, T, C], key [B, S, key_width], value [B, S, value_width] -> y [B, T, C];
  ///           with the first two axes exchanged, if not batch_first; masks and weights are [B, H,
  ///           T, S] all the same
  /// Gradient  any order
  /// Throws    ShapeError naming the input that does not fit; as Attention does
  Attended operator()(const Tensor& query_input, const Tensor& key_input, const Tensor& value_input,
                      const AttentionCall& call = {}) const;
  /// Self-attention: x is query, key and value.
  Attended operator()(const Tensor& x, const AttentionCall& call = {}) const {
    return (*this)(x, x, x, call);
  }

  void visit(auto&& v) {
    v("query", query);
    v("key", key);
    v("value", value);
    v("score", attention.score);
    v("output", output);
  }

 private:
  /// Options with every default filled in and every size checked: a type of its own, so that they
  /// are completed once, before the first member is made.
  struct Completed : MultiHeadAttentionOptions {};
  MultiHeadAttention(const Completed& o, Rng& rng);
};

}  // namespace attograd::nn

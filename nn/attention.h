#pragma once

#include <optional>

#include <attograd/core/mask.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/linear.h>

namespace attograd::nn {

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
  double dropout = 0;                      // of the weights
  std::optional<double> temperature = {};  // scores are divided by it: 1 / scale; default sqrt(d_k)
};

/// How attention is called.
struct AttentionCall {
  Mask mask = {};        // fits the scores [B, H, T, S]
  Rng* rng = nullptr;    // training passes one, for dropout
  bool weights = false;  // return the weights too
};

struct Attended {
  Tensor y;
  /// [B, H, T, S], after dropout: those that y was mixed with. Undefined unless asked for.
  Tensor weights;
};

/// Attention in several heads at once (Vaswani et al. 2017, section 3.2.2). Head h projects query,
/// key and value to its own q, k [., d_k] and v [., d_v], and mixes the v by
///   weights = softmax(q kᵀ / temperature, masked);   head_h = weights v
/// y is the output map of all heads side by side. A query that may see nothing mixes to exactly 0,
/// so its y is the output bias.
/// The fused operation runs unless weights are asked for or dropped out, which need them whole:
/// then it is the definition. Both give the same values up to rounding.
struct MultiHeadAttention {
  MultiHeadAttentionOptions options;  // with the defaults filled in
  Linear query;                       // [H d_k, C]
  Linear key;                         // [H d_k, key_width]
  Linear value;                       // [H d_v, value_width]
  Linear output;                      // [C, H d_v]
  Dropout dropout;

  /// Throws    ValueError for sizes that are not > 0, heads that do not divide a d_model from which
  ///           a head's width is derived, or a temperature that is not > 0
  MultiHeadAttention(const MultiHeadAttentionOptions& o, Rng& rng);

  /// Shapes    query [B, T, C], key [B, S, key_width], value [B, S, value_width] -> y [B, T, C]
  /// Throws    ShapeError naming the input that does not fit
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
    v("output", output);
  }
};

}  // namespace attograd::nn

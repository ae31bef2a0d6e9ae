#include <cmath>

#include <attograd/nn/attention.h>

namespace attograd::nn {
namespace {

/// The options with every default filled in.
MultiHeadAttentionOptions completed(MultiHeadAttentionOptions o) {
  check<ValueError>(o.d_model > 0 && o.heads > 0,
                    "MultiHeadAttention: d_model and heads must be > 0, got d_model = ", o.d_model,
                    " and heads = ", o.heads);
  check<ValueError>((o.d_k > 0 && o.d_v > 0) || o.d_model % o.heads == 0,
                    "MultiHeadAttention: heads must divide d_model, got d_model = ", o.d_model,
                    " and heads = ", o.heads, "; or set d_k and d_v");
  if (o.d_k == 0) o.d_k = o.d_model / o.heads;
  if (o.d_v == 0) o.d_v = o.d_model / o.heads;
  if (o.key_width == 0) o.key_width = o.d_model;
  if (o.value_width == 0) o.value_width = o.d_model;
  if (!o.temperature) o.temperature = std::sqrt(static_cast<double>(o.d_k));
  check<ValueError>(*o.temperature > 0, "MultiHeadAttention: the temperature must be > 0, got ",
                    *o.temperature);
  return o;
}

void check_input(const char* name, const Tensor& x, const Linear& projection) {
  const int64_t width = projection.weight.dim(1);
  check<ShapeError>(x.rank() == 3 && x.dim(2) == width, "MultiHeadAttention: ", name,
                    " must be [batch, length, ", width, "], got ", signature(x));
}

/// [B, T, H D] -> [B, H, T, D], a view
Tensor split_heads(const Tensor& x, int64_t heads) {
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

/// [B, H, T, D] -> [B, T, H D]
Tensor merge_heads(const Tensor& x) {
  return reshape(permute(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& o, Rng& rng)
    : options(completed(o)),
      query(options.d_model, options.heads * options.d_k, rng, {.bias = o.query_bias}),
      key(options.key_width, options.heads * options.d_k, rng, {.bias = o.key_bias}),
      value(options.value_width, options.heads * options.d_v, rng, {.bias = o.value_bias}),
      output(options.heads * options.d_v, options.d_model, rng, {.bias = o.output_bias}),
      dropout(o.dropout) {}

Attended MultiHeadAttention::operator()(const Tensor& query_input, const Tensor& key_input,
                                        const Tensor& value_input,
                                        const AttentionCall& call) const {
  check_input("query", query_input, query);
  check_input("key", key_input, key);
  check_input("value", value_input, value);
  check<ShapeError>(
      key_input.dim(0) == query_input.dim(0) && value_input.dim(0) == query_input.dim(0) &&
          value_input.dim(1) == key_input.dim(1),
      "MultiHeadAttention: the batches must be equal, and keys as many as values, got "
      "query = ",
      signature(query_input), ", key = ", signature(key_input),
      ", value = ", signature(value_input));
  const Tensor q = split_heads(query(query_input), options.heads);  // [B, H, T, d_k]
  const Tensor k = split_heads(key(key_input), options.heads);      // [B, H, S, d_k]
  const Tensor v = split_heads(value(value_input), options.heads);  // [B, H, S, d_v]
  const AttentionOptions how{.mask = call.mask, .scale = 1 / *options.temperature};
  if (!call.weights && (!call.rng || dropout.p == 0))
    return {.y = output(merge_heads(attention(q, k, v, how))), .weights = {}};
  const Tensor weights = dropout(attention_weights(q, k, how), call.rng);  // [B, H, T, S]
  return {.y = output(merge_heads(matmul(weights, v))),
          .weights = call.weights ? weights : Tensor()};
}

}  // namespace attograd::nn

#include <algorithm>

#include <attograd/core/graph.h>
#include <attograd/nn/attention.h>

namespace attograd::nn {
namespace {

/// The options with every default filled in and every size checked.
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
  const Shape widths = {o.d_k, o.d_v, o.key_width, o.value_width};
  check<ValueError>(*std::min_element(widths.begin(), widths.end()) > 0,
                    "MultiHeadAttention: widths must be > 0, got d_k, d_v, key_width and "
                    "value_width = ",
                    widths);
  // Throw a ShapeError where the width of all heads together does not fit in 63 bits.
  (void)Shape({o.heads, o.d_k}).numel();
  (void)Shape({o.heads, o.d_v}).numel();
  return o;
}

void check_input(const char* name, const Tensor& x, const Linear& projection, bool batch_first) {
  const int64_t width = projection.weight.dim(1);
  check<ShapeError>(x.rank() == 3 && x.dim(2) == width, "MultiHeadAttention: ", name, " must be ",
                    batch_first ? "[batch, length, " : "[length, batch, ", width, "], got ",
                    signature(x));
}

/// [B, T, H D] -> [B, H, T, D], a view
Tensor split_heads(const Tensor& x, int64_t heads) {
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

/// [B, H, T, D] -> [B, T, H D]
Tensor merge_heads(const Tensor& x) {
  return reshape(permute(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

void check_heads(const Tensor& q, const Tensor& k, const Tensor& v) {
  check<ShapeError>(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k.dim(0) == q.dim(0) &&
                        v.dim(0) == q.dim(0) && k.dim(1) == q.dim(1) && v.dim(1) == q.dim(1) &&
                        v.dim(2) == k.dim(2),
                    "Attention: q must be [B, H, T, D], k [B, H, S, D] and v [B, H, S, Dv], got q "
                    "= ",
                    signature(q), ", k = ", signature(k), ", v = ", signature(v));
  check<DTypeError>(is_floating(q.dtype()) && k.dtype() == q.dtype() && v.dtype() == q.dtype(),
                    "Attention: q, k and v must all be f32 or all f64, got q = ", signature(q),
                    ", k = ", signature(k), ", v = ", signature(v));
}

}  // namespace

Attended Attention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionCall& call) const {
  check_heads(q, k, v);
  const Shape scores = {q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
  // A filled score is one that is looked at: a query that may see nothing then sees every value.
  const auto seen = [&](const Tensor& x) {
    return fill ? x : call.mask.without_hidden_keys(x, scores, "attention");
  };
  const Tensor keys = seen(k), values = seen(v);
  const bool needs_weights =
      call.weights != ReturnedWeights::none || inspect || (call.rng && dropout.p > 0);
  if (!needs_weights)
    if (const auto dot = score.product(q, keys))
      return {.y = attention(dot->q, dot->k, values,
                             {.mask = call.mask, .scale = dot->scale, .fill = fill})};
  const Tensor weights = attention_weights(score(q, keys), call.mask, fill);  // [B, H, T, S]
  if (const auto look = inspect) look(detach(weights));  // a copy: it may replace itself
  const Tensor kept = dropout(weights, call.rng);
  const bool before = call.weights == ReturnedWeights::before_dropout;
  return {.y = matmul(kept, values),  // [B, H, T, Dv]
          .weights = call.weights == ReturnedWeights::none ? Tensor()
                     : before                              ? weights
                                                           : kept};
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options, Rng& rng)
    : MultiHeadAttention(Completed{completed(options)}, rng) {}

MultiHeadAttention::MultiHeadAttention(const Completed& o, Rng& rng)
    : heads(o.heads),
      batch_first(o.batch_first),
      query(o.d_model, o.heads * o.d_k, rng, {.bias = o.query_bias}),
      key(o.key_width, o.heads * o.d_k, rng, {.bias = o.key_bias}),
      value(o.value_width, o.heads * o.d_v, rng, {.bias = o.value_bias}),
      attention{.score = o.score, .fill = o.fill, .dropout = Dropout(o.dropout)},
      output(o.heads * o.d_v, o.d_model, rng, {.bias = o.output_bias}) {}

Attended MultiHeadAttention::operator()(const Tensor& query_input, const Tensor& key_input,
                                        const Tensor& value_input,
                                        const AttentionCall& call) const {
  check_input("query", query_input, query, batch_first);
  check_input("key", key_input, key, batch_first);
  check_input("value", value_input, value, batch_first);
  const auto either = [&](const Tensor& x) { return batch_first ? x : permute(x, {1, 0, 2}); };
  const Tensor queries = either(query(query_input));  // [B, T, H d_k]
  const Tensor keys = either(key(key_input));         // [B, S, H d_k]
  const Tensor values = either(value(value_input));   // [B, S, H d_v]
  check<ShapeError>(keys.dim(0) == queries.dim(0) && values.dim(0) == queries.dim(0) &&
                        values.dim(1) == keys.dim(1),
                    "MultiHeadAttention: the batches must be equal, and keys as many as values, "
                    "got query = ",
                    signature(query_input), ", key = ", signature(key_input),
                    ", value = ", signature(value_input));
  const Attended mixed = attention(split_heads(queries, heads), split_heads(keys, heads),
                                   split_heads(values, heads), call);  // y [B, H, T, d_v]
  return {.y = output(either(merge_heads(mixed.y))), .weights = mixed.weights};
}

}  // namespace attograd::nn

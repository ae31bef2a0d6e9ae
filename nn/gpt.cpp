#include <cmath>

#include <attograd/nn/gpt.h>

namespace attograd::nn {
namespace {

const GptOptions& checked(const GptOptions& o) {
  check<ValueError>(o.vocabulary > 0 && o.context > 0 && o.layers > 0,
                    "Gpt: vocabulary, context and layers must be > 0, got ", o.vocabulary, ", ",
                    o.context, " and ", o.layers);
  return o;
}

/// Normal weights and no bias, whatever a linear map began with.
void initialize(Linear& map, double deviation, Rng& rng) {
  map.weight = init::normal(map.weight.shape(), deviation, rng);
  if (map.bias.defined()) map.bias = init::zeros(map.bias.shape());
}

}  // namespace

GptBlock::GptBlock(const GptOptions& o, Rng& rng)
    : attention_norm(o.width, {.bias = o.bias}),
      attention({.d_model = o.width,
                 .heads = o.heads,
                 .query_bias = o.bias,
                 .key_bias = o.bias,
                 .value_bias = o.bias,
                 .output_bias = o.bias,
                 .dropout = o.dropout},
                rng),
      feed_forward_norm(o.width, {.bias = o.bias}),
      feed_forward({.d_model = o.width, .bias = o.bias}, rng),
      dropout(o.dropout) {
  // Drawn again: the layers' own beginnings are PyTorch's.
  const double deviation = 0.02;
  // Each layer adds two branches to the sum that passes through: its variance must not grow.
  const double last = deviation / std::sqrt(2.0 * static_cast<double>(o.layers));
  for (Linear* map : {&attention.query, &attention.key, &attention.value, &feed_forward.up})
    initialize(*map, deviation, rng);
  for (Linear* map : {&attention.output, &feed_forward.down}) initialize(*map, last, rng);
}

Tensor GptBlock::operator()(const Tensor& x, Rng* rng) const {
  const Tensor attended = attention(attention_norm(x), {.mask = Mask::causal(), .rng = rng}).y;
  const Tensor h = x + dropout(attended, rng);
  return h + dropout(feed_forward(feed_forward_norm(h)), rng);
}

Gpt::Gpt(const GptOptions& o, Rng& rng)
    : options(checked(o)),
      token_embedding(o.vocabulary, o.width, rng),
      position_embedding(o.context, o.width, rng),
      dropout(o.dropout),
      norm(o.width, {.bias = o.bias}) {
  token_embedding.weight = init::normal({o.vocabulary, o.width}, 0.02, rng);
  position_embedding.weight = init::normal({o.context, o.width}, 0.02, rng);
  for (int64_t layer = 0; layer < o.layers; ++layer) blocks.emplace_back(o, rng);
  if (!o.tied) {
    head.emplace(o.width, o.vocabulary, rng, LinearOptions{.bias = false});
    initialize(*head, 0.02, rng);
  }
}

Tensor Gpt::operator()(const Tensor& ids, Rng* rng) const {
  check<ShapeError>(ids.rank() == 2, "Gpt: ids must be [B, T], got ", signature(ids));
  const Tensor positions = position_embedding(ids.dim(1));    // [T, C]
  Tensor h = dropout(token_embedding(ids) + positions, rng);  // [B, T, C]
  for (const GptBlock& block : blocks) h = block(h, rng);
  h = norm(h);
  return head ? (*head)(h) : linear(h, token_embedding.weight, Tensor());  // [B, T, V]
}

}  // namespace attograd::nn

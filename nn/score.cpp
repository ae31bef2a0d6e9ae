#include <cmath>

#include <attograd/nn/score.h>

namespace attograd::nn {
namespace {

/// x / max(‖x‖, eps), over the last axis
Tensor unit(const Tensor& x, double eps) { return x / maximum(norm(x, -1, true), eps); }

void check_result(const Tensor& scores, const Tensor& q, const Tensor& k) {
  check<ShapeError>(scores.defined(), "Score: a score must be defined, got an undefined tensor");
  const Shape right = {q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
  check<ShapeError>(scores.shape() == right, "Score: the scores of q = ", signature(q),
                    " and k = ", signature(k), " must be [B, H, T, S] = ", right, ", got ",
                    signature(scores));
  check<DTypeError>(scores.dtype() == q.dtype(), "Score: the scores of q = ", signature(q),
                    " must have its dtype, got ", signature(scores));
}

/// Of scores that are a dot product: queries and keys must be as many as those that came in.
void check_product(const DotProduct& dot, const Tensor& q, const Tensor& k) {
  check<ValueError>(std::isfinite(dot.scale), "Score: the scale must be finite, got ", dot.scale);
  check<ShapeError>(dot.q.defined() && dot.k.defined(),
                    "Score: product must give queries and keys, got an undefined tensor");
  const Shape queries = {q.dim(0), q.dim(1), q.dim(2), dot.q.rank() == 4 ? dot.q.dim(3) : 0};
  const Shape keys = {k.dim(0), k.dim(1), k.dim(2), queries[3]};
  check<ShapeError>(dot.q.shape() == queries && dot.k.shape() == keys,
                    "Score: product must keep batch, heads and lengths, got ", signature(dot.q),
                    " and ", signature(dot.k), " for q = ", signature(q),
                    " and k = ", signature(k));
  check<DTypeError>(dot.q.dtype() == q.dtype() && dot.k.dtype() == q.dtype(),
                    "Score: product must keep the dtype, got ", signature(dot.q), " and ",
                    signature(dot.k), " for q = ", signature(q));
}

}  // namespace

DotProduct ScaledDot::product(const Tensor& q, const Tensor& k) const {
  const auto width = static_cast<double>(std::max<int64_t>(q.dim(-1), 1));
  const double divisor = temperature.value_or(std::sqrt(width));
  check<ValueError>(divisor > 0, "ScaledDot: the temperature must be > 0, got ", divisor);
  return {q, k, 1 / divisor};
}

DotProduct Cosine::product(const Tensor& q, const Tensor& k) const {
  const bool is_positive = q.dtype() == DType::f32 ? static_cast<float>(eps) > 0 : eps > 0;
  check<ValueError>(is_positive && std::isfinite(eps), "Cosine: eps must be > 0 in ", q.dtype(),
                    " and finite, got ", eps);
  return {unit(q, eps), unit(k, eps), scale};
}

Bilinear::Bilinear(int64_t query_width, int64_t key_width, Rng& rng) {
  check<ValueError>(query_width > 0 && key_width > 0, "Bilinear: widths must be > 0, got ",
                    query_width, " and ", key_width);
  weight = init::fan_in_uniform({query_width, key_width}, key_width, rng);
}

DotProduct Bilinear::product(const Tensor& q, const Tensor& k) const {
  return {matmul(q, weight), k, 1};
}

Additive::Additive(int64_t query_width, int64_t key_width, int64_t hidden, Rng& rng)
    : query(query_width, hidden, rng, {.bias = false}),
      key(key_width, hidden, rng),
      energy(init::fan_in_uniform({hidden}, hidden, rng)) {}

Tensor Additive::operator()(const Tensor& q, const Tensor& k) const {
  const Tensor queries = unsqueeze(query(q), 3);  // [B, H, T, 1, hidden]
  const Tensor keys = unsqueeze(key(k), 2);       // [B, H, 1, S, hidden]
  return matmul(tanh(queries + keys), energy);    // [B, H, T, S]
}

std::optional<DotProduct> Score::product(const Tensor& q, const Tensor& k) const {
  if (!product_) return std::nullopt;
  const DotProduct dot = product_(score_, q, k);
  check_product(dot, q, k);
  return dot;
}

Tensor Score::operator()(const Tensor& q, const Tensor& k) const {
  const auto both = product(q, k);
  const Tensor scores =
      both ? matmul(both->q, transpose(both->k)) * both->scale : call_(score_, q, k);
  check_result(scores, q, k);
  return scores;  // [B, H, T, S]
}

}  // namespace attograd::nn

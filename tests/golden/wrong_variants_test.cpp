// Mistakes that are easily made in attention, each of which the golden files must tell from the
// right module.

#include <cmath>

#include <doctest/doctest.h>
#include <tests/golden/golden.h>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/mask.h>
#include <attograd/core/ops.h>

using namespace attograd;
using golden::differences;
using golden::Golden;
using golden::TensorMap;

namespace {

enum class Mistake {
  none,
  flipped_mask,
  no_scale,
  scale_by_d_model,  // sqrt(C / H) where the heads are d_k wide
  norm_of_keys,
  residual_of_normed_query,
  merged_without_transpose,
  gradient_through_fill,
  zero_row,
};

Golden file(const std::string& name) {
  return Golden(ATTOGRAD_SOURCE_DIR "/tests/golden/" + name + ".safetensors");
}

/// Scores that are filled where they are hidden, but pass gradients there.
Tensor leaky_fill(const Tensor& scores, const Tensor& hidden) {
  const Tensor there = where(hidden, ones(scores.shape(), scores.dtype()), 0);
  return scores + detach(there * (-1e9 - scores));
}

/// heads_first, written out, with one mistake.
TensorMap heads_first(const TensorMap& in, const TensorMap& w, int64_t heads, Mistake mistake) {
  const auto is = [&](Mistake other) { return mistake == other; };
  const bool self = in.contains("x");
  const Tensor q_in = in.at(self ? "x" : "q"), k_in = in.at(self ? "x" : "k"),
               v_in = in.at(self ? "x" : "v");
  const auto norm = [&](const Tensor& x) {
    return layer_norm(x, w.at("layer_norm.weight"), w.at("layer_norm.bias"), 1e-6);
  };
  const auto project = [&](const Tensor& x, const char* name) {  // [B, H, T, D]
    const Tensor y = linear(x, w.at(name), Tensor());
    return permute(reshape(y, {y.dim(0), y.dim(1), heads, y.dim(2) / heads}), {0, 2, 1, 3});
  };
  const Tensor q = project(norm(q_in), "w_qs.weight");
  const Tensor k = project(is(Mistake::norm_of_keys) ? norm(k_in) : k_in, "w_ks.weight");
  const Tensor v = project(v_in, "w_vs.weight");
  const double width =
      static_cast<double>(is(Mistake::scale_by_d_model) ? q_in.dim(2) / heads : q.dim(3));
  const double temperature = is(Mistake::no_scale) ? 1 : std::sqrt(width);
  const Tensor scores = matmul(q / temperature, transpose(k));  // [B, H, T, S]
  Tensor weights = softmax(scores);
  if (in.contains("mask")) {
    const Tensor keep = unsqueeze(in.at("mask"), 1);
    const Tensor hidden = is(Mistake::flipped_mask) ? keep : logical_not(keep);
    weights = is(Mistake::zero_row)                ? masked_softmax(scores, keep)
              : is(Mistake::gradient_through_fill) ? softmax(leaky_fill(scores, hidden))
                                                   : softmax(masked_fill(scores, hidden, -1e9));
  }
  const Tensor mixed = matmul(weights, v);  // [B, H, T, D]
  const Tensor in_order =
      is(Mistake::merged_without_transpose) ? mixed : permute(mixed, {0, 2, 1, 3});
  const Tensor merged = reshape(in_order, {q.dim(0), q.dim(2), heads * v.dim(3)});
  const Tensor residual = is(Mistake::residual_of_normed_query) ? norm(q_in) : q_in;
  return {{"y", linear(merged, w.at("fc.weight"), Tensor()) + residual}, {"attn", weights}};
}

bool equal_with(Mistake mistake, const std::string& name, int64_t heads) {
  const auto forward = [=](const TensorMap& inputs, const TensorMap& parameters, bool) {
    return heads_first(inputs, parameters, heads, mistake);
  };
  return differences(file(name), forward, DType::f64, true).empty();
}

}  // namespace

TEST_CASE("the right module written out equals the files") {
  CHECK(equal_with(Mistake::none, "heads_first_cross", 3));
  CHECK(equal_with(Mistake::none, "heads_first_odd_mask_keys", 3));
  CHECK(equal_with(Mistake::none, "heads_first_self_mask", 2));
  CHECK(equal_with(Mistake::none, "heads_first_dead_row", 2));
}

TEST_CASE("a flipped mask differs from the files") {
  CHECK_FALSE(equal_with(Mistake::flipped_mask, "heads_first_odd_mask_keys", 3));
  CHECK_FALSE(equal_with(Mistake::flipped_mask, "heads_first_self_mask", 2));
  CHECK_FALSE(equal_with(Mistake::flipped_mask, "heads_first_dead_row", 2));
}

TEST_CASE("a missing or another scale differs from the files") {
  CHECK_FALSE(equal_with(Mistake::no_scale, "heads_first_cross", 3));
  CHECK_FALSE(equal_with(Mistake::scale_by_d_model, "heads_first_odd_mask_keys", 3));
  CHECK_FALSE(equal_with(Mistake::scale_by_d_model, "heads_first_self_mask", 2));
}

TEST_CASE("a norm of the keys or a residual of the normed query differs from the files") {
  CHECK_FALSE(equal_with(Mistake::norm_of_keys, "heads_first_cross", 3));
  CHECK_FALSE(equal_with(Mistake::norm_of_keys, "heads_first_self_mask", 2));
  CHECK_FALSE(equal_with(Mistake::residual_of_normed_query, "heads_first_cross", 3));
}

TEST_CASE("heads merged without their transpose differ from the files") {
  CHECK_FALSE(equal_with(Mistake::merged_without_transpose, "heads_first_cross", 3));
}

TEST_CASE("a gradient through filled scores differs from the files") {
  CHECK(equal_with(Mistake::gradient_through_fill, "heads_first_self_mask", 2));  // weights are 0
  CHECK_FALSE(equal_with(Mistake::gradient_through_fill, "heads_first_dead_row", 2));
}

TEST_CASE("one NaN in a result differs from the files wherever it stands") {
  const Golden golden = file("heads_first_cross");
  const int64_t count = golden.tensors.at("out.y").numel();
  for (const int64_t place : {int64_t{0}, count / 2, count - 1}) {
    const auto forward = [&](const TensorMap& inputs, const TensorMap& parameters, bool weights) {
      TensorMap outputs = golden.forward(inputs, parameters, weights);
      Tensor& y = outputs["y"];
      const Tensor there = equal(reshape(arange(0, count), y.shape()), static_cast<double>(place));
      y = masked_fill(y, there, std::nan(""));
      return outputs;
    };
    for (const DType dtype : {DType::f64, DType::f32})
      CHECK_FALSE(differences(golden, forward, dtype, true).empty());
  }
}

TEST_CASE("zero rows in place of uniform ones and uniform in place of zero rows differ") {
  CHECK_FALSE(equal_with(Mistake::zero_row, "heads_first_dead_row", 2));
  const auto uniform = [](const TensorMap& inputs, const TensorMap&, bool) -> TensorMap {
    const Tensor scores = matmul(inputs.at("q"), transpose(inputs.at("k")));
    const Tensor weights = attention_weights(scores, Mask::keep(inputs.at("mask")), -1e9);
    return {{"y", matmul(weights, inputs.at("v"))}, {"attn", weights}};
  };
  CHECK_FALSE(differences(file("score_dot"), uniform, DType::f64, true).empty());
}

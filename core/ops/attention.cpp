#include <algorithm>
#include <cmath>
#include <limits>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/attention.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

// ---- checks ----

/// The scores [B, H, T, S] of queries and keys.
Shape scores_of(const Tensor& q, const Tensor& k) {
  check<ShapeError>(q.rank() == 4 && k.rank() == 4 && q.dim(0) == k.dim(0) &&
                        q.dim(1) == k.dim(1) && q.dim(3) == k.dim(3),
                    "attention: q must be [B, H, T, D] and k [B, H, S, D], got q = ", signature(q),
                    ", k = ", signature(k));
  check<DTypeError>(is_floating(q.dtype()) && k.dtype() == q.dtype(),
                    "attention: q, k and v must all be f32 or all f64, got q = ", signature(q),
                    ", k = ", signature(k));
  return {q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
}

void check_values(const Tensor& k, const Tensor& v) {
  check<ShapeError>(
      v.rank() == 4 && v.dim(0) == k.dim(0) && v.dim(1) == k.dim(1) && v.dim(2) == k.dim(2),
      "attention: v must be [B, H, S, Dv], one vector for every key, got k = ", signature(k),
      ", v = ", signature(v));
  check<DTypeError>(v.dtype() == k.dtype(),
                    "attention: q, k and v must all be f32 or all f64, got k = ", signature(k),
                    ", v = ", signature(v));
}

double scale_of(const Tensor& q, const AttentionOptions& options) {
  const auto width = static_cast<double>(std::max<int64_t>(q.dim(-1), 1));
  const double scale = options.scale.value_or(1 / std::sqrt(width));
  check<ValueError>(std::isfinite(scale), "attention: scale must be finite, got ", scale);
  return scale;
}

void check_fill(DType dtype, std::optional<double> fill) {
  // In f32 a fill may round to infinity, and infinite scores have no softmax.
  const double largest =
      dtype == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  check<ValueError>(!fill || std::abs(*fill) <= largest, "attention: fill must be finite in ",
                    dtype, ", got ", fill.value_or(0), "; without it hidden keys have weight 0");
}

// ---- the definition ----

/// [B, H, T, S]
Tensor scaled_products(const Tensor& q, const Tensor& k, double scale) {
  return matmul(q, transpose(k)) * scale;
}

/// keep and bias may be undefined.
Tensor weights_of(const Tensor& scores, const Tensor& keep, const Tensor& bias,
                  std::optional<double> fill) {
  const bool filled = keep.defined() && fill;
  const Tensor biased = bias.defined() ? scores + bias : scores;
  const Tensor seen = filled ? masked_fill(biased, logical_not(keep), *fill) : biased;
  if (keep.defined() && !filled) return masked_softmax(seen, keep);
  if (!bias.defined()) return softmax(seen);
  // A bias of -inf may hide a whole row, which gives 0 and not NaN.
  return masked_softmax(seen, Tensor(Array::filled({}, DType::boolean, 1)));
}

/// What the two parts of a mask keep together.
Tensor both(const Tensor& keep, bool causal, int64_t queries, int64_t keys) {
  if (!causal) return keep;
  const Tensor past = causal_keep(queries, keys);
  return keep.defined() ? logical_and(keep, past) : past;
}

// ---- the kernels ----

kernels::HeadStrides head_strides(const Array& x) {
  return {x.strides()[0], x.strides()[1], x.strides()[2]};
}

/// x as the kernels read it: elements of a vector side by side.
Array readable(const Array& x) { return x.strides()[3] == 1 || x.dim(3) <= 1 ? x : x.contiguous(); }

/// Uninitialised [B, H, T, width] that lies in memory like x: as [B, T, H, width] if x does.
Array laid_out_like(const Array& x, int64_t width) {
  const int64_t batch = x.dim(0), heads = x.dim(1), rows = x.dim(2);
  if (x.strides()[1] >= x.strides()[2]) return Array({batch, heads, rows, width}, x.dtype());
  return Array({batch, rows, heads, width}, x.dtype())
      .view({batch, heads, rows, width}, {rows * heads * width, width, heads * width, 1});
}

/// x holds q, k, v and, if there is a mask beyond the causal rule, its booleans.
kernels::AttentionSpec spec_of(const Arrays& x, double scale, bool causal) {
  kernels::AttentionSpec spec = {.batch = x[0].dim(0),
                                 .heads = x[0].dim(1),
                                 .queries = x[0].dim(2),
                                 .keys = x[1].dim(2),
                                 .width = x[0].dim(3),
                                 .value_width = x[2].dim(3),
                                 .scale = scale,
                                 .causal = causal};
  if (x.size() == 4) {
    const Array keep = x[3].expand({spec.batch, spec.heads, spec.queries, spec.keys}, "attention");
    spec.keep = keep.data<bool>();
    std::copy_n(keep.strides().begin(), 4, spec.keep_strides.begin());
  }
  return spec;
}

struct AttentionValue {
  Array y, logsumexp;
};

AttentionValue attention_value(const Arrays& x, double scale, bool causal) {
  const Array q = readable(x[0]), k = readable(x[1]), v = readable(x[2]);
  const kernels::AttentionSpec spec = spec_of(x, scale, causal);
  Array y = laid_out_like(x[0], spec.value_width);
  Array logsumexp({spec.batch, spec.heads, spec.queries}, q.dtype());
  dispatch<Floating>("attention", q.dtype(), [&]<class T>() {
    kernels::attention(spec, q.data<T>(), head_strides(q), k.data<T>(), head_strides(k),
                       v.data<T>(), head_strides(v), y.mutable_data<T>(), head_strides(y),
                       logsumexp.mutable_data<T>());
  });
  return {y, logsumexp};
}

Arrays attention_gradients(const KernelArguments& a, double scale, bool causal) {
  const Array q = readable(a.x[0]), k = readable(a.x[1]), v = readable(a.x[2]), g = readable(a.g);
  Array dq = laid_out_like(a.x[0], q.dim(3)), dk = laid_out_like(a.x[1], k.dim(3)),
        dv = laid_out_like(a.x[2], v.dim(3));
  dispatch<Floating>("attention", q.dtype(), [&]<class T>() {
    kernels::attention_vjp(spec_of(a.x, scale, causal), g.data<T>(), head_strides(g), q.data<T>(),
                           head_strides(q), k.data<T>(), head_strides(k), v.data<T>(),
                           head_strides(v), a.y.data<T>(), head_strides(a.y), a.saved[0].data<T>(),
                           dq.mutable_data<T>(), head_strides(dq), dk.mutable_data<T>(),
                           head_strides(dk), dv.mutable_data<T>(), head_strides(dv));
  });
  Arrays gradients = {dq, dk, dv};
  gradients.resize(a.x.size());
  return gradients;
}

}  // namespace

Tensor attention_weights(const Tensor& scores, const Mask& mask, std::optional<double> fill) {
  check<ShapeError>(scores.rank() == 4, "attention: scores must be [B, H, T, S], got ",
                    signature(scores));
  check<DTypeError>(is_floating(scores.dtype()), "attention: scores must be f32 or f64, got ",
                    signature(scores));
  check_fill(scores.dtype(), fill);
  const Tensor bias = mask.added(scores.shape(), "attention");
  check<DTypeError>(!bias.defined() || bias.dtype() == scores.dtype(),
                    "attention: the mask's bias must have the dtype of the scores, got bias = ",
                    bias.defined() ? bias.dtype() : scores.dtype(),
                    ", scores = ", signature(scores));
  return weights_of(scores, mask.kept(scores.shape(), "attention"), bias, fill);
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  scores_of(q, k);
  return attention_weights(scaled_products(q, k, scale_of(q, options)), options.mask, options.fill);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options) {
  const Shape scores = scores_of(q, k);
  check_values(k, v);
  check_fill(q.dtype(), options.fill);
  const bool causal = options.mask.is_causal();
  const Tensor keep = options.mask.kept_without_causal(scores, "attention");
  const bool filled = options.fill && (causal || keep.defined());
  if (filled) return matmul(attention_weights(q, k, options), v);
  if (options.mask.has_bias()) {
    const auto seen = [&](const Tensor& x) {
      return options.mask.without_hidden_keys(x, scores, "attention");
    };
    return matmul(attention_weights(q, seen(k), options), seen(v));
  }
  const double scale = scale_of(q, options);
  Tensors inputs = {q, k, v};
  if (keep.defined()) inputs.push_back(keep);
  Arrays numbers;
  for (const Tensor& input : inputs) numbers.push_back(input.array());
  const AttentionValue attended = attention_value(numbers, scale, causal);
  return record(Fused{
      .name = "attention",
      .inputs = inputs,
      .value = attended.y,
      .saved = {attended.logsumexp},
      .reference =
          [scale, causal](const Tensors& x) {
            const Tensor kept =
                both(x.size() == 4 ? x[3] : Tensor(), causal, x[0].dim(2), x[1].dim(2));
            // Where only the causal rule hides, the last query sees every key.
            const Tensor hides_keys = x.size() == 4 ? kept : Tensor();
            const Tensor k_seen = zero_hidden_keys(x[1], hides_keys);
            const Tensor v_seen = zero_hidden_keys(x[2], hides_keys);
            return matmul(weights_of(scaled_products(x[0], k_seen, scale), kept, {}, {}), v_seen);
          },
      .vjp_kernel = [scale, causal](
                        const KernelArguments& a) { return attention_gradients(a, scale, causal); },
  });
}

}  // namespace attograd

#include <algorithm>

#include <attograd/core/create.h>
#include <attograd/core/mask.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

/// A mask in the rank of the scores, [B, H, T, S].
Tensor in_full_rank(const char* op, const Tensor& mask) {
  check<ShapeError>(mask.rank() >= 2 && mask.rank() <= 4, op,
                    ": a mask is [T, S], [B, T, S] or [B, H, T, S] (1 for any axis), got ",
                    signature(mask),
                    mask.rank() == 1 ? "; for sequences of different lengths: Mask::padding" : "");
  if (mask.rank() == 4) return mask;
  const Tensor batched = mask.rank() == 3 ? mask : unsqueeze(mask, 0);
  return unsqueeze(batched, 1);
}

void check_boolean(const char* op, const Tensor& mask) {
  check<DTypeError>(mask.dtype() == DType::boolean, op, ": takes bool, got ", signature(mask),
                    "; compare first, as in x > 0; numbers to be added are Mask::bias");
}

constexpr const char* kAnd = "mask & mask";

/// f(a, b), or the one that is defined.
template <class F>
Tensor combined(const Tensor& a, const Tensor& b, F f) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return f(a, b);
}

/// Undefined masks fit.
bool broadcasts_to(const Tensor& mask, const Shape& scores) {
  bool fits = true;
  for (int axis = 0; axis < 4 && mask.defined(); ++axis)
    fits &= mask.dim(axis) == 1 || mask.dim(axis) == scores[axis];
  return fits;
}

void check_fits(std::string_view op, const Tensor& mask, const Shape& scores) {
  check<ShapeError>(broadcasts_to(mask, scores), op,
                    ": a mask must fit the scores [B, H, T, S] = ", scores,
                    " (or have 1 for an axis), got ", signature(mask),
                    "; rank 3 has the batch first: a mask for each head is [1, H, T, S]");
}

/// [B, 1, 1, S]
Tensor keep_within(const Tensor& lengths, const Shape& scores, std::string_view op) {
  const int64_t keys = scores[3], batch = lengths.dim(0);
  check<ShapeError>(batch == 1 || batch == scores[0], op,
                    ": padding needs a length for each sequence of the scores [B, H, T, S] = ",
                    scores, ", got ", batch);
  for (int64_t length : lengths.to_vector<int64_t>())
    check<ValueError>(length <= keys, op, ": a length of Mask::padding must be at most S = ", keys,
                      ", the number of keys, got ", length);
  return reshape(arange(0, keys), {1, 1, 1, keys}) < reshape(lengths, {batch, 1, 1, 1});
}

}  // namespace

Mask Mask::keep(const Tensor& mask) {
  check_boolean("Mask::keep", mask);
  Mask m;
  m.keep_ = in_full_rank("Mask::keep", mask);
  return m;
}

Mask Mask::drop(const Tensor& mask) {
  check_boolean("Mask::drop", mask);
  Mask m;
  m.keep_ = logical_not(in_full_rank("Mask::drop", mask));
  return m;
}

Mask Mask::causal() {
  Mask m;
  m.causal_ = true;
  return m;
}

Mask Mask::padding(const std::vector<int64_t>& lengths) {
  return padding(from_values({static_cast<int64_t>(lengths.size())}, lengths));
}

Mask Mask::padding(const Tensor& lengths) {
  check<ShapeError>(lengths.rank() == 1, "Mask::padding: lengths must be [B], got ",
                    signature(lengths));
  check<DTypeError>(lengths.dtype() == DType::i64, "Mask::padding: lengths must be i64, got ",
                    signature(lengths));
  for (int64_t length : lengths.to_vector<int64_t>())
    check<ValueError>(length >= 0, "Mask::padding: lengths must be >= 0, got ", length);
  Mask m;
  m.lengths_ = Tensor(lengths.array().copy());
  return m;
}

Mask Mask::bias(const Tensor& bias) {
  check<DTypeError>(is_floating(bias.dtype()), "Mask::bias: takes f32 or f64, got ",
                    signature(bias), "; booleans are Mask::keep or Mask::drop");
  Mask m;
  m.bias_ = in_full_rank("Mask::bias", bias);
  return m;
}

Mask operator&(const Mask& a, const Mask& b) {
  // Each part must fit every other, or the composition would fit no scores.
  Shape common = {1, 1, 1, 1};
  for (const Mask* mask : {&a, &b}) {
    if (mask->keep_.defined()) common = broadcast_shapes(kAnd, common, mask->keep_.shape());
    if (mask->bias_.defined()) common = broadcast_shapes(kAnd, common, mask->bias_.shape());
    const Tensor& lengths = mask->lengths_;
    if (lengths.defined()) common = broadcast_shapes(kAnd, common, {lengths.dim(0), 1, 1, 1});
  }
  if (a.bias_.defined() && b.bias_.defined())
    check<DTypeError>(a.bias_.dtype() == b.bias_.dtype(), kAnd,
                      ": biases must both be f32 or both f64, got ", signature(a.bias_), " and ",
                      signature(b.bias_));
  Mask m;
  m.keep_ = combined(a.keep_, b.keep_, logical_and);
  m.lengths_ = combined(a.lengths_, b.lengths_,
                        [](const Tensor& p, const Tensor& q) { return minimum(p, q); });
  m.bias_ = combined(a.bias_, b.bias_, [](const Tensor& p, const Tensor& q) { return p + q; });
  m.causal_ = a.causal_ || b.causal_;
  return m;
}

bool Mask::is_for_keys(int64_t batch, int64_t keys) const {
  const Shape every_query = {batch, 1, 1, keys};
  return !causal_ && broadcasts_to(keep_, every_query) && broadcasts_to(bias_, every_query);
}

Tensor Mask::kept_without_causal(const Shape& scores, std::string_view op) const {
  if (keep_.defined()) check_fits(op, keep_, scores);
  if (!lengths_.defined()) return keep_;
  return combined(keep_, keep_within(lengths_, scores, op), logical_and);
}

Tensor Mask::kept(const Shape& scores, std::string_view op) const {
  const Tensor others = kept_without_causal(scores, op);
  return causal_ ? combined(others, causal_keep(scores[2], scores[3]), logical_and) : others;
}

Tensor Mask::without_hidden_keys(const Tensor& x, const Shape& scores, std::string_view op) const {
  // Under the causal rule alone the last query sees all.
  const bool hides_keys = keep_.defined() || lengths_.defined();
  return hides_keys ? zero_hidden_keys(x, kept(scores, op)) : x;
}

Tensor Mask::added(const Shape& scores, std::string_view op) const {
  if (bias_.defined()) check_fits(op, bias_, scores);
  return bias_;
}

std::ostream& operator<<(std::ostream& out, const Mask& mask) {
  const char* joint = "mask: ";
  const auto part = [&](const auto&... text) {
    ((out << joint) << ... << text);
    joint = " & ";
  };
  if (mask.causal_) part("causal");
  if (mask.lengths_.defined()) part("padding ", mask.lengths_);
  if (mask.keep_.defined()) part("keep ", signature(mask.keep_));
  if (mask.bias_.defined()) part("bias ", signature(mask.bias_));
  if (joint[0] == 'm') part("nothing is hidden");
  mask.draw(out);
  return out;
}

void Mask::draw(std::ostream& out) const {
  constexpr int64_t kMostRows = 16, kMostColumns = 64, kExample = 5;
  if (!causal_ && !keep_.defined() && !lengths_.defined()) return;
  const Array keep =
      keep_.defined() ? keep_.array() : Array::filled({1, 1, 1, 1}, DType::boolean, 1);
  const std::vector<int64_t> lengths =
      lengths_.defined() ? lengths_.to_vector<int64_t>() : std::vector<int64_t>();
  if (keep.numel() == 0 || (lengths_.defined() && lengths.empty())) return;
  int64_t queries = keep.dim(2), keys = keep.dim(3);  // 1: any number, so take what others suggest
  if (keys == 1 && !lengths.empty()) keys = *std::max_element(lengths.begin(), lengths.end());
  if (causal_ && keys == 1) keys = queries == 1 ? kExample : queries;
  if (causal_ && queries == 1) queries = keys;
  const int64_t down = keep.dim(2) == 1 ? 0 : keep.strides()[2];
  const int64_t across = keep.dim(3) == 1 ? 0 : keep.strides()[3];
  for (int64_t i = 0; i < std::min(queries, kMostRows); ++i) {
    out << '\n';
    for (int64_t j = 0; j < std::min(keys, kMostColumns); ++j) {
      const bool seen = keep.data<bool>()[i * down + j * across] &&
                        (lengths.empty() || j < lengths[0]) &&
                        (!causal_ || j <= i + keys - queries);
      out << (seen ? '#' : '.');
    }
    if (keys > kMostColumns) out << " ...";
  }
  if (queries > kMostRows) out << "\n...";
}

Tensor zero_hidden_keys(const Tensor& x, const Tensor& kept) {
  if (!kept.defined()) return x;
  const Tensor hidden = equal(sum(kept, 2, true), 0);  // [B or 1, H or 1, 1, S or 1]
  return masked_fill(x, permute(hidden, {0, 1, 3, 2}), 0);
}

Tensor causal_keep(int64_t queries, int64_t keys) {
  return tril(full({queries, keys}, 1, DType::boolean), keys - queries);
}

}  // namespace attograd

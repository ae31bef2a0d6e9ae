#pragma once

#include <string_view>
#include <vector>

#include <attograd/core/tensor.h>

namespace attograd {

/// Which keys each query may see. Masks compose: what `a & b` lets a query see, both a and b do,
/// and their biases add up. A mask fits the scores [B, H, T, S] (batch, heads, queries, keys): it
/// is [T, S], [B, T, S] (rank 3 always has the batch first) or [B, H, T, S], with 1 for any axis
/// along which it is the same.
class Mask {
 public:
  Mask() = default;  // nothing is masked
  // keep, drop and bias throw ShapeError unless the rank is 2, 3 or 4.

  /// Booleans, true where a query may look.
  /// Throws    DTypeError for numbers, whose polarity is not known
  static Mask keep(const Tensor& mask);
  /// Booleans, true where a query may not look.
  /// Throws    DTypeError for numbers
  static Mask drop(const Tensor& mask);
  /// Query i sees the keys j <= i + S - T: the last query sees all, also when the queries are the
  /// last few of a longer sequence (decoding against a cache).
  static Mask causal();
  /// lengths [B]: in sequence b the keys 0 ... lengths[b] - 1 are seen, the rest is padding.
  /// Throws    ValueError for a negative length; ShapeError or DTypeError unless they are i64 [B]
  static Mask padding(const std::vector<int64_t>& lengths);
  static Mask padding(const Tensor& lengths);
  /// Numbers (f32 or f64) that are added to the scaled scores; gradients flow to them.
  /// Throws    DTypeError for others
  static Mask bias(const Tensor& bias);

  /// Throws    ShapeError if the two do not fit each other; DTypeError for biases of two dtypes
  friend Mask operator&(const Mask& a, const Mask& b);

  bool is_causal() const { return causal_; }
  bool has_bias() const { return bias_.defined(); }
  /// Whether it is the same for every query and head: of padding or [B or 1, 1, 1, S or 1].
  bool is_for_keys(int64_t batch, int64_t keys) const;

  // What an operation on scores [B, H, T, S] applies. `op` is named in the error that a mask of
  // other sizes throws: ShapeError, or ValueError for padding beyond the keys.

  /// Booleans that broadcast to the scores, true where a query may look; undefined if everywhere.
  Tensor kept(const Shape& scores, std::string_view op) const;
  /// The same without the causal rule, for kernels that have their own.
  Tensor kept_without_causal(const Shape& scores, std::string_view op) const;
  /// x [B, H, S, .], keys or values, with 0 for each key that no query may see: its weight is 0,
  /// but 0 times NaN or infinity would not be. The gradient there is exactly 0.
  Tensor without_hidden_keys(const Tensor& x, const Shape& scores, std::string_view op) const;
  /// Numbers that broadcast to the scores; undefined if there are none.
  Tensor added(const Shape& scores, std::string_view op) const;

  /// The parts, and a picture for the first sequence and head: '#' where a query (row) sees a key
  /// (column), '.' where not. It ends with "..." where it is cut off.
  friend std::ostream& operator<<(std::ostream& out, const Mask& mask);

 private:
  void draw(std::ostream& out) const;

  Tensor keep_;     // rank 4, or undefined
  Tensor lengths_;  // [B], or undefined
  Tensor bias_;     // rank 4, or undefined
  bool causal_ = false;
};

/// x [B, H, S, .] with 0 for each key that no query sees, by booleans that broadcast to [B, H, T,
/// S]; all of x if they are undefined.
Tensor zero_hidden_keys(const Tensor& x, const Tensor& kept);

/// The causal rule as booleans [T, S].
Tensor causal_keep(int64_t queries, int64_t keys);

}  // namespace attograd

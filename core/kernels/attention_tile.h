#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <attograd/core/kernels/attention.h>
#include <attograd/core/kernels/blas.h>

namespace attograd::kernels {

// Attention works on tiles of scores held transposed, [keys, queries]: the maximum and the sum over
// keys then run down the columns, a vector of queries at a time, and never across a register. A
// tile lives on the stack.
inline constexpr int64_t kQueries = 64, kKeys = 128;

/// Queries per block. Of a short causal sequence, half blocks skip more than their smaller products
/// lose.
inline int64_t query_block(const AttentionSpec& spec) {
  return spec.causal && spec.queries <= 2 * kQueries ? kQueries / 2 : kQueries;
}

/// The rows of one head: a matrix whose rows lie `stride` apart.
template <class T>
struct HeadRows {
  T* data;
  int64_t stride;
  T* operator[](int64_t row) const { return data + row * stride; }
  HeadRows from(int64_t row) const { return {data + row * stride, stride}; }
};

/// Which keys one head's queries may see.
struct HeadMask {
  int64_t shift;  // query i sees no key beyond i + shift
  const bool* keep;
  int64_t query_stride, key_stride;
};

/// One of the B H heads, counted batch first.
class Head {
 public:
  Head(const AttentionSpec& spec, int64_t number)
      : batch_(number / spec.heads), head_(number % spec.heads) {}

  template <class T>
  HeadRows<T> rows(T* data, HeadStrides s) const {
    return {data + batch_ * s.batch + head_ * s.head, s.row};
  }

  HeadMask mask(const AttentionSpec& spec) const {
    const auto& s = spec.keep_strides;
    const bool* keep = spec.keep ? spec.keep + batch_ * s[0] + head_ * s[1] : nullptr;
    return {spec.causal ? spec.keys - spec.queries : spec.keys, keep, s[2], s[3]};
  }

 private:
  int64_t batch_, head_;
};

/// Queries [i0, i0 + queries) against keys [j0, j0 + keys).
struct Tile {
  int64_t i0, queries, j0, keys;
};

/// Calls f(tile) on the tiles of keys that queries [i0, i0 + queries) may see.
template <class F>
void for_each_key_tile(const AttentionSpec& spec, const HeadMask& mask, int64_t i0, int64_t queries,
                       const F& f) {
  const int64_t end = std::min(spec.keys, i0 + queries + mask.shift);
  for (int64_t j0 = 0; j0 < end; j0 += kKeys) f(Tile{i0, queries, j0, std::min(kKeys, end - j0)});
}

/// scores[j, i] = -inf where query i may not see key j, whatever stands there.
template <class T>
[[gnu::always_inline]] inline void hide(const HeadMask& mask, const Tile& t, T* scores) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  if (!mask.keep && t.j0 + t.keys - 1 <= t.i0 + mask.shift) return;
  for (int64_t j = 0; j < t.keys; ++j) {
    T* s = scores + j * kQueries;
    const int64_t future =
        t.j0 + j - mask.shift - t.i0;  // to the queries before this one, the key is
#pragma omp simd
    for (int64_t i = 0; i < t.queries; ++i) s[i] = i < future ? kHidden : s[i];
    if (!mask.keep) continue;
    const bool* keep = mask.keep + t.i0 * mask.query_stride + (t.j0 + j) * mask.key_stride;
    for (int64_t i = 0; i < t.queries; ++i) s[i] = keep[i * mask.query_stride] ? s[i] : kHidden;
  }
}

/// c += alpha op(weights) x for a tile of weights, on the calling thread; with beta = 0 c is
/// overwritten. If `guarded`, a weight of 0 hides what it is multiplied with, which 0 times NaN
/// would not.
template <class T>
void weigh(bool guarded, Op op, int64_t m, int64_t n, int64_t k, double alpha, const T* weights,
           HeadRows<const T> x, double beta, HeadRows<T> c) {
  const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
  if (!guarded) {
    gemm_serial(op, Op::none, m, n, k, a, weights, kQueries, x.data, x.stride, b, c.data, c.stride);
    return;
  }
  for (int64_t i = 0; i < m; ++i) {
    if (beta == 0) std::fill(c[i], c[i] + n, T{0});
    for (int64_t l = 0; l < k; ++l) {
      const T w = op == Op::none ? weights[i * kQueries + l] : weights[l * kQueries + i];
      if (w == 0) continue;
      for (int64_t d = 0; d < n; ++d) c[i][d] += a * w * x[l][d];
    }
  }
}

/// Whether all rows hold finite numbers only.
template <class T>
[[gnu::always_inline]] inline bool all_finite(int64_t rows, int64_t width, HeadRows<T> x) {
  constexpr int64_t kBlock = 64;
  T probe = 0;  // 0 times anything that is not finite is NaN, and stays in the sum
  for (int64_t d0 = 0; d0 < width; d0 += kBlock) {
    const int64_t block = std::min(kBlock, width - d0);
    T zero[kBlock] = {};
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x[i] + d0;
#pragma omp simd
      for (int64_t d = 0; d < block; ++d) zero[d] += 0 * row[d];
    }
    for (int64_t d = 0; d < block; ++d) probe += zero[d];
  }
  return probe == 0;
}

}  // namespace attograd::kernels

#include <attograd/core/kernels/attention.h>
#include <attograd/core/kernels/attention_tile.h>
#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/parallel.h>
#include <attograd/core/kernels/rows.h>
#include <attograd/core/kernels/vector_math.h>

namespace attograd::kernels {
namespace {

template <class T>
constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();

/// The online softmax of a block of queries (Milakov and Gimelshein 2018): over the keys seen so
/// far, the largest score of each query and the sum of e^(score - max).
template <class T>
struct OnlineSoftmax {
  T max[kQueries];
  double sum[kQueries] = {};

  OnlineSoftmax() { std::fill(max, max + kQueries, kMinusInfinity<T>); }

  /// Turns a tile of scores into weights e^(score - max), and returns in `scale` by what the
  /// earlier weights are to be multiplied.
  [[gnu::always_inline]] void add(const Tile& t, T* scores, T* scale) {
    T now[kQueries], added[kQueries] = {};
    std::copy(max, max + kQueries, now);
    for (int64_t j = 0; j < t.keys; ++j) {
      const T* s = scores + j * kQueries;
#pragma omp simd
      for (int64_t i = 0; i < t.queries; ++i) now[i] = s[i] > now[i] ? s[i] : now[i];
    }
#pragma omp simd
    for (int64_t i = 0; i < t.queries; ++i) {
      const T before = max[i];
      max[i] = now[i];
      // Where nothing was seen yet, weights are e^(-inf - 0) = 0 and not e^(-inf + inf).
      now[i] = now[i] == kMinusInfinity<T> ? 0 : now[i];
      scale[i] = exp_weight(before - now[i]);
    }
    for (int64_t j = 0; j < t.keys; ++j) {
      T* s = scores + j * kQueries;
#pragma omp simd
      for (int64_t i = 0; i < t.queries; ++i) {
        s[i] = exp_weight(s[i] - now[i]);
        added[i] += s[i];
      }
    }
#pragma omp simd
    for (int64_t i = 0; i < t.queries; ++i) {
      sum[i] = sum[i] * static_cast<double>(scale[i]) + static_cast<double>(added[i]);
    }
  }
};

template <class T>
[[gnu::always_inline]] inline void scale_row(int64_t n, T scale, T* x) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) x[i] *= scale;
}

/// One head, forward.
template <class T>
struct Forward {
  const AttentionSpec& spec;
  HeadMask mask;
  HeadRows<const T> q, k, v;
  HeadRows<T> y;
  T* logsumexp;

  /// Queries [i0, i0 + queries). Says whether y came out finite.
  bool run(int64_t i0, int64_t queries, bool guarded) const {
    alignas(64) T scores[kKeys * kQueries];
    OnlineSoftmax<T> softmax;
    const HeadRows<T> out = y.from(i0);
    for_each_key_tile(spec, mask, i0, queries, [&](const Tile& t) {
      gemm_serial(Op::none, Op::transpose, t.keys, queries, spec.width, static_cast<T>(spec.scale),
                  k[t.j0], k.stride, q[i0], q.stride, T{0}, scores, kQueries);
      vectorized([&] {
        T scale[kQueries];
        hide(mask, t, scores);
        softmax.add(t, scores, scale);
        for (int64_t i = 0; t.j0 > 0 && i < queries; ++i) {
          scale_row(spec.value_width, scale[i], out[i]);
        }
      });
      weigh<T>(guarded, Op::transpose, queries, spec.value_width, t.keys, 1, scores, v.from(t.j0),
               t.j0 > 0 ? 1 : 0, out);
    });
    bool finite = true;
    vectorized([&] {
      finish(queries, softmax, out, logsumexp + i0);
      finite = all_finite(queries, spec.value_width, out);
    });
    return finite;
  }

  [[gnu::always_inline]] void finish(int64_t queries, const OnlineSoftmax<T>& softmax,
                                     HeadRows<T> out, T* lse) const {
#pragma omp simd
    for (int64_t i = 0; i < queries; ++i) {
      lse[i] = softmax.max[i] + log(static_cast<T>(softmax.sum[i]));  // -inf where nothing was seen
    }
    for (int64_t i = 0; i < queries; ++i) {
      if (softmax.sum[i] == 0) {
        std::fill(out[i], out[i] + spec.value_width, T{0});
      } else {
        scale_row(spec.value_width, static_cast<T>(1 / softmax.sum[i]), out[i]);
      }
    }
  }
};

/// One head, backward.
template <class T>
struct Backward {
  const AttentionSpec& spec;
  HeadMask mask;
  HeadRows<const T> g, q, k, v, y;
  const T* logsumexp;
  HeadRows<T> dq, dk, dv;

  /// Says whether all gradients came out finite.
  bool run(bool guarded) const {
    for (int64_t j = 0; j < spec.keys; ++j) {
      std::fill(dk[j], dk[j] + spec.width, T{0});
      std::fill(dv[j], dv[j] + spec.value_width, T{0});
    }
    const int64_t block = query_block(spec);
    for (int64_t i = 0; i < spec.queries; i += block) {
      run_queries(i, std::min(block, spec.queries - i), guarded);
    }
    bool finite = true;
    vectorized([&] {
      finite = all_finite(spec.queries, spec.width, dq) && all_finite(spec.keys, spec.width, dk) &&
               all_finite(spec.keys, spec.value_width, dv);
    });
    return finite;
  }

  void run_queries(int64_t i0, int64_t queries, bool guarded) const {
    alignas(64) T weights[kKeys * kQueries], slopes[kKeys * kQueries];
    T lse[kQueries], dot[kQueries];
    vectorized([&] {
      for (int64_t i = 0; i < queries; ++i) {
        const T *gi = g[i0 + i], *yi = y[i0 + i];
        dot[i] =
            static_cast<T>(sum_of<T>(spec.value_width, [=](int64_t d) { return gi[d] * yi[d]; }));
        // Where nothing was seen, weights are e^(score - inf) = 0 for any score.
        lse[i] = logsumexp[i0 + i] == kMinusInfinity<T> ? -kMinusInfinity<T> : logsumexp[i0 + i];
        std::fill(dq[i0 + i], dq[i0 + i] + spec.width, T{0});
      }
    });
    for_each_key_tile(spec, mask, i0, queries, [&](const Tile& t) {
      const auto products = [&](double alpha, int64_t width, HeadRows<const T> keys,
                                HeadRows<const T> of_queries, T* out) {
        gemm_serial(Op::none, Op::transpose, t.keys, queries, width, static_cast<T>(alpha),
                    keys[t.j0], keys.stride, of_queries[i0], of_queries.stride, T{0}, out,
                    kQueries);
      };
      products(spec.scale, spec.width, k, q, weights);
      products(1, spec.value_width, v, g, slopes);
      vectorized([&] {
        hide(mask, t, weights);
        differentiate(t, lse, dot, weights, slopes);
      });
      weigh<T>(guarded, Op::none, t.keys, spec.value_width, queries, 1, weights, g.from(i0), 1,
               dv.from(t.j0));
      weigh<T>(guarded, Op::none, t.keys, spec.width, queries, spec.scale, slopes, q.from(i0), 1,
               dk.from(t.j0));
      weigh<T>(guarded, Op::transpose, queries, spec.width, t.keys, spec.scale, slopes,
               k.from(t.j0), 1, dq.from(i0));
    });
  }

  /// Scores to weights p, and the cotangents dp of the weights to those of the scores, p (dp -
  /// dot).
  [[gnu::always_inline]] static void differentiate(const Tile& t, const T* lse, const T* dot,
                                                   T* weights, T* slopes) {
    for (int64_t j = 0; j < t.keys; ++j) {
      T *p = weights + j * kQueries, *ds = slopes + j * kQueries;
#pragma omp simd
      for (int64_t i = 0; i < t.queries; ++i) {
        p[i] = exp_weight(p[i] - lse[i]);
        ds[i] = p[i] == 0 ? 0 : p[i] * (ds[i] - dot[i]);
      }
    }
  }
};

/// How many units of `queries` rows are worth a thread of their own. A thread must not be woken for
/// a few numbers: that takes longer than the work.
int64_t grain_of(const AttentionSpec& spec, int64_t queries) {
  constexpr int64_t kProducts = 8;  // multiplications done in the time of an ordinary element
  return row_grain(queries * spec.keys * (spec.width + spec.value_width) / kProducts);
}

bool hides_something(const AttentionSpec& spec) { return spec.causal || spec.keep != nullptr; }

}  // namespace

// Both directions first run on plain products. Only a result that is not finite can come from a
// hidden value, as 0 times NaN; then, and only then, the same is computed again with products that
// leave out weights of 0.

template <class T>
void attention(const AttentionSpec& spec, const T* q, HeadStrides q_strides, const T* k,
               HeadStrides k_strides, const T* v, HeadStrides v_strides, T* y,
               HeadStrides y_strides, T* logsumexp) {
  const int64_t size = query_block(spec), blocks = (spec.queries + size - 1) / size;
  const int64_t units = spec.batch * spec.heads * blocks;
  parallel_for(units, grain_of(spec, size), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      // Under a causal mask late blocks cost more: taking the first, the last, the second ... keeps
      // parts even.
      const int64_t number = unit / blocks, place = unit % blocks;
      const int64_t block = place % 2 == 0 ? place / 2 : blocks - 1 - place / 2;
      const Head head(spec, number);
      const Forward<T> forward{spec,
                               head.mask(spec),
                               head.rows(q, q_strides),
                               head.rows(k, k_strides),
                               head.rows(v, v_strides),
                               head.rows(y, y_strides),
                               logsumexp + number * spec.queries};
      const int64_t i0 = block * size, queries = std::min(size, spec.queries - i0);
      if (!forward.run(i0, queries, false) && hides_something(spec)) {
        forward.run(i0, queries, true);
      }
    }
  });
}

template <class T>
void attention_vjp(const AttentionSpec& spec, const T* g, HeadStrides g_strides, const T* q,
                   HeadStrides q_strides, const T* k, HeadStrides k_strides, const T* v,
                   HeadStrides v_strides, const T* y, HeadStrides y_strides, const T* logsumexp,
                   T* dq, HeadStrides dq_strides, T* dk, HeadStrides dk_strides, T* dv,
                   HeadStrides dv_strides) {
  const int64_t grain = grain_of(spec, spec.queries);
  parallel_for(spec.batch * spec.heads, grain, [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number) {
      const Head head(spec, number);
      const Backward<T> backward{spec,
                                 head.mask(spec),
                                 head.rows(g, g_strides),
                                 head.rows(q, q_strides),
                                 head.rows(k, k_strides),
                                 head.rows(v, v_strides),
                                 head.rows(y, y_strides),
                                 logsumexp + number * spec.queries,
                                 head.rows(dq, dq_strides),
                                 head.rows(dk, dk_strides),
                                 head.rows(dv, dv_strides)};
      if (!backward.run(false) && hides_something(spec)) backward.run(true);
    }
  });
}

template void attention(const AttentionSpec&, const float*, HeadStrides, const float*, HeadStrides,
                        const float*, HeadStrides, float*, HeadStrides, float*);
template void attention(const AttentionSpec&, const double*, HeadStrides, const double*,
                        HeadStrides, const double*, HeadStrides, double*, HeadStrides, double*);
template void attention_vjp(const AttentionSpec&, const float*, HeadStrides, const float*,
                            HeadStrides, const float*, HeadStrides, const float*, HeadStrides,
                            const float*, HeadStrides, const float*, float*, HeadStrides, float*,
                            HeadStrides, float*, HeadStrides);
template void attention_vjp(const AttentionSpec&, const double*, HeadStrides, const double*,
                            HeadStrides, const double*, HeadStrides, const double*, HeadStrides,
                            const double*, HeadStrides, const double*, double*, HeadStrides,
                            double*, HeadStrides, double*, HeadStrides);

}  // namespace attograd::kernels

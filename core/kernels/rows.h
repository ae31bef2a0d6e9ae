#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/parallel.h>

namespace attograd::kernels {

/// N values of T that the compiler keeps in vector registers of whatever width the machine has.
template <class T, int N>
struct Lanes {
  using Vector [[gnu::vector_size(N * sizeof(T))]] = T;
  Vector v;

  [[gnu::always_inline]] explicit Lanes(const T* from) { std::memcpy(&v, from, sizeof v); }
};

struct Add {
  template <class V>
  [[gnu::always_inline]] static void into(V& a, const V& b) {
    a += b;
  }
};

struct Max {  // NaN never wins: it comes back through the sum of exponentials
  template <class V>
  [[gnu::always_inline]] static void into(V& a, const V& b) {
    a = b > a ? b : a;
  }
};

/// Folds lanes[0] ... lanes[N - 1], halves upon each other.
template <class Op, class T, int N>
[[gnu::always_inline]] inline T fold_lanes(const T* lanes) {
  if constexpr (N == 1) {
    return lanes[0];
  } else {
    Lanes<T, N / 2> low(lanes), high(lanes + N / 2);
    Op::into(low.v, high.v);
    T half[N / 2];
    std::memcpy(half, &low.v, sizeof half);
    return fold_lanes<Op, T, N / 2>(half);
  }
}

/// start folded with term(begin) ... term(end - 1), on as many lanes as fill 64 bytes. An
/// accumulator that is a vector by type is what makes it fast: `omp simd reduction` folds its lanes
/// one after the other, which costs more than a short row.
template <class Op, class T, class F>
[[gnu::always_inline]] inline T fold(int64_t begin, int64_t end, T start, const F& term) {
  constexpr int kLanes = 64 / sizeof(T);
  T rest[kLanes];
  for (int l = 0; l < kLanes; ++l) rest[l] = start;
  Lanes<T, kLanes> folded(rest);
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    T terms[kLanes];
#pragma omp simd
    for (int64_t l = 0; l < kLanes; ++l) terms[l] = term(i + l);
    Op::into(folded.v, Lanes<T, kLanes>(terms).v);
  }
  for (int l = 0; l < end - i; ++l) rest[l] = term(i + l);
  Op::into(folded.v, Lanes<T, kLanes>(rest).v);
  std::memcpy(rest, &folded.v, sizeof rest);
  return fold_lanes<Op, T, kLanes>(rest);
}

/// term(0) + ... + term(n - 1). Blocks of at most 512 terms are summed in T, each lane some 32 of
/// them, and add up in double: for float the error stays near 2^-24 of the sum of absolute terms
/// for any n.
template <class T, class F>
[[gnu::always_inline]] inline double sum_of(int64_t n, const F& term) {
  constexpr int64_t kBlock = 512;
  double sum = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    sum += static_cast<double>(fold<Add>(begin, std::min(n, begin + kBlock), T{0}, term));
  }
  return sum;
}

/// Largest of x[0] ... x[n - 1], -inf if there are none. NaN counts for nothing.
template <class T>
[[gnu::always_inline]] inline T max_of(int64_t n, const T* x) {
  return fold<Max>(0, n, -std::numeric_limits<T>::infinity(), [x](int64_t i) { return x[i]; });
}

/// Calls row(r) for every row of `cols` elements, vectorised and on all threads.
template <class F>
void for_each_row(int64_t rows, int64_t cols, const F& row) {
  parallel_for(rows, row_grain(cols), [&](int64_t begin, int64_t end) {
    vectorized([&] {
      for (int64_t r = begin; r < end; ++r) row(r);
    });
  });
}

/// Sums over rows that no thread count changes: the rows, each of `cols` elements, are cut into
/// chunks that depend on their number alone; accumulate(begin, end, sums) adds rows [begin, end) to
/// sums[width]; the chunks add up in order.
template <class F>
std::vector<double> sums_over_rows(int64_t rows, int64_t cols, int64_t width, const F& accumulate) {
  constexpr int64_t kMostChunks = 64, kLeastRows = 16;
  const int64_t chunk = std::max(kLeastRows, (rows + kMostChunks - 1) / kMostChunks);
  const int64_t chunks = std::max<int64_t>(1, (rows + chunk - 1) / chunk);
  std::vector<double> sums(static_cast<size_t>(chunks * width));
  parallel_for(chunks, row_grain(chunk * cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      accumulate(i * chunk, std::min(rows, (i + 1) * chunk), sums.data() + i * width);
    }
  });
  for (int64_t i = 1; i < chunks; ++i) {
    for (int64_t c = 0; c < width; ++c) {
      sums[static_cast<size_t>(c)] += sums[static_cast<size_t>(i * width + c)];
    }
  }
  sums.resize(static_cast<size_t>(width));
  return sums;
}

}  // namespace attograd::kernels

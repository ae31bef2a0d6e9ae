#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>

#include <attograd/core/kernels/arithmetic.h>
#include <attograd/core/kernels/strided.h>

namespace attograd::kernels {

// What a reduction gathers: from nothing, value by value; parts of a group are merged.

/// float sums run in double, so that a long sum is as good as its last rounding; integers wrap
/// around.
template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

template <class T>
struct Sum {
  using Result = std::conditional_t<std::is_same_v<T, bool>, int64_t, T>;  // masks are counted
  using Total = Accumulator<T>;
  static constexpr Total kNothing = 0;
  static Total add(Total total, T v) { return total + static_cast<Total>(v); }
  static Total merge(Total a, Total b) { return a + b; }
};

/// The square of a double overflows a double, and vanishes in it, long before the number does.
template <class T>
struct SumOfSquares {
  using Result = T;
  using Total = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  static constexpr Total kNothing = 0;
  static Total add(Total total, T v) { return total + static_cast<Total>(v) * v; }
  static Total merge(Total a, Total b) { return a + b; }
};

template <class T>
struct Max {
  using Result = T;
  using Total = T;
  using Limits = std::numeric_limits<T>;
  static constexpr T kNothing = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static T add(T total, T v) { return larger(total, v); }
  static T merge(T a, T b) { return larger(a, b); }
};

template <class T>
struct Min {
  using Result = T;
  using Total = T;
  using Limits = std::numeric_limits<T>;
  static constexpr T kNothing = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static T add(T total, T v) { return smaller(total, v); }
  static T merge(T a, T b) { return smaller(a, b); }
};

template <class T>
struct AllFinite {
  using Result = bool;
  using Total = bool;
  static constexpr bool kNothing = true;
  static bool add(bool total, T v) { return total & std::isfinite(v); }
  static bool merge(bool a, bool b) { return a & b; }
};

/// n values at p, p + step, ...: in lanes, so that they vectorise and long sums round less.
template <class Fold, class T>
typename Fold::Total fold_row(int64_t n, const T* p, int64_t step) {
  constexpr int64_t kLanes = 16;
  using Total = typename Fold::Total;
  Total lanes[kLanes];
  std::fill_n(lanes, kLanes, Fold::kNothing);
  int64_t done = 0;
  if (step == 1 && n >= kLanes) {
    done = n - n % kLanes;
    vectorized([&] {
      Total local[kLanes];  // what the compiler sees nobody else touch stays in registers
      std::fill_n(local, kLanes, Fold::kNothing);
      for (int64_t i = 0; i < done; i += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          local[lane] = Fold::add(local[lane], p[i + lane]);
      std::copy_n(local, kLanes, lanes);
    });
  }
  for (int64_t i = done; i < n; ++i) lanes[i % kLanes] = Fold::add(lanes[i % kLanes], p[i * step]);
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = Fold::merge(lanes[lane], lanes[lane + half]);
  return lanes[0];
}

/// Adds elements [begin, end) of each of n groups, whose first elements lie `step` apart at x, to
/// their totals. Whichever walk has the shorter step runs innermost: sums over leading axes go
/// through memory row by row.
template <class Fold, class T>
void fold_groups(int64_t n, const T* x, int64_t step, const StridedLoop<1>& reduced, int64_t begin,
                 int64_t end, typename Fold::Total* totals) {
  if (std::abs(step) >= std::abs(reduced.steps()[0])) {
    for (int64_t i = 0; i < n; ++i)
      reduced.rows_between(begin, end, [&](const auto& at, int64_t m, const auto& stride) {
        const auto part = fold_row<Fold>(m, x + i * step + at[0], stride[0]);
        totals[i] = Fold::merge(totals[i], part);
      });
    return;
  }
  reduced.rows_between(begin, end, [&](const auto& at, int64_t m, const auto& stride) {
    vectorized([=, first = x + at[0]] {
      for (int64_t k = 0; k < m; ++k) {
        const T* row = first + k * stride[0];
        if (step == 1) {
          for (int64_t i = 0; i < n; ++i) totals[i] = Fold::add(totals[i], row[i]);
        } else {
          for (int64_t i = 0; i < n; ++i) totals[i] = Fold::add(totals[i], row[i * step]);
        }
      }
    });
  });
}

/// y[group] = finish(total of the group). `kept` walks the first elements of the groups, `reduced`
/// the elements of one. Few long groups are cut into slices that threads share; the cuts depend on
/// the sizes alone, so no thread count changes a result.
template <class Fold, class T, class R, class Finish>
void reduce(const StridedLoop<1>& kept, const StridedLoop<1>& reduced, R* y, const T* x,
            Finish finish) {
  constexpr int64_t kGrain = 32768, kManyGroups = 4096, kMostSlices = 16, kBatch = 512;
  using Total = typename Fold::Total;
  const int64_t groups = kept.count();
  const int64_t size = reduced.count();
  const auto fold = [&](int64_t first, int64_t last, int64_t begin, int64_t end, Total* totals) {
    std::fill_n(totals, last - first, Fold::kNothing);
    kept.rows_between(first, last, [&](const auto& at, int64_t n, const auto& step) {
      fold_groups<Fold>(n, x + at[0], step[0], reduced, begin, end, totals);
      totals += n;
    });
  };
  const int64_t slices =
      groups >= kManyGroups ? 1 : std::clamp<int64_t>(groups * size / kGrain, 1, kMostSlices);
  if (slices == 1) {
    parallel_for(groups, kGrain / std::max<int64_t>(size, 1), [&](int64_t first, int64_t last) {
      Total totals[kBatch];
      for (int64_t group = first; group < last; group += kBatch) {
        const int64_t n = std::min(kBatch, last - group);
        fold(group, group + n, 0, size, totals);
        for (int64_t i = 0; i < n; ++i) y[group + i] = finish(totals[i]);
      }
    });
    return;
  }
  const auto memory = std::make_unique<Total[]>(static_cast<size_t>(slices * groups));
  Total* const totals = memory.get();
  parallel_for(slices, 1, [&](int64_t first, int64_t last) {
    for (int64_t s = first; s < last; ++s)
      fold(0, groups, s * size / slices, (s + 1) * size / slices, totals + s * groups);
  });
  for (int64_t group = 0; group < groups; ++group) {
    Total total = totals[group];
    for (int64_t s = 1; s < slices; ++s) total = Fold::merge(total, totals[s * groups + group]);
    y[group] = finish(total);
  }
}

}  // namespace attograd::kernels

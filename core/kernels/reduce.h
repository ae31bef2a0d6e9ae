#pragma once

#include <type_traits>

#include <attograd/core/kernels/strided.h>

namespace attograd::kernels {

/// float sums run in double, so that a long sum is as good as its last rounding.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// y[group] = sum of x over the group. `kept` walks (y, first element of the group), `reduced`
/// walks a group.
template <class T>
void sum(const StridedLoop<2>& kept, const StridedLoop<1>& reduced, T* y, const T* x) {
  kept.for_each_row([&](const auto& at, int64_t n, const auto& step) {
    for (int64_t i = 0; i < n; ++i) {
      Accumulator<T> total = 0;
      const T* group = x + at[1] + i * step[1];
      reduced.for_each_row_serial([&](const auto& from, int64_t m, const auto& stride) {
        const T* p = group + from[0];
        Accumulator<T> part = 0;
        if (stride[0] == 1) {
#pragma omp simd reduction(+ : part)
          for (int64_t k = 0; k < m; ++k) part += static_cast<Accumulator<T>>(p[k]);
        } else {
          for (int64_t k = 0; k < m; ++k) part += static_cast<Accumulator<T>>(p[k * stride[0]]);
        }
        total += part;
      });
      y[at[0] + i * step[0]] = static_cast<T>(total);
    }
  });
}

}  // namespace attograd::kernels

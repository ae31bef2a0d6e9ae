#pragma once

#include <cstdint>

#include <attograd/core/kernels/reduce.h>

namespace attograd::kernels {

// Loops over lines: n elements, `step` apart. The lines begin where `lines` says.

/// y[line] = the place of the first largest element; of the first NaN if there is one.
template <class T>
void argmax(const StridedLoop<1>& lines, int64_t n, int64_t step, int64_t* y, const T* x) {
  const auto place = [n, step](const T* p) {
    int64_t best = 0;
    for (int64_t k = 1; k < n; ++k) {
      const T v = p[k * step], leader = p[best * step];
      if (v > leader || (v != v && leader == leader)) best = k;
    }
    return best;
  };
  parallel_for(lines.count(), 32768 / std::max<int64_t>(n, 1), [&](int64_t first, int64_t last) {
    int64_t* out = y + first;
    lines.rows_between(first, last, [&](const auto& at, int64_t m, const auto& apart) {
      for (int64_t i = 0; i < m; ++i) *out++ = place(x + at[0] + i * apart[0]);
    });
  });
}

/// y[k] = x[0] + ... + x[k] along every line. `lines` walks (y, x), as `step` does.
template <class T>
void running_sum(const StridedLoop<2>& lines, int64_t n, const StridedLoop<2>::Offsets& step, T* y,
                 const T* x) {
  lines.for_each_row([&](const auto& at, int64_t m, const auto& apart) {
    for (int64_t i = 0; i < m; ++i) {
      T* out = y + at[0] + i * apart[0];
      const T* in = x + at[1] + i * apart[1];
      Accumulator<T> total = 0;
      for (int64_t k = 0; k < n; ++k) {
        total += static_cast<Accumulator<T>>(in[k * step[1]]);
        out[k * step[0]] = static_cast<T>(total);
      }
    }
  });
}

}  // namespace attograd::kernels

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include <attograd/core/kernels/parallel.h>
#include <attograd/core/kernels/reduce.h>

namespace attograd::kernels {

// Rows of `width` elements, named by an index in [0, n). All operands are contiguous.

/// The first place where index is outside [0, n), or count if there is none.
inline int64_t find_outside(int64_t count, const int64_t* index, int64_t n) {
  return std::find_if(index, index + count, [n](int64_t v) { return v < 0 || v >= n; }) - index;
}

/// y[o, i, :] = x[o, index[o, i], :] for x [outer, n, width], index [outer, k].
template <class T>
void gather_rows(int64_t outer, int64_t n, int64_t k, int64_t width, const T* x,
                 const int64_t* index, T* y) {
  const int64_t grain = 32768 / std::max<int64_t>(width, 1) + 1;
  parallel_for(outer * k, grain, [&](int64_t place, int64_t end) {
    for (; place < end; ++place)
      std::copy_n(x + (place / k * n + index[place]) * width, width, y + place * width);
  });
}

/// Groups the places of index [outer, k] by the row of [outer, n] that they name: those of row r
/// are order[ends[r - 1]] ... order[ends[r] - 1], from order[0] for r = 0, smallest first.
inline void group_by_row(int64_t outer, int64_t n, int64_t k, const int64_t* index, int64_t* ends,
                         int64_t* order) {
  const auto row_of = [&](int64_t place) { return place / k * n + index[place]; };
  std::fill_n(ends, outer * n, 0);
  for (int64_t place = 0; place < outer * k; ++place) ++ends[row_of(place)];
  std::exclusive_scan(ends, ends + outer * n, ends, int64_t{0});
  for (int64_t place = 0; place < outer * k; ++place) order[ends[row_of(place)]++] = place;
}

/// y[r, :] = the sum of x[place, :] over the places of row r as grouped above. Each sum runs on one
/// thread in the order of the places, so no thread count changes it.
template <class T>
void sum_groups(int64_t rows, int64_t width, const T* x, const int64_t* ends, const int64_t* order,
                T* y) {
  constexpr int64_t kColumns = 256;  // whose sums stay in the nearest cache
  const int64_t blocks = (width + kColumns - 1) / kColumns;
  const int64_t grain = 32768 / std::clamp<int64_t>(width, 1, kColumns);
  parallel_for(rows * blocks, grain, [&](int64_t task, int64_t last) {
    std::array<Accumulator<T>, kColumns> block;
    Accumulator<T>* sums = block.data();
    for (; task < last; ++task) {
      const int64_t row = task / blocks, first = task % blocks * kColumns;
      const int64_t columns = std::min(kColumns, width - first);
      std::fill_n(sums, columns, Accumulator<T>{0});
      for (int64_t at = row == 0 ? 0 : ends[row - 1]; at < ends[row]; ++at) {
        const T* from = x + order[at] * width + first;
        for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<Accumulator<T>>(from[c]);
      }
      T* to = y + row * width + first;
      for (int64_t c = 0; c < columns; ++c) to[c] = static_cast<T>(sums[c]);
    }
  });
}

}  // namespace attograd::kernels

#pragma once

#include <algorithm>
#include <cstdint>

#include <attograd/core/kernels/parallel.h>

namespace attograd::kernels {

/// In row r of every matrix, y = x in columns [first, last) and 0 elsewhere, where the triangle
/// below the diagonal has first = 0 and last = r + diagonal + 1, and the one above it has first =
/// r + diagonal and last = cols. x and y are contiguous [matrices, rows, cols].
template <class T>
void triangle(bool lower, int64_t diagonal, int64_t matrices, int64_t rows, int64_t cols,
              const T* x, T* y) {
  diagonal = std::clamp(diagonal, -rows - 1, cols + 1);
  parallel_for(matrices * rows, 32768 / std::max<int64_t>(cols, 1), [&](int64_t row, int64_t end) {
    for (; row < end; ++row) {
      const int64_t edge = row % rows + diagonal;
      const int64_t first = lower ? 0 : std::clamp<int64_t>(edge, 0, cols);
      const int64_t last = lower ? std::clamp<int64_t>(edge + 1, 0, cols) : cols;
      const T* from = x + row * cols;
      T* to = y + row * cols;
      std::fill_n(to, first, T{0});
      std::copy(from + first, from + last, to + first);
      std::fill(to + last, to + cols, T{0});
    }
  });
}

}  // namespace attograd::kernels

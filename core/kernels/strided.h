#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/parallel.h>

namespace attograd::kernels {

/// N operands walked together over one shape, each with its own strides (in elements; 0 repeats).
/// The loop that all elementwise work goes through: it knows any layout, and finds the plain one.
template <int N>
struct StridedLoop {
  static constexpr int kMaxAxes = 8;
  using Offsets = std::array<int64_t, N>;

  int rank = 0;
  std::array<int64_t, kMaxAxes> sizes{};
  std::array<Offsets, kMaxAxes> strides{};  // per axis, the step of each operand

  /// Adds an axis inside the ones before. Axes of size 1 vanish; an axis that continues the one
  /// before in every operand is merged with it, so that row-major operands end as one long row.
  void append(int64_t size, const Offsets& steps) {
    if (size == 1) return;
    if (rank > 0) {
      const auto last = static_cast<size_t>(rank - 1);
      bool continues = true;
      for (size_t k = 0; k < N; ++k) continues &= strides[last][k] == steps[k] * size;
      if (continues) {
        sizes[last] *= size;
        strides[last] = steps;
        return;
      }
    }
    sizes[static_cast<size_t>(rank)] = size;
    strides[static_cast<size_t>(rank)] = steps;
    ++rank;
  }

  int64_t count() const {
    int64_t elements = 1;
    for (int axis = 0; axis < rank; ++axis) elements *= sizes[static_cast<size_t>(axis)];
    return elements;
  }

  /// The step of each operand along the innermost axis.
  Offsets steps() const { return rank == 0 ? Offsets{} : strides[static_cast<size_t>(rank - 1)]; }

  /// Calls row(offsets, n, steps) for every innermost row, in parallel when there is enough work;
  /// a row where two threads meet comes in two pieces.
  template <class Row>
  void for_each_row(Row row) const {
    constexpr int64_t kGrain = 32768;  // below this a second thread costs more than it saves
    parallel_for(count(), kGrain,
                 [&](int64_t begin, int64_t end) { rows_between(begin, end, row); });
  }

  /// The same, one row after the other.
  template <class Row>
  void for_each_row_serial(Row row) const {
    rows_between(0, count(), row);
  }

  /// The rows of elements [begin, end) in row-major order, one after the other.
  template <class Row>
  void rows_between(int64_t begin, int64_t end, Row row) const {
    const int64_t n = rank == 0 ? 1 : sizes[static_cast<size_t>(rank - 1)];
    while (begin < end) {
      const int64_t length = std::min(n - begin % n, end - begin);
      row(offsets_of(begin), length, steps());
      begin += length;
    }
  }

 private:
  Offsets offsets_of(int64_t element) const {
    Offsets offsets{};
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      const int64_t index = element % sizes[a];
      element /= sizes[a];
      for (size_t k = 0; k < N; ++k) offsets[k] += index * strides[a][k];
    }
    return offsets;
  }
};

/// y = f(x), elementwise.
template <class R, class T, class F>
void map(const StridedLoop<2>& loop, R* y, const T* x, F f) {
  loop.for_each_row([&](const auto& at, int64_t n, const auto& step) {
    R* out = y + at[0];
    const T* a = x + at[1];
    if (step[0] == 1 && step[1] == 1) {
      vectorized([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
      });
    } else {
      for (int64_t i = 0; i < n; ++i) out[i * step[0]] = f(a[i * step[1]]);
    }
  });
}

/// y = f(a, b), elementwise. One operand is often a number (step 0): then it is read once.
template <class R, class T, class F>
void map(const StridedLoop<3>& loop, R* y, const T* a, const T* b, F f) {
  loop.for_each_row([&](const auto& at, int64_t n, const auto& step) {
    R* out = y + at[0];
    const T* p = a + at[1];
    const T* q = b + at[2];
    if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
      vectorized([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(p[i], q[i]);
      });
    } else if (step[0] == 1 && step[1] == 1 && step[2] == 0) {
      vectorized([=, right = *q] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(p[i], right);
      });
    } else if (step[0] == 1 && step[1] == 0 && step[2] == 1) {
      vectorized([=, left = *p] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(left, q[i]);
      });
    } else {
      for (int64_t i = 0; i < n; ++i) out[i * step[0]] = f(p[i * step[1]], q[i * step[2]]);
    }
  });
}

/// y = choose ? a : b, elementwise.
template <class T>
void select(const StridedLoop<4>& loop, T* y, const bool* choose, const T* a, const T* b) {
  loop.for_each_row([&](const auto& at, int64_t n, const auto& step) {
    T* out = y + at[0];
    const bool* c = choose + at[1];
    const T* p = a + at[2];
    const T* q = b + at[3];
    for (int64_t i = 0; i < n; ++i)
      out[i * step[0]] = c[i * step[1]] ? p[i * step[2]] : q[i * step[3]];
  });
}

}  // namespace attograd::kernels

#include <attograd/core/kernels/accumulate.h>
#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/parallel.h>
#include <attograd/core/kernels/rows.h>

namespace attograd::kernels {
namespace {

/// sums += rows [begin, end) of x, kBlock rows at a time in T, so that the slower double addition
/// is rare.
template <class T>
[[gnu::always_inline]] inline void add_rows(int64_t begin, int64_t end, int64_t cols, const T* x,
                                            double* sums) {
  constexpr int64_t kBlock = 8;
  int64_t r = begin;
  for (; r + kBlock <= end; r += kBlock) {
    const T* p = x + r * cols;
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      const T* q = p + c;
      const T low = (q[0] + q[cols]) + (q[2 * cols] + q[3 * cols]);
      const T high = (q[4 * cols] + q[5 * cols]) + (q[6 * cols] + q[7 * cols]);
      sums[c] += static_cast<double>(low + high);
    }
  }
  for (; r < end; ++r) {
#pragma omp simd
    for (int64_t c = 0; c < cols; ++c) sums[c] += static_cast<double>(x[r * cols + c]);
  }
}

}  // namespace

template <class T>
void add_into(int64_t n, const T* x, T* y) {
  parallel_for(n, kThreadWork, [=](int64_t begin, int64_t end) {
    vectorized([&] {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) y[i] += x[i];
    });
  });
}

template <class T>
double sum_of_squares(int64_t n, const T* x) {
  constexpr int64_t kRow = 4096;
  const int64_t rows = (n + kRow - 1) / kRow;
  return sums_over_rows(rows, kRow, 1, [=](int64_t begin, int64_t end, double* sum) {
    vectorized([&] {
      const int64_t first = begin * kRow, count = std::min(n, end * kRow) - first;
      *sum += sum_of<double>(count, [&](int64_t i) {
        const auto value = static_cast<double>(x[first + i]);
        return value * value;
      });
    });
  })[0];
}

template <class T>
void column_sum(int64_t rows, int64_t cols, const T* x, T* out) {
  const std::vector<double> sums =
      sums_over_rows(rows, cols, cols, [=](int64_t begin, int64_t end, double* partial) {
        vectorized([&] { add_rows(begin, end, cols, x, partial); });
      });
  std::transform(sums.begin(), sums.end(), out, [](double sum) { return static_cast<T>(sum); });
}

template void add_into(int64_t, const float*, float*);
template void add_into(int64_t, const double*, double*);
template double sum_of_squares(int64_t, const float*);
template double sum_of_squares(int64_t, const double*);
template void column_sum(int64_t, int64_t, const float*, float*);
template void column_sum(int64_t, int64_t, const double*, double*);

}  // namespace attograd::kernels

#include <algorithm>
#include <limits>
#include <mutex>

#include <attograd/core/kernels/blas.h>
#include <attograd/core/kernels/parallel.h>

#if defined(_OPENMP)
#include <omp.h>
#endif
#include <cblas.h>  // FindCBLAS.cmake sees to it that this is OpenBLAS's

namespace attograd::kernels {
namespace {

/// While it lives, OpenBLAS calls of this thread run on this thread alone. The pthread flavour has
/// one count for the process. The openmp flavour asks OpenMP at every call for the calling thread's
/// own count, which is lowered here and given back, because the user's parallel regions obey it
/// too.
class SingleThreadedBlas {
 public:
#if defined(_OPENMP)
  SingleThreadedBlas() : threads_(omp_get_max_threads()) {
    static const bool held = [] {
      if (openblas_get_parallel() != OPENBLAS_OPENMP) openblas_set_num_threads(1);
      return true;
    }();
    static_cast<void>(held);
    omp_set_num_threads(1);
  }
  ~SingleThreadedBlas() { omp_set_num_threads(threads_); }
#else
  SingleThreadedBlas() {
    thread_local const bool held = [] {
      static std::mutex mutex;  // the openmp flavour's setter also resizes its buffers
      const std::lock_guard lock(mutex);
      openblas_set_num_threads(1);
      return true;
    }();
    static_cast<void>(held);
  }
#endif
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

 private:
#if defined(_OPENMP)
  int threads_;
#endif
};

void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
               const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
               const double* a, int lda, const double* b, int ldb, double beta, double* c,
               int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class T>
void scale(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? T{0} : beta * c[i * ldc + j];
  }
}

/// The definition, for the row distances BLAS cannot take.
template <class T>
void plain_gemm(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  scale(m, n, beta, c, ldc);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        const T x = ta == Op::none ? a[i * lda + l] : a[l * lda + i];
        const T y = tb == Op::none ? b[l * ldb + j] : b[j * ldb + l];
        sum += static_cast<double>(x) * static_cast<double>(y);
      }
      c[i * ldc + j] += alpha * static_cast<T>(sum);
    }
  }
}

/// A matrix of one row has no distance between rows: tensors put anything there, BLAS wants at
/// least the row.
int64_t row_distance(int64_t rows, int64_t cols, int64_t ld) {
  return rows <= 1 ? std::max<int64_t>(cols, 1) : ld;
}

bool blas_takes(int64_t cols, int64_t ld) {
  return ld >= std::max<int64_t>(cols, 1) && ld <= std::numeric_limits<int>::max();
}

}  // namespace

template <class T>
void gemm_serial(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                 const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return scale(m, n, beta, c, ldc);
  const int64_t a_rows = ta == Op::none ? m : k, a_cols = ta == Op::none ? k : m;
  const int64_t b_rows = tb == Op::none ? k : n, b_cols = tb == Op::none ? n : k;
  lda = row_distance(a_rows, a_cols, lda);
  ldb = row_distance(b_rows, b_cols, ldb);
  ldc = row_distance(m, n, ldc);
  const bool fits = std::max({m, n, k}) <= std::numeric_limits<int>::max() &&
                    blas_takes(a_cols, lda) && blas_takes(b_cols, ldb) && blas_takes(n, ldc);
  if (!fits) return plain_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  const auto blas_op = [](Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; };
  const SingleThreadedBlas single_threaded;
  blas_gemm(blas_op(ta), blas_op(tb), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
            alpha, a, static_cast<int>(lda), b, static_cast<int>(ldb), beta, c,
            static_cast<int>(ldc));
}

template <class T>
void gemm(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
          const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  // The longer side of c is cut, at multiples of what the BLAS kernels compute at once. A thread
  // takes 2^18 multiplications or more, some 5 microseconds, or it is not worth waking.
  const bool by_rows = m >= n;
  const int64_t unit = by_rows ? 4 : 16;
  const int64_t units = (std::max(m, n) + unit - 1) / unit;
  const double unit_cost = static_cast<double>(unit) * static_cast<double>(std::min(m, n)) *
                           static_cast<double>(std::max<int64_t>(k, 1));
  const auto grain = static_cast<int64_t>(262144.0 / std::max(unit_cost, 1.0)) + 1;
  parallel_for(units, grain, [&](int64_t begin, int64_t end) {
    begin *= unit;
    end = std::min(end * unit, std::max(m, n));
    if (by_rows) {
      gemm_serial(ta, tb, end - begin, n, k, alpha, a + begin * (ta == Op::none ? lda : 1), lda, b,
                  ldb, beta, c + begin * ldc, ldc);
    } else {
      gemm_serial(ta, tb, m, end - begin, k, alpha, a, lda, b + begin * (tb == Op::none ? 1 : ldb),
                  ldb, beta, c + begin, ldc);
    }
  });
}

template <class T>
void gemm_batched(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                  std::span<const int64_t> a_offsets, const T* b, int64_t ldb,
                  std::span<const int64_t> b_offsets, T beta, T* c, int64_t ldc,
                  std::span<const int64_t> c_offsets) {
  const auto batch = static_cast<int64_t>(c_offsets.size());
  const auto product = [&](int64_t i, auto&& multiply) {
    const auto at = static_cast<size_t>(i);
    multiply(ta, tb, m, n, k, alpha, a + a_offsets[at], lda, b + b_offsets[at], ldb, beta,
             c + c_offsets[at], ldc);
  };
  if (batch < thread_count()) {
    for (int64_t i = 0; i < batch; ++i) product(i, gemm<T>);
    return;
  }
  const double cost = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto grain = static_cast<int64_t>(262144.0 / std::max(cost, 64.0)) + 1;
  parallel_for(batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) product(i, gemm_serial<T>);
  });
}

#define ATTOGRAD_INSTANTIATE(T)                                                                  \
  template void gemm_serial(Op, Op, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*,   \
                            int64_t, T, T*, int64_t);                                            \
  template void gemm(Op, Op, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*, int64_t, \
                     T, T*, int64_t);                                                            \
  template void gemm_batched(Op, Op, int64_t, int64_t, int64_t, T, const T*, int64_t,            \
                             std::span<const int64_t>, const T*, int64_t,                        \
                             std::span<const int64_t>, T, T*, int64_t, std::span<const int64_t>);
ATTOGRAD_INSTANTIATE(float)
ATTOGRAD_INSTANTIATE(double)
#undef ATTOGRAD_INSTANTIATE

}  // namespace attograd::kernels

#pragma once

#include <cstdint>
#include <span>

namespace attograd::kernels {

enum class Op { none, transpose };

/// c = alpha op(a) op(b) + beta c, all row-major.
/// Shapes  op(a) [m, k], op(b) [k, n], c [m, n]; as stored, a is [m, k] or, transposed, [k, m], and
///         b likewise; ld* is the distance between stored rows. c overlaps neither a nor b.
/// Sizes may be 0: k = 0 leaves beta c, and beta = 0 overwrites c whatever it holds, NaN included.
/// Row distances that BLAS refuses (shorter than the row, as in an expanded view, or beyond int)
/// work through slow plain loops.
/// Cost    OpenBLAS on thread_count() blocks of rows or columns, each on one thread: attograd's
///         threads are the only pool. Bit-equal for the same thread count on the same CPU.
template <class T>
void gemm(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
          const T* b, int64_t ldb, T beta, T* c, int64_t ldc);

/// The same product on the calling thread alone, for kernels that are parallel already.
template <class T>
void gemm_serial(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                 const T* b, int64_t ldb, T beta, T* c, int64_t ldc);

/// gemm on the matrices at a + a_offsets[i], b + b_offsets[i], c + c_offsets[i] for every i of the
/// batch. The three spans have one entry per product, so a broadcast operand repeats its offset; no
/// two products share a c.
template <class T>
void gemm_batched(Op ta, Op tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                  std::span<const int64_t> a_offsets, const T* b, int64_t ldb,
                  std::span<const int64_t> b_offsets, T beta, T* c, int64_t ldc,
                  std::span<const int64_t> c_offsets);

}  // namespace attograd::kernels

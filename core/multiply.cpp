#include <algorithm>

#include <attograd/core/kernels/blas.h>
#include <attograd/core/map.h>
#include <attograd/core/multiply.h>

namespace attograd {
namespace {

/// A batch of matrices as BLAS takes them: rows `ld` apart, or the transpose of such.
struct BlasOperand {
  Array x;
  kernels::Op op;
  int64_t ld;
};

/// x as it lies, if each matrix has an axis of neighbouring elements; otherwise a copy.
BlasOperand blas_operand(const Array& x) {
  const int row_axis = x.rank() - 2, col_axis = x.rank() - 1;
  const int64_t rows = x.shape()[row_axis], cols = x.shape()[col_axis];
  const int64_t down = x.strides()[row_axis], across = x.strides()[col_axis];
  if ((across == 1 || cols == 1) && (down >= cols || rows == 1))
    return {x, kernels::Op::none, std::max(down, cols)};
  if ((down == 1 || rows == 1) && (across >= rows || cols == 1))
    return {x, kernels::Op::transpose, std::max(across, rows)};
  return {x.copy(), kernels::Op::none, cols};
}

Shape batch_of(const Shape& matrices) {
  Shape batch = matrices;
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  return batch;
}

/// Where each matrix of x begins once the batch is broadcast to `batch`.
std::vector<int64_t> matrix_offsets(const Array& x, const Shape& batch) {
  const Array first = x.view(batch_of(x.shape()), batch_of(x.strides())).expand(batch, "matmul");
  std::vector<int64_t> offsets;
  const auto loop = strided_loop(first);
  loop.rows_between(0, loop.count(), [&](const auto& at, int64_t n, const auto& step) {
    for (int64_t i = 0; i < n; ++i) offsets.push_back(at[0] + i * step[0]);
  });
  return offsets;
}

/// c = a b + beta c.
void multiply(const Array& a, const Array& b, double beta, Array& c) {
  if (c.numel() == 0) return;  // whatever the number of matrices
  const Shape batch = batch_of(c.shape());
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const BlasOperand left = blas_operand(a), right = blas_operand(b);
  dispatch<Floating>("matmul", c.dtype(), [&]<class T>() {
    kernels::gemm_batched(left.op, right.op, m, n, k, T{1}, left.x.data<T>(), left.ld,
                          matrix_offsets(left.x, batch), right.x.data<T>(), right.ld,
                          matrix_offsets(right.x, batch), static_cast<T>(beta), c.mutable_data<T>(),
                          n, matrix_offsets(c, batch));
  });
}

}  // namespace

Array multiply(const Array& a, const Array& b) {
  Shape shape = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
  shape.append(a.dim(-2));
  shape.append(b.dim(-1));
  Array c(shape, a.dtype());
  multiply(a, b, 0, c);
  return c;
}

void multiply_add(const Array& a, const Array& b, Array& c) { multiply(a, b, 1, c); }

}  // namespace attograd

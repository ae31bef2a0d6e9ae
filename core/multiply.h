#pragma once

#include <attograd/core/array.h>

namespace attograd {

/// The product a b of batches of matrices.
/// Shapes  a [..., m, k], b [..., k, n] -> [..., m, n]; the leading axes broadcast
/// Cost    2 m n k operations per matrix; a and b go to BLAS as they lie, unless neither of their
///         last two axes is contiguous
Array multiply(const Array& a, const Array& b);

/// c += a b, for a contiguous c of the product's shape.
void multiply_add(const Array& a, const Array& b, Array& c);

}  // namespace attograd

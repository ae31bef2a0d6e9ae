#pragma once

#include <attograd/core/random.h>
#include <attograd/core/tensor.h>

namespace attograd {

/// Training (rng given): each element becomes 0 with probability p, the others x / (1 - p), so that
/// the mean stays (Srivastava et al. 2014). Evaluation (rng null), or p = 0: x itself.
/// Which elements are kept is a function of rng's next stream and the row-major index alone: the
/// same for any number of threads, and computed again in the backward pass instead of stored. p = 1
/// gives zeros.
/// Gradient  any order: g / (1 - p) where kept, exactly 0 elsewhere
/// Throws    ValueError unless 0 <= p <= 1; DTypeError unless f32 or f64
/// Cost      one pass, one in the backward pass
Tensor dropout(const Tensor& x, double p, Rng* rng);

}  // namespace attograd

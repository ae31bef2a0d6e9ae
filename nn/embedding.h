#pragma once

#include <attograd/core/ops.h>
#include <attograd/nn/init.h>

namespace attograd::nn {

/// A learned row for each id.   ids i64 [...] -> y [..., width]
struct Embedding {
  Tensor weight;  // [count, width]

  /// Rows begin normal with deviation 1, as PyTorch's do.
  /// Throws    ValueError unless count, width > 0
  Embedding(int64_t count, int64_t width, Rng& rng) {
    check<ValueError>(count > 0 && width > 0, "Embedding: sizes must be > 0, got count = ", count,
                      " and width = ", width);
    weight = init::normal({count, width}, 1, rng);
  }

  /// Throws    IndexError for an id outside [0, count)
  Tensor operator()(const Tensor& ids) const { return embedding(weight, ids); }

  void visit(auto&& v) { v("weight", weight); }
};

}  // namespace attograd::nn

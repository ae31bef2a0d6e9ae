#pragma once

#include <attograd/core/ops.h>
#include <attograd/nn/init.h>

namespace attograd::nn {

/// Sinusoidal positions (Vaswani et al. 2017, section 3.5), to be added to a sequence [..., T, C]:
///   y[t, 2i] = sin(t / 10000^(2i / C)),   y[t, 2i + 1] = cos(t / 10000^(2i / C))
/// An odd width ends with a sine. Constants, computed in f64.   -> [length, width]
/// Throws    ValueError unless length >= 0 and width > 0; DTypeError unless f32 or f64
Tensor sinusoid(int64_t length, int64_t width, DType dtype = DType::f32);

/// A learned row for each position (Gehring et al. 2017, section 3.1), to be added to a sequence
/// [..., T, C].   T -> [T, width]
struct LearnedPositions {
  Tensor weight;  // [longest, width]

  /// Rows begin normal with deviation 1, as an Embedding's do.
  /// Throws    ValueError unless longest, width > 0
  LearnedPositions(int64_t longest, int64_t width, Rng& rng);

  /// Throws    ShapeError unless 1 <= length <= longest
  Tensor operator()(int64_t length) const;

  void visit(auto&& v) { v("weight", weight); }
};

}  // namespace attograd::nn

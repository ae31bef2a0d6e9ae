#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

/// y = x W^T + b, for every vector along the last axis of x.
/// Shapes    x [..., in], weight [out, in], bias [out] or undefined (none) -> y [..., out]
/// Gradient  any order: dx = g W, dW = g^T x, db = the sum of g over all vectors
/// Throws    ShapeError, DTypeError (f32 or f64, one for all)
/// Cost      one matrix product, two in the backward pass; leading axes fold into rows without a
///           copy where x's layout allows it
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace attograd

#pragma once

#include <attograd/core/tensor.h>

namespace attograd {

/// erf is the definition; tanh is the approximation that GPT-2 was trained with. They differ by
/// less than 5e-4.
enum class GeluForm { erf, tanh };

/// Gaussian error linear unit (Hendrycks and Gimpel 2016), for any shape:
/// erf:   y = x / 2 (1 + erf(x / sqrt 2))
/// tanh:  y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
/// At -inf it is 0 with gradient 0.
/// Gradient  any order
/// Throws    DTypeError unless f32 or f64; ValueError for a number that was cast to a GeluForm
/// Cost      one pass, one in the backward pass
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::erf);

}  // namespace attograd

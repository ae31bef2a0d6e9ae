#pragma once

#include <functional>

#include <attograd/core/tensor.h>

namespace attograd {

// Activations for f32 and f64; ops/elementwise.h has what holds for all elementwise operations.

/// 1 / (1 + e^-x), stable for any x. Gradient: g y (1 - y).
Tensor sigmoid(const Tensor& x);
/// max(x, 0). Gradient: g where x > 0; 0 elsewhere, also at 0.
Tensor relu(const Tensor& x);
/// x where x > 0, slope x elsewhere. Gradient: g, slope g; slope g at 0.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// x where x > 0, alpha (e^x - 1) elsewhere (Clevert et al. 2016, eq. 15). Gradient: g, alpha g
/// e^x; alpha g at 0.
Tensor elu(const Tensor& x, double alpha = 1);
/// x gate(x), for a gate that is 0 below -1000 and 1 above 1000: there it is relu(x), so that
/// neither infinities nor overflow in the gate make NaN. Gradient: of any order.
Tensor gated(const Tensor& x, const std::function<Tensor(const Tensor&)>& gate);
/// x sigmoid(x) (Hendrycks and Gimpel 2016; swish); 0 at -inf.
Tensor silu(const Tensor& x);
/// log(1 + e^x), stable for any x. Gradient: g sigmoid(x).
Tensor softplus(const Tensor& x);

}  // namespace attograd

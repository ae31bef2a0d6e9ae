#pragma once

#include <attograd/core/tensor.h>

namespace attograd::optim {

/// The Euclidean norm of all gradients as one vector; absent ones are skipped, a tensor listed
/// twice counts once. It neither overflows nor vanishes where the squares would; of finite
/// gradients it is infinite only where f64 cannot hold it.
double gradient_norm(const Tensors& parameters);

/// Whether every number in every gradient is finite, which the norm may not be even so.
bool gradients_are_finite(const Tensors& parameters);

/// Scales all gradients by min(1, limit / (norm + 1e-6)), as PyTorch does (Pascanu et al. 2013,
/// algorithm 1), and returns the norm that they had. A factor of 1 changes no bit. A norm or factor
/// that a dtype cannot hold does not matter: that of finite gradients is clipped all the same.
/// Throws    NumericError, and scales nothing, if a gradient is NaN or infinite; ValueError unless
///           limit > 0
double clip_gradient_norm(const Tensors& parameters, double limit);

}  // namespace attograd::optim

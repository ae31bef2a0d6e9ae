#pragma once

#include <attograd/core/random.h>

// How parameters begin. Each function makes a new parameter: an f32 leaf that gathers gradients.
// Matrices are [out, in], as linear() takes them.
namespace attograd::nn::init {

Tensor zeros(const Shape& shape);
Tensor ones(const Shape& shape);
/// Uniform in [low, high].
Tensor uniform(const Shape& shape, double low, double high, Rng& rng);
/// Mean 0 and this standard deviation.
Tensor normal(const Shape& shape, double deviation, Rng& rng);

/// Uniform in +-1 / sqrt(fan_in), PyTorch's default for the weight and the bias of a linear map
/// that has fan_in inputs.
Tensor fan_in_uniform(const Shape& shape, int64_t fan_in, Rng& rng);
/// Uniform in +-sqrt(6 / (in + out)) (Glorot and Bengio 2010, equation 16).
Tensor xavier_uniform(int64_t out, int64_t in, Rng& rng);
/// Deviation sqrt(2 / (in + out)) (Glorot and Bengio 2010, equation 12).
Tensor xavier_normal(int64_t out, int64_t in, Rng& rng);
/// Uniform in +-sqrt(6 / in), for ReLU (He et al. 2015, equation 10).
Tensor kaiming_uniform(int64_t out, int64_t in, Rng& rng);
/// Deviation sqrt(2 / in), for ReLU (He et al. 2015, equation 10).
Tensor kaiming_normal(int64_t out, int64_t in, Rng& rng);

}  // namespace attograd::nn::init

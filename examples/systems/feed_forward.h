#pragma once

#include <attograd/nn/dropout.h>
#include <attograd/nn/layer_norm.h>
#include <attograd/nn/linear.h>

namespace attograd::systems {

/// System C, PositionwiseFeedForward: y = x + dropout(w_2(relu(w_1(layer_norm(x))))).
/// x [..., d_in] -> y [..., d_in]
struct PositionwiseFeedForward {
  nn::Linear w_1, w_2;
  nn::LayerNorm layer_norm;
  nn::Dropout dropout;

  PositionwiseFeedForward(int64_t d_in, int64_t d_hid, Rng& rng, double p = 0.1, double eps = 1e-6)
      : w_1(d_in, d_hid, rng), w_2(d_hid, d_in, rng), layer_norm(d_in, {.eps = eps}), dropout(p) {}

  Tensor operator()(const Tensor& x, Rng* rng = nullptr) const {
    return x + dropout(w_2(relu(w_1(layer_norm(x)))), rng);
  }

  void visit(auto&& v) {
    v("w_1", w_1);
    v("w_2", w_2);
    v("layer_norm", layer_norm);
  }
};

}  // namespace attograd::systems

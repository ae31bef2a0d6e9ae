#pragma once

#include <limits>
#include <optional>

#include <attograd/nn/activation.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/linear.h>

namespace attograd::nn {

struct FeedForwardOptions {
  int64_t width = 0;
  int64_t hidden = 0;  // 0: 4 width
  Activation activation = Activation::gelu;
  bool gated = false;  // multiplies by the activation of a third map: with silu, SwiGLU
  bool bias = true;
  double dropout = 0;  // of the hidden channels, before the map down
};

/// The position-wise network of a transformer (Vaswani et al. 2017, equation 2):
///   y = down(f(up(x)));   gated: y = down(f(gate(x)) up(x)) (Shazeer 2020, equation 6)
/// x [..., width] -> y [..., width]
struct FeedForward {
  FeedForwardOptions options;  // with the default filled in
  Linear up;                   // [hidden, width]
  std::optional<Linear> gate;  // [hidden, width]
  Linear down;                 // [width, hidden]
  Dropout dropout;

  /// Throws    ValueError unless width > 0 and hidden >= 0; for a probability outside [0, 1]
  FeedForward(const FeedForwardOptions& o, Rng& rng)
      : options(completed(o)),
        up(o.width, options.hidden, rng, {.bias = o.bias}),
        down(options.hidden, o.width, rng, {.bias = o.bias}),
        dropout(o.dropout) {
    if (o.gated) gate.emplace(o.width, options.hidden, rng, LinearOptions{.bias = o.bias});
  }

  /// Training passes a generator, for dropout.
  Tensor operator()(const Tensor& x, Rng* rng = nullptr) const {
    const Tensor h = up(x);  // [..., hidden]
    const Activation f = options.activation;
    return down(dropout(gate ? activate((*gate)(x), f) * h : activate(h, f), rng));
  }

  void visit(auto&& v) {
    v("up", up);
    v("gate", gate);
    v("down", down);
  }

 private:
  static FeedForwardOptions completed(FeedForwardOptions o) {
    constexpr int64_t kWidest = std::numeric_limits<int64_t>::max() / 4;
    check<ValueError>(0 < o.width && o.width <= kWidest && o.hidden >= 0,
                      "FeedForward: the width must be in [1, 2^61) and hidden >= 0, got width = ",
                      o.width, " and hidden = ", o.hidden);
    if (o.hidden == 0) o.hidden = 4 * o.width;
    return o;
  }
};

}  // namespace attograd::nn

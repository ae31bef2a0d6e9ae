#pragma once

#include <limits>
#include <optional>

#include <attograd/nn/activation.h>
#include <attograd/nn/dropout.h>
#include <attograd/nn/linear.h>

namespace attograd::nn {

struct FeedForwardOptions {
  int64_t d_model = 0;
  int64_t d_ff = 0;  // 0: 4 d_model
  Activation activation = Activation::gelu;
  bool gated = false;  // multiplies by the activation of a third map: with silu, SwiGLU
  bool bias = true;
  double dropout = 0;  // of the hidden channels, before the map down
};

/// The position-wise network of a transformer (Vaswani et al. 2017, equation 2):
///   y = down(f(up(x)));   gated: y = down(f(gate(x)) up(x)) (Shazeer 2020, equation 6)
/// x [..., d_model] -> y [..., d_model]
struct FeedForward {
  FeedForwardOptions options;  // with the default filled in
  Linear up;                   // [d_ff, d_model]
  std::optional<Linear> gate;  // [d_ff, d_model]
  Linear down;                 // [d_model, d_ff]
  Dropout dropout;

  /// Throws    ValueError unless d_model > 0 and d_ff >= 0; for a probability outside [0, 1]
  FeedForward(const FeedForwardOptions& o, Rng& rng)
      : options(completed(o)),
        up(o.d_model, options.d_ff, rng, {.bias = o.bias}),
        down(options.d_ff, o.d_model, rng, {.bias = o.bias}),
        dropout(o.dropout) {
    if (o.gated) gate.emplace(o.d_model, options.d_ff, rng, LinearOptions{.bias = o.bias});
  }

  /// Training passes a generator, for dropout.
  Tensor operator()(const Tensor& x, Rng* rng = nullptr) const {
    const Tensor h = up(x);  // [..., d_ff]
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
    check<ValueError>(0 < o.d_model && o.d_model <= kWidest && o.d_ff >= 0,
                      "FeedForward: d_model must be in [1, 2^61) and d_ff >= 0, got d_model = ",
                      o.d_model, " and d_ff = ", o.d_ff);
    if (o.d_ff == 0) o.d_ff = 4 * o.d_model;
    return o;
  }
};

}  // namespace attograd::nn

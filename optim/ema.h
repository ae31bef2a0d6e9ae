#pragma once

#include <attograd/core/named_tensors.h>

namespace attograd::optim {

/// The exponential moving average of weights (Polyak and Juditsky 1992 average them evenly;
/// Tarvainen and Valpola 2017, equation 1, like this):
///   average = decay average + (1 - decay) w
/// It begins at the weights as they are when it is made, so it needs no bias correction. Loading a
/// model from it is nn::load_state(model, ema.averages()). It is moved, never copied: a copy would
/// share the averages, but not whether they are swapped.
class Ema {
 public:
  /// Throws    ValueError unless 0 <= decay <= 1, and for what no optimizer takes as parameters
  Ema(const NamedTensors& parameters, double decay);
  Ema(const Tensors& parameters, double decay);
  Ema(Ema&&) noexcept = default;
  Ema& operator=(Ema&&) noexcept = default;

  /// Takes in the weights. To be called after each step of the optimizer. A decay of 0 copies them
  /// and one of 1 leaves the averages, to the bit and also where one is infinite.
  /// Throws    ValueError while swapped
  void update();

  /// Exchanges weights and averages, to evaluate or save the model with the averages; a second call
  /// gives each its own back, to the bit.
  void swap();
  bool swapped() const { return swapped_; }

  /// The averages under the names of their parameters: handles of the live tensors, which the next
  /// update overwrites.
  /// Throws    ValueError while swapped
  NamedTensors averages() const;
  /// Continues from such averages, bit for bit.
  /// Throws    FormatError as load() does, and for averages that are not finite in the dtype of
  ///           their parameters: no decay but 0 ever mends one; ValueError while swapped
  LoadReport load_averages(const NamedTensors& averages, const LoadOptions& how = {});

 private:
  void check_not_swapped(const char* act) const;

  NamedTensors parameters_;
  NamedTensors averages_;
  double decay_;
  bool swapped_ = false;
};

}  // namespace attograd::optim

#include <attograd/core/ops.h>
#include <attograd/optim/sgd.h>

namespace attograd::optim {

void check_options(const SgdOptions& options) {
  check_not_negative(
      SgdOptions::kName,
      {{"lr", options.lr}, {"momentum", options.momentum}, {"weight_decay", options.weight_decay}});
  check<ValueError>(!options.nesterov || options.momentum > 0,
                    "sgd: nesterov needs a momentum > 0, got ", options.momentum);
}

void update(const SgdOptions& options, SgdState& state, Tensor& w, const Tensor& g) {
  const Tensor decayed = options.weight_decay == 0 ? g : g + options.weight_decay * w;
  Tensor direction = decayed;
  if (options.momentum != 0) {
    Tensor& b = state.momentum_buffer;
    b.assign(options.momentum * b + decayed);
    direction = options.nesterov ? decayed + options.momentum * b : b;
  }
  w.assign(w - options.lr * direction);
}

}  // namespace attograd::optim

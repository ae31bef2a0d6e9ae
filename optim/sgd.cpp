#include <attograd/core/ops.h>
#include <attograd/optim/sgd.h>

namespace attograd::optim {

void check_options(const SgdOptions& options, DType narrowest) {
  check_not_negative(SgdOptions::kName, narrowest,
                     {{"lr", options.lr},
                      {"momentum", options.momentum},
                      {"dampening", options.dampening},
                      {"weight_decay", options.weight_decay}});
  check<ValueError>(options.dampening <= 1, "sgd: dampening must be <= 1, got ", options.dampening);
  check<ValueError>(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
                    "sgd: nesterov needs a momentum > 0 and no dampening, got momentum ",
                    options.momentum, " and dampening ", options.dampening);
}

void update(const SgdOptions& options, SgdState& state, Tensor& w, const Tensor& g) {
  const Tensor decayed = options.weight_decay == 0 ? g : g + options.weight_decay * w;
  Tensor direction = decayed;
  if (options.momentum != 0) {
    Tensor& b = state.momentum_buffer;
    const bool first = (*state.step.mutable_data<int64_t>())++ == 0;
    b.assign(first ? decayed : options.momentum * b + (1 - options.dampening) * decayed);
    direction = options.nesterov ? decayed + options.momentum * b : b;
  }
  w.assign(w - options.lr * direction);
}

}  // namespace attograd::optim

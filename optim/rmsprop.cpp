#include <attograd/core/ops.h>
#include <attograd/optim/rmsprop.h>

namespace attograd::optim {

void check_options(const RmspropOptions& options, DType narrowest) {
  check_not_negative(RmspropOptions::kName, narrowest,
                     {{"lr", options.lr},
                      {"alpha", options.alpha},
                      {"momentum", options.momentum},
                      {"weight_decay", options.weight_decay}});
  check_eps(RmspropOptions::kName, narrowest, options.eps);
  check<ValueError>(options.alpha < 1, "rmsprop: alpha must be < 1, got ", options.alpha);
}

void update(const RmspropOptions& options, RmspropState& state, Tensor& w, const Tensor& g) {
  const double alpha = options.alpha;
  const Tensor decayed = options.weight_decay == 0 ? g : g + options.weight_decay * w;
  Tensor& v = state.square_avg;
  v.assign(alpha * v + (1 - alpha) * square(decayed));
  Tensor r = v;
  if (options.centered) {
    Tensor& a = state.grad_avg;
    a.assign(alpha * a + (1 - alpha) * decayed);
    r = maximum(v - square(a), 0);
  }
  Tensor direction = decayed / (sqrt(r) + options.eps);
  if (options.momentum != 0) {
    Tensor& b = state.momentum_buffer;
    b.assign(options.momentum * b + direction);
    direction = b;
  }
  w.assign(w - options.lr * direction);
}

}  // namespace attograd::optim

#include <attograd/core/kernels/adamw.h>
#include <attograd/optim/adamw.h>

namespace attograd::optim {

void check_options(const AdamWOptions& options) {
  check_not_negative(AdamWOptions::kName, {{"lr", options.lr},
                                           {"beta1", options.beta1},
                                           {"beta2", options.beta2},
                                           {"eps", options.eps},
                                           {"weight_decay", options.weight_decay}});
  check<ValueError>(options.beta1 < 1 && options.beta2 < 1, "adamw: betas must be < 1, got beta1 ",
                    options.beta1, " and beta2 ", options.beta2);
}

void update(const AdamWOptions& options, AdamWState& state, Tensor& w, const Tensor& g) {
  const int64_t step = ++*state.step.mutable_data<int64_t>();
  const Array gradient = g.array().contiguous();
  Array weights = w.array().contiguous();  // w's own memory, unless w is strided
  dispatch<Floating>("adamw", w.dtype(), [&]<class T>() {
    kernels::adamw(w.numel(),
                   {.lr = options.lr,
                    .beta1 = options.beta1,
                    .beta2 = options.beta2,
                    .eps = options.eps,
                    .weight_decay = options.weight_decay,
                    .step = step},
                   gradient.data<T>(), weights.mutable_data<T>(), state.exp_avg.mutable_data<T>(),
                   state.exp_avg_sq.mutable_data<T>());
  });
  if (!weights.shares_storage_with(w.array())) w.assign(Tensor(weights));
}

}  // namespace attograd::optim

#include <attograd/core/kernels/adamw.h>
#include <attograd/core/ops.h>
#include <attograd/optim/adam.h>

namespace attograd::optim {
namespace {

template <class Options>
void check_adam(const Options& options, DType dtype) {
  check_not_negative(Options::kName, dtype,
                     {{"lr", options.lr},
                      {"beta1", options.beta1},
                      {"beta2", options.beta2},
                      {"weight_decay", options.weight_decay}});
  check_eps(Options::kName, dtype, options.eps);
  check<ValueError>(options.beta1 < 1 && options.beta2 < 1, Options::kName,
                    ": betas must be < 1, got beta1 ", options.beta1, " and beta2 ", options.beta2);
  check_not_negative(Options::kName, dtype,
                     {{"lr / (1 - beta1)", options.lr / (1 - options.beta1)}});
}

}  // namespace

void check_options(const AdamOptions& options, DType narrowest) { check_adam(options, narrowest); }
void check_options(const AdamWOptions& options, DType narrowest) {
  check_adam(options, narrowest);
  check_not_negative(AdamWOptions::kName, narrowest,
                     {{"lr weight_decay", options.lr * options.weight_decay}});
}

void update(const AdamOptions& options, AdamState& state, Tensor& w, const Tensor& g) {
  const AdamWOptions without_decay{.lr = options.lr,
                                   .beta1 = options.beta1,
                                   .beta2 = options.beta2,
                                   .eps = options.eps,
                                   .weight_decay = 0};
  update(without_decay, state, w, options.weight_decay == 0 ? g : g + options.weight_decay * w);
}

void update(const AdamWOptions& options, AdamState& state, Tensor& w, const Tensor& g) {
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

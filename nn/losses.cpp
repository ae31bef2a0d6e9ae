#include <attograd/core/ops.h>
#include <attograd/nn/losses.h>

namespace attograd::nn {
namespace {

void check_pair(const char* loss, const char* name, const Tensor& prediction,
                const Tensor& target) {
  check<DTypeError>(is_floating(prediction.dtype()) && prediction.dtype() == target.dtype(), loss,
                    ": ", name, " and target must both be f32 or both f64, got ", name, " = ",
                    signature(prediction), ", target = ", signature(target),
                    "; convert with cast(x, DType::f32)");
  check<ShapeError>(prediction.shape() == target.shape(), loss, ": ", name,
                    " and target must have one shape, got ", name, " = ", signature(prediction),
                    ", target = ", signature(target), "; broadcast with expand if that is meant");
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_pair("mse_loss", "prediction", prediction, target);
  return reduce_losses("mse_loss", square(prediction - target), reduction, target.numel());
}

Tensor bce_with_logits(const Tensor& logits, const Tensor& target, const BceOptions& options) {
  check_pair("bce_with_logits", "logits", logits, target);
  Tensor yes = target * softplus(-logits);
  if (const Tensor& w = options.pos_weight; w.defined()) {
    const bool fits =
        w.rank() == 0 || (w.rank() == 1 && logits.rank() > 0 && w.dim(0) == logits.dim(-1));
    check<ShapeError>(fits, "bce_with_logits: pos_weight must be [] or [C], got pos_weight = ",
                      signature(w), ", logits = ", signature(logits));
    check<DTypeError>(w.dtype() == logits.dtype(),
                      "bce_with_logits: pos_weight must have the dtype of the logits, got ",
                      "pos_weight = ", signature(w), ", logits = ", signature(logits));
    yes = w * yes;
  }
  const Tensor no = (1 - target) * softplus(logits);
  return reduce_losses("bce_with_logits", yes + no, options.reduction, target.numel());
}

Tensor kl_divergence(const Tensor& log_p, const Tensor& target, Reduction reduction) {
  check_pair("kl_divergence", "log_p", log_p, target);
  check<ShapeError>(target.rank() > 0,
                    "kl_divergence: log_p and target must be [..., V], got both ",
                    signature(target));
  const Tensor absent = equal(target, 0);
  const Tensor t = masked_fill(target, absent, 1);  // 1 (log 1 - 0) = 0
  const Tensor terms = t * (log(t) - masked_fill(log_p, absent, 0));
  const Tensor losses = sum(terms, -1);  // [...]
  return reduce_losses("kl_divergence", losses, reduction, losses.numel());
}

}  // namespace attograd::nn

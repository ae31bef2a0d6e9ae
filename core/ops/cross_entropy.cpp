#include <algorithm>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/cross_entropy.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

void check_cross_entropy(const Tensor& logits, const Tensor& targets,
                         const CrossEntropyOptions& options) {
  check<ValueError>(options.label_smoothing >= 0 && options.label_smoothing <= 1,
                    "cross_entropy: label_smoothing must be in [0, 1], got ",
                    options.label_smoothing);
  check<DTypeError>(is_floating(logits.dtype()) && targets.dtype() == DType::i64,
                    "cross_entropy: logits must be f32 or f64 and targets i64 class ids, got ",
                    "logits = ", signature(logits), ", targets = ", signature(targets));
  Shape expected = logits.shape();
  if (expected.rank() > 0) expected.erase(expected.rank() - 1);
  check<ShapeError>(logits.rank() > 0 && targets.shape() == expected,
                    "cross_entropy: logits must be [..., V] and targets [...], got logits = ",
                    signature(logits), ", targets = ", signature(targets));
}

/// How many targets count. Throws IndexError for one that is no class.
int64_t count_targets(const Array& targets, int64_t classes, int64_t ignore_index) {
  const Array row_major = targets.contiguous();
  const int64_t *first = row_major.data<int64_t>(), *last = first + targets.numel();
  const auto is_bad = [&](int64_t id) { return id != ignore_index && (id < 0 || id >= classes); };
  const int64_t* bad = std::find_if(first, last, is_bad);
  check<IndexError>(bad == last, "cross_entropy: a target must be in [0, ", classes,
                    "), the number of classes, or the ignored ", ignore_index, ", got ",
                    bad == last ? 0 : *bad, " at place ", bad - first);
  return targets.numel() - std::count(first, last, ignore_index);
}

/// The loss of every row, and what its derivative needs.
struct RowLosses {
  Array loss, logsumexp;  // [...]
};

RowLosses row_losses(const Array& logits, const Array& targets, int64_t ignore_index,
                     double smoothing) {
  RowLosses y = {Array(targets.shape(), logits.dtype()), Array(targets.shape(), logits.dtype())};
  const Array x = logits.contiguous(), ids = targets.contiguous();
  dispatch<Floating>("cross_entropy", x.dtype(), [&]<class T>() {
    kernels::cross_entropy(targets.numel(), x.dim(-1), x.data<T>(), ids.data<int64_t>(),
                           ignore_index, smoothing, y.loss.mutable_data<T>(),
                           y.logsumexp.mutable_data<T>());
  });
  return y;
}

Array logits_gradient(const KernelArguments& a, int64_t ignore_index, double smoothing) {
  const Array g = a.g.contiguous(), x = a.x[0].contiguous(), ids = a.x[1].contiguous();
  Array dx(x.shape(), x.dtype());
  dispatch<Floating>("cross_entropy", x.dtype(), [&]<class T>() {
    kernels::cross_entropy_vjp(ids.numel(), x.dim(-1), g.data<T>(), x.data<T>(),
                               ids.data<int64_t>(), ignore_index, smoothing, a.saved[0].data<T>(),
                               dx.mutable_data<T>());
  });
  return dx;
}

/// The definition, for every row.
Tensor defined_losses(const Tensor& logits, const Tensor& targets, int64_t ignore_index, double s) {
  const Tensor ignored = equal(targets, from_values({}, std::vector{ignore_index}));
  const Tensor classes = unsqueeze(masked_fill(targets, ignored, 0), -1);
  const Tensor log_p = log_softmax(masked_fill(logits, unsqueeze(ignored, -1), 0));
  Tensor loss = -(1 - s) * squeeze(gather(log_p, -1, classes), -1);
  if (s > 0) loss = loss - s * mean(log_p, -1);
  return masked_fill(loss, ignored, 0);
}

}  // namespace

Tensor reduce_losses(std::string_view loss, const Tensor& losses, Reduction reduction,
                     int64_t count) {
  switch (reduction) {
    case Reduction::mean:
      // mean() divides before the sum is rounded: it does not overflow.
      if (count == losses.numel() && count > 0) return mean(losses);
      return sum(losses) / static_cast<double>(std::max<int64_t>(count, 1));
    case Reduction::sum:
      return sum(losses);
    case Reduction::none:
      return losses;
  }
  fail<ValueError>(loss, ": no such reduction, got ", static_cast<int>(reduction));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  check_cross_entropy(logits, targets, options);
  const int64_t ignored = options.ignore_index;
  const double smoothing = options.label_smoothing;
  const int64_t count = count_targets(targets.array(), logits.dim(-1), ignored);
  const RowLosses rows = row_losses(logits.array(), targets.array(), ignored, smoothing);
  const Tensor losses = record(Fused{
      .name = "cross_entropy",
      .inputs = {logits, targets},
      .value = rows.loss,
      .saved = {rows.logsumexp},
      .reference =
          [ignored, smoothing](const Tensors& in) {
            return defined_losses(in[0], in[1], ignored, smoothing);
          },
      .vjp_kernel = [ignored, smoothing](const KernelArguments& a) -> Arrays {
        return {logits_gradient(a, ignored, smoothing), Array()};
      },
  });
  return reduce_losses("cross_entropy", losses, options.reduction, count);
}

}  // namespace attograd

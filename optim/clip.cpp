#include <cmath>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/accumulate.h>
#include <attograd/core/named_tensors.h>
#include <attograd/core/ops.h>
#include <attograd/optim/clip.h>

namespace attograd::optim {
namespace {

double norm_of(const Tensor& x) {
  const Array row_major = x.array().contiguous();
  const double squares = dispatch<Floating>("gradient_norm", x.dtype(), [&]<class T>() {
    return kernels::sum_of_squares(x.numel(), row_major.data<T>());
  });
  if (std::isnormal(squares) || x.numel() == 0) return std::sqrt(squares);
  // All is 0, or some square overflowed or vanished, or some entry is NaN or infinite.
  const double largest = max(abs(x)).item();
  if (largest == 0 || !std::isfinite(largest)) return largest;
  return largest * std::sqrt(sum(square(x / largest)).item());
}

}  // namespace

double gradient_norm(const Tensors& parameters) {
  const NoGrad numbers_only;
  double norm = 0;
  for (const Tensor& w : distinct(parameters))
    if (const Tensor g = w.grad(); g.defined()) norm = std::hypot(norm, norm_of(g));
  return norm;
}

double clip_gradient_norm(const Tensors& parameters, double limit) {
  check<ValueError>(limit > 0, "clip_gradient_norm: the limit must be > 0, got ", limit);
  const double norm = gradient_norm(parameters);
  check<NumericError>(std::isfinite(norm), "clip_gradient_norm: the norm of all gradients must be ",
                      "finite, got ", norm, "; gradients are as they were");
  const double factor = limit / (norm + 1e-6);
  if (factor >= 1) return norm;
  const NoGrad numbers_only;
  for (Tensor w : distinct(parameters))
    if (const Tensor g = w.grad(); g.defined()) w.set_grad(g * factor);
  return norm;
}

}  // namespace attograd::optim

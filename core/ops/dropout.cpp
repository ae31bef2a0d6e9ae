#include <attograd/core/graph.h>
#include <attograd/core/kernels/dropout.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

/// x / (1 - p) where the stream keeps an element, else 0: the value, and the gradient with g for x.
Array dropped(const Array& x, double p, RandomStream stream) {
  const Array in = x.contiguous();
  Array y(x.shape(), x.dtype());
  dispatch<Floating>("dropout", x.dtype(), [&]<class T>() {
    kernels::dropout(x.numel(), p, stream.seed, stream.counter, in.data<T>(), y.mutable_data<T>());
  });
  return y;
}

}  // namespace

Tensor dropout(const Tensor& x, double p, Rng* rng) {
  check<ValueError>(p >= 0 && p <= 1, "dropout: the probability p must be in [0, 1], got ", p);
  check<DTypeError>(is_floating(x.dtype()), "dropout: x must be f32 or f64, got ", signature(x));
  if (!rng || p == 0) return x;
  const RandomStream stream = rng->next_stream();
  return record(Fused{
      .name = "dropout",
      .inputs = {x},
      .value = dropped(x.array(), p, stream),
      .reference =
          [p, stream](const Tensors& in) {
            const Array ones = Array::filled(in[0].shape(), in[0].dtype(), 1);
            const Tensor factors(dropped(ones, p, stream));  // 1 / (1 - p) or 0
            return where(factors > 0, in[0] * factors, 0);
          },
      .vjp_kernel = [p, stream](const KernelArguments& a) -> Arrays {
        return {dropped(a.g, p, stream)};
      },
  });
}

}  // namespace attograd

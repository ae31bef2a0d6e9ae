#include <cmath>

#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

using namespace attograd;

namespace {

Tensor leaf(double value) { return tensor(value, DType::f64).set_requires_grad(); }
Tensor squared(const Tensor& x) { return x * x; }

}  // namespace

TEST_CASE("a cube has four derivatives") {
  const Tensor x = leaf(2);
  Tensor y = x * x * x;
  for (const double expected : {12.0, 12.0, 6.0}) {
    y = grad({y}, {x}, {.create_graph = true})[0];
    CHECK(y.item() == expected);
  }
  const Tensors fourth = grad({y}, {x}, {.create_graph = true, .allow_unused = true});
  CHECK((!fourth[0].defined() || fourth[0].item() == 0));
}

TEST_CASE("derivatives of exp and tanh to order four") {
  const double at = 0.3;
  const double t = std::tanh(at), s = 1 - t * t;
  const std::vector<double> of_tanh = {s, -2 * t * s, s * (4 * t * t - 2 * s),
                                       8 * t * s * (2 * s - t * t)};
  const Tensor x = leaf(at);
  Tensor e = exp(x);
  Tensor y = tanh(x);
  for (const double expected : of_tanh) {
    e = grad({e}, {x}, {.create_graph = true})[0];
    y = grad({y}, {x}, {.create_graph = true})[0];
    CHECK(e.item() == doctest::Approx(std::exp(at)).epsilon(1e-14));
    CHECK(y.item() == doctest::Approx(expected).epsilon(1e-13));
  }
}

TEST_CASE("mixed derivatives by grad and by accumulating passes") {
  const Tensor a = leaf(1.5), x = leaf(2);
  const Tensor dx = grad({squared(a * x)}, {x}, {.create_graph = true})[0];
  CHECK(dx.item() == 9);
  CHECK(grad({dx}, {a})[0].item() == 12);

  backward(squared(a * x), {}, {.create_graph = true});
  const Tensor first = x.grad();
  CHECK(first.item() == 9);
  backward(first);
  CHECK(a.grad().item() == 24);  // 12 from the first pass, and 12 from the second
  for (Tensor t : {a, x}) t.clear_grad();
}

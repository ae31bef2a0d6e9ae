#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/nn/module.h>
#include <attograd/optim/adam.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/sgd.h>

// What users of other libraries were hurt by: the right numbers, from PyTorch 1.13 in float64 and
// from the formulas, with 10 digits or exact.
namespace attograd::optim {
namespace {

constexpr double kTolerance = 1e-9;

Tensor parameter(double value) { return tensor(value, DType::f64).set_requires_grad(); }

/// The values of one parameter after each gradient.
template <class Optimizer, class Options>
std::vector<double> trace(double start, const Options& options,
                          const std::vector<double>& gradients) {
  Tensor w = parameter(start);
  Optimizer optimizer(Tensors{w}, options);
  std::vector<double> values;
  for (double g : gradients) {
    w.set_grad(tensor(g, DType::f64));
    optimizer.step();
    values.push_back(w.item());
  }
  return values;
}

void check_close(const std::vector<double>& got, const std::vector<double>& right) {
  REQUIRE(got.size() == right.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - right[i]) <= kTolerance * std::abs(right[i]));
  }
}

TEST_CASE("OPT-01 the epsilon of Adam stands outside the root and the bias correction") {
  // lr m / (sqrt(v) + eps) with m = g and v = g^2 after the correction
  check_close(trace<Adam>(0, AdamOptions{.lr = 0.1}, {1e-3}), {-0.1 * 1e-3 / (1e-3 + 1e-8)});
  check_close(trace<Adam>(0, AdamOptions{.lr = 0.1}, {1e-10}), {-0.1 * 1e-10 / (1e-10 + 1e-8)});
  CHECK(trace<Adam>(0, AdamOptions{.lr = 0.1}, {1e-3})[0] ==
        doctest::Approx(-0.0999990000).epsilon(1e-9));
  CHECK(trace<Adam>(0, AdamOptions{.lr = 0.1}, {1e-10})[0] ==
        doctest::Approx(-9.900990e-04).epsilon(1e-7));
  const AdamWOptions no_decay{.lr = 0.1, .weight_decay = 0};
  CHECK(trace<AdamW>(0, no_decay, {1e-10}) == trace<Adam>(0, AdamOptions{.lr = 0.1}, {1e-10}));
}

TEST_CASE("OPT-02 Adam counts its steps from 1 and corrects both moments") {
  check_close(trace<Adam>(1, AdamOptions{.lr = 0.1}, {1, -0.5, 0.25}),
              {0.900000001, 0.8733662967, 0.8393233830});
}

TEST_CASE("OPT-03 AdamW decays the weights and Adam the gradients") {
  const AdamWOptions decoupled{.lr = 0.1, .weight_decay = 0.5};
  check_close(trace<AdamW>(2, decoupled, {0.3, 0.3}), {1.8000000033, 1.6100000065});
  CHECK(trace<AdamW>(2, decoupled, {0}) == std::vector<double>{1.9});
  const AdamOptions coupled{.lr = 0.1, .weight_decay = 0.5};
  check_close(trace<Adam>(2, coupled, {0.3, 0.3}), {1.900000001, 1.800121419});
}

TEST_CASE("OPT-05 a parameter without gradient is untouched and one of gradient zero moves on") {
  Tensor w = parameter(2);
  AdamW adamw(Tensors{w}, {.lr = 0.1, .weight_decay = 0.5});
  adamw.step();
  CHECK(w.item() == 2);
  for (const auto& [name, tensor] : adamw.state()) CHECK(tensor.item() == 0);
  w.set_grad(tensor(0, DType::f64));
  adamw.step();
  CHECK(w.item() == 1.9);
  CHECK(adamw.state()[0].second.item() == 1);  // steps

  const SgdOptions momentum{.lr = 0.1, .momentum = 0.9};
  check_close(trace<Sgd>(1, momentum, {1, 0}), {0.9, 0.81});
  Tensor p = parameter(1);
  Sgd sgd(Tensors{p}, momentum);
  p.set_grad(tensor(1, DType::f64));
  sgd.step();
  sgd.clear_gradients();  // makes them absent
  sgd.step();
  CHECK(p.item() == 0.9);
}

struct Tied {
  Tensor embedding, head;
  void visit(auto&& v) {
    v("embedding", embedding);
    v("head", head);
  }
};

TEST_CASE("OPT-07 a tensor under two names is counted and stepped and clipped once") {
  const Tensor w = parameter(1);
  const Tied model{w, w};
  CHECK(nn::count_parameters(model) == 1);
  CHECK(nn::parameters(model).size() == 1);
  const auto stepped = [&](Sgd sgd) {
    Tensor(w).assign(tensor(1, DType::f64));
    Tensor(w).set_grad(tensor(1, DType::f64));
    sgd.step();
    return w.item();
  };
  CHECK(stepped(Sgd(nn::named_parameters(model), {.lr = 0.1})) == 0.9);
  CHECK(stepped(Sgd(Tensors{w, w}, {.lr = 0.1})) == 0.9);  // listed by hand
  CHECK(stepped(Sgd(NamedTensors{{"embedding", w}, {"head", w}}, {.lr = 0.1})) == 0.9);
  CHECK(gradient_norm({w, w}) == 1);
  CHECK(clip_gradient_norm({w, w}, 0.5) == 1);
  CHECK(w.grad().item() == doctest::Approx(0.5).epsilon(2e-6));
}

}  // namespace
}  // namespace attograd::optim

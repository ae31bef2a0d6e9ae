#include <sstream>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/ops.h>
#include <attograd/nn/gradcheck.h>
#include <attograd/nn/linear.h>

namespace attograd::nn {
namespace {

Tensor random(const Shape& shape) {
  Rng rng(1);
  return randn(shape, rng);
}

Linear map() {
  Rng rng(5);
  return Linear(3, 2, rng);
}

TEST_CASE("a module is checked at f64 copies of its inputs and parameters") {
  const Linear module = map();
  const Tensor x = random({4, 3});
  const GradcheckReport report = gradcheck(module, {x});
  CHECK(report.ok());
  REQUIRE(report.inputs.size() == 3);
  CHECK(report.inputs[0].name == "input 0 f64[4, 3]");
  CHECK(report.inputs[1].name == "weight f64[2, 3]");
  CHECK(report.inputs[2].name == "bias f64[2]");
  CHECK(report.inputs[0].entries.size() == 12);
  CHECK(report.inputs[1].entries.size() == 6);
  CHECK(gradgradcheck(module, {x}).ok());
  CHECK_FALSE(x.requires_grad());
  CHECK(module.weight.dtype() == DType::f32);
  CHECK_FALSE(module.weight.grad().defined());
}

/// x scale, whose rule for the scale forgets a factor 2.
struct Doubling {
  Tensor scale = init::ones({3});

  Tensor operator()(const Tensor& x) const {
    return record({.name = user_op("doubling"),
                   .inputs = {x, scale},
                   .value = (detach(x) * detach(scale) * 2).array(),
                   .vjp = {[](const Tensor& g, const Tensors& in) { return g * in[1] * 2; },
                           [](const Tensor& g, const Tensors& in) { return sum(g * in[0], 0); }}});
  }
  void visit(auto&& v) { v("scale", scale); }
};

TEST_CASE("a wrong rule of a parameter is found under its name") {
  const GradcheckReport report = gradcheck(Doubling(), {random({4, 3})});
  CHECK(report.verdict() == Verdict::fail);
  CHECK(report.inputs[0].count(Verdict::fail) == 0);
  CHECK(report.inputs[1].name == "scale f64[3]");
  CHECK(report.inputs[1].count(Verdict::fail) == 3);
}

TEST_CASE("a frozen parameter and ids are constants") {
  Linear module = map();
  module.bias.set_requires_grad(false);
  const auto call = [](const Linear& m, const Tensors& x) {
    return m(x[0]) * cast(x[1], DType::f64);
  };
  const Tensor factors = from_values({2}, std::vector<int64_t>{2, 3});
  const GradcheckReport report = gradcheck(module, call, {random({4, 3}), factors});
  CHECK(report.ok());
  CHECK(report.inputs[1].entries.empty());
  CHECK(report.inputs[2].entries.size() == 6);
  CHECK(report.inputs[3].entries.empty());
}

}  // namespace
}  // namespace attograd::nn

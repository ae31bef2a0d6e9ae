#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>
#include <tests/nn/module_cases.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::nn {
namespace {

Tensors inputs_of(const ModuleCase& c, DType dtype = DType::f32) {
  Tensors x;
  for (const op_cases::Input& input : c.inputs) {
    const Tensor made = input.make(input.shape, 11 + x.size());
    x.push_back(input.is_floating ? Tensor(made.array().cast(dtype)) : made);
  }
  return x;
}

std::vector<double> numbers_of(const Tensor& x) { return op_cases::numbers(x).values; }

/// Biases at 0 and norms at 1 hide mistakes: moves every parameter off its start.
AnyModule scattered(const ModuleCase& c) {
  Rng rng(5);
  AnyModule module = c.make(rng);
  for (auto [name, w] : module.parameters()) w.assign(w + 0.3 * randn(w.shape(), rng));
  return module;
}

void for_each_case(const std::function<void(const ModuleCase&)>& f) {
  for (const ModuleCase& c : module_cases()) {
    SUBCASE(c.name.c_str()) { f(c); }
  }
}

TEST_CASE("a module has the parameters of its row and maps to the shape of its row") {
  for_each_case([](const ModuleCase& c) {
    Rng rng(5);
    const AnyModule module = c.make(rng);
    std::vector<std::string> names;
    int64_t count = 0;
    for (const auto& [name, w] : module.parameters()) {
      std::ostringstream text;
      text << name << w.shape();
      names.push_back(text.str());
      count += w.numel();
      CHECK(w.requires_grad());
      CHECK(w.dtype() == DType::f32);
    }
    CHECK(names == c.parameters);
    CHECK(count == c.count);
    const Tensor y = module.call(inputs_of(c), nullptr);
    CHECK(y.shape() == c.output);
    CHECK(y.dtype() == DType::f32);
  });
}

TEST_CASE("every parameter receives a gradient that is finite and not all zero") {
  for_each_case([](const ModuleCase& c) {
    const AnyModule module = scattered(c);
    const Tensor y = module.call(inputs_of(c), nullptr);
    if (module.parameters().empty()) return;
    Rng rng(8);
    backward(y, randn(y.shape(), rng));
    for (const auto& named : module.parameters()) {
      const std::string& name = named.first;
      const Tensor g = named.second.grad();
      CAPTURE(name);
      REQUIRE(g.defined());
      double largest = 0;
      for (const double v : numbers_of(g)) {
        CHECK(std::isfinite(v));
        largest = std::max(largest, std::abs(v));
      }
      // The key's bias adds the same to all scores of a row: its gradient is 0 but for rounding.
      CHECK((largest > 0 || name.ends_with("key.bias")));
    }
  });
}

TEST_CASE("gradients of inputs and parameters equal differences at orders 1 and 2") {
  for_each_case([](const ModuleCase& c) {
    const AnyModule module = scattered(c);
    const Tensors x = inputs_of(c, DType::f64);
    Rng rng(3);
    module.call(inputs_of(c), &rng);
    const bool drops_out = rng.state() != Rng(3).state();
    for (const bool training : {false, true}) {
      if (training && !drops_out) continue;
      for (const int order : {1, 2}) {
        CAPTURE(training);
        CAPTURE(order);
        const GradcheckReport report = module.gradcheck(x, order, training);
        CHECK_MESSAGE(report.ok(), report);
      }
    }
  });
}

TEST_CASE("a module in f32 equals itself in f64 up to rounding") {
  for_each_case([](const ModuleCase& c) {
    const AnyModule module = scattered(c);
    const Tensors x = inputs_of(c);
    Tensors exact_x;
    for (const Tensor& input : x)
      exact_x.push_back(is_floating(input.dtype()) ? cast(input, DType::f64) : input);
    const std::vector<double> y = numbers_of(module.call(x, nullptr));
    const std::vector<double> right = numbers_of(module.to(DType::f64).call(exact_x, nullptr));
    double scale = 1;
    for (const double v : right) scale = std::max(scale, std::abs(v));
    // Some tens of roundings, each at most 2^-24 of the largest value.
    for (size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - right[i]) <= 64 * 6e-8 * scale);
  });
}

TEST_CASE("evaluation is deterministic and training is not the evaluation where dropout is") {
  for_each_case([](const ModuleCase& c) {
    const AnyModule module = scattered(c);
    const Tensors x = inputs_of(c);
    const std::vector<double> y = numbers_of(module.call(x, nullptr));
    CHECK(numbers_of(module.call(x, nullptr)) == y);
    Rng rng(1);
    const RngState before = rng.state();
    const std::vector<double> trained = numbers_of(module.call(x, &rng));
    CHECK((rng.state() == before) == (trained == y));
    Rng again(1);
    CHECK(numbers_of(module.call(x, &again)) == trained);
  });
}

TEST_CASE("a state that went through copies gives the same values to another module") {
  for_each_case([](const ModuleCase& c) {
    const AnyModule module = scattered(c);
    NamedTensors state;
    for (const auto& [name, w] : module.parameters())
      state.emplace_back(name, Tensor(w.array().copy()));
    Rng other_seed(77);
    const AnyModule other = c.make(other_seed);
    other.load_state(state);
    const Tensors x = inputs_of(c);
    CHECK(numbers_of(other.call(x, nullptr)) == numbers_of(module.call(x, nullptr)));
  });
}

}  // namespace
}  // namespace attograd::nn

#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/random.h>
#include <attograd/nn/gradcheck.h>

namespace attograd::nn {

/// A module without its type.
struct AnyModule {
  std::function<NamedTensors()> parameters;
  std::function<Tensor(const Tensors& x, Rng* rng)> call;
  std::function<AnyModule(DType)> to;
  std::function<void(const NamedTensors&)> load_state;
  /// Of the evaluation; or, if training, of a call whose generator always starts at one place.
  std::function<GradcheckReport(const Tensors& x, int order, bool training)> gradcheck;
};

/// A row: a module, from which the tests are generated (see module_cases_test.cpp).
struct ModuleCase {
  std::string name;
  std::function<AnyModule(Rng& rng)> make;
  std::vector<op_cases::Input> inputs;
  std::vector<std::string> parameters;  // names with shapes, in order
  int64_t count;                        // of all elements
  Shape output;
};

/// `call(module, x, rng)` returns a Tensor.
template <Module M, class Call>
AnyModule without_type(const M& module, const Call& call) {
  return {
      .parameters = [=] { return named_parameters(module); },
      .call = [=](const Tensors& x, Rng* rng) { return call(module, x, rng); },
      .to = [=](DType dtype) { return without_type(to(module, dtype), call); },
      .load_state = [=](const NamedTensors& state) { attograd::nn::load_state(module, state); },
      .gradcheck =
          [=](const Tensors& inputs, int order, bool training) {
            const auto f = [=](const M& m, const Tensors& x) {
              Rng rng(3);
              return call(m, x, training ? &rng : nullptr);
            };
            return order == 1 ? attograd::nn::gradcheck(module, f, inputs)
                              : attograd::nn::gradgradcheck(module, f, inputs);
          },
  };
}

/// A module of one input, with or without a generator.
template <Module M>
AnyModule of_one(const M& module) {
  return without_type(module, [](const M& m, const Tensors& x, Rng* rng) {
    if constexpr (std::is_invocable_v<const M&, const Tensor&, Rng*>) {
      return m(x[0], rng);
    } else {
      (void)rng;
      return m(x[0]);
    }
  });
}

/// Of the encoder, the decoder and their parts.
void add_transformer_cases(std::vector<ModuleCase>& rows);

/// All rows.
const std::vector<ModuleCase>& module_cases();

}  // namespace attograd::nn

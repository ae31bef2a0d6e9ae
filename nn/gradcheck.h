#pragma once

#include <attograd/core/gradcheck.h>
#include <attograd/nn/module.h>

namespace attograd::nn {

/// The names, the function and the arguments that checking a module's gradients comes to.
struct ModuleFunction {
  TensorFunction f;
  Tensors arguments;  // the inputs, then the parameters
  std::vector<std::string> names;
};

/// call(module, inputs) as a function of the floating inputs and all parameters, in f64.
template <Module M, class Call>
ModuleFunction as_function(const M& module, const Call& call, const Tensors& inputs) {
  const M exact = to(module, DType::f64);
  Tensors arguments;
  std::vector<std::string> names;
  for (const Tensor& x : inputs) {
    names.push_back("input " + std::to_string(names.size()));
    Tensor copy(x.array().cast(is_floating(x.dtype()) ? DType::f64 : x.dtype()));
    arguments.push_back(copy.set_requires_grad(is_floating(x.dtype())));
  }
  for (const auto& [name, w] : named_parameters(exact)) {
    names.push_back(name);
    arguments.push_back(w);
  }
  const auto count = static_cast<std::ptrdiff_t>(inputs.size());
  const auto f = [exact, call, count](const Tensors& x) {
    const Tensors in(x.begin(), x.begin() + count);
    return call(with_parameters(exact, Tensors(x.begin() + count, x.end())), in);
  };
  return {f, arguments, names};
}

/// Compares the gradients of call(module, inputs) with differences, for all parameters and all
/// floating inputs, at f64 copies of them. `call` fixes what else the module takes:
///   gradcheck(attention, [](const auto& m, const Tensors& x) { return m(x[0]).y; }, {x})
/// Throws    as gradcheck of a function does
template <Module M, class Call>
GradcheckReport gradcheck(const M& module, const Call& call, const Tensors& inputs,
                          GradcheckOptions options = {}) {
  const ModuleFunction function = as_function(module, call, inputs);
  options.input_names = function.names;
  return gradcheck(function.f, function.arguments, options);
}

/// The same for second derivatives.
template <Module M, class Call>
GradcheckReport gradgradcheck(const M& module, const Call& call, const Tensors& inputs,
                              GradcheckOptions options = {}) {
  const ModuleFunction function = as_function(module, call, inputs);
  options.input_names = function.names;
  return gradgradcheck(function.f, function.arguments, options);
}

/// Of module(x), for a module of one input.
template <Module M>
GradcheckReport gradcheck(const M& module, const Tensors& x, const GradcheckOptions& options = {}) {
  const auto call = [](const M& m, const Tensors& in) { return m(in.at(0)); };
  return gradcheck(module, call, x, options);
}
template <Module M>
GradcheckReport gradgradcheck(const M& module, const Tensors& x,
                              const GradcheckOptions& options = {}) {
  const auto call = [](const M& m, const Tensors& in) { return m(in.at(0)); };
  return gradgradcheck(module, call, x, options);
}

}  // namespace attograd::nn

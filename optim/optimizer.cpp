#include <cmath>
#include <set>

#include <attograd/core/ops.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/optimizer.h>

namespace attograd::optim {

NamedTensors numbered(const Tensors& parameters) {
  NamedTensors named;
  for (const Tensor& w : parameters) named.emplace_back(std::to_string(named.size()), w);
  return named;
}

void check_parameters(const char* optimizer, const NamedTensors& parameters) {
  check<ValueError>(distinct(parameters).size() == parameters.size(), optimizer,
                    ": a tensor must not be in two groups");
  std::set<std::string> names;
  for (const auto& [name, w] : parameters) {
    check<ValueError>(names.insert(name).second, optimizer, ": two parameters are called ", name);
    check<ValueError>(is_floating(w.dtype()), optimizer, ": parameters must be f32 or f64, got ",
                      name, " = ", signature(w));
    for (int axis = 0; axis < w.rank(); ++axis)
      check<ValueError>(w.shape()[axis] <= 1 || w.array().strides()[axis] != 0, optimizer,
                        ": parameters must not be expanded, got ", name, " = ", signature(w));
    check<ValueError>(!w.requires_grad() || w.node()->is_leaf(), optimizer,
                      ": parameters must be leaves, got ", name, " = ", signature(w),
                      ", the result of an operation");
  }
}

void check_not_negative(const char* optimizer,
                        std::initializer_list<std::pair<const char*, double>> options) {
  for (const auto& [name, value] : options)
    check<ValueError>(std::isfinite(value) && value >= 0, optimizer, ": ", name,
                      " must be finite and >= 0, got ", value);
}

void check_gradients(const char* optimizer, const NamedTensors& parameters) {
  for (const auto& [name, w] : parameters) {
    const double norm = gradient_norm({w});
    check<NumericError>(std::isfinite(norm), optimizer,
                        ": gradients must be finite, got one of norm ", norm, " for ", name, " = ",
                        signature(w), "; no parameter was updated");
  }
}

void check_state(const char* optimizer, const std::map<std::string, Range>& ranges,
                 const NamedTensors& state) {
  const NoGrad numbers_only;
  for (const auto& [name, tensor] : state) {
    const auto found = ranges.find(name);
    if (found == ranges.end()) continue;
    const auto [low, high] = found->second;
    const Tensor x = cast(tensor, DType::f64);
    const Tensor within = logical_and(x >= low, x <= high);  // false for NaN
    const double outside = static_cast<double>(x.numel()) - sum(within).item();
    check<FormatError>(outside == 0, optimizer, ": ", name, " must hold numbers in [", low, ", ",
                       high, "], got ", outside, " others in ", signature(tensor),
                       "; the state was damaged or is another optimizer's");
  }
}

}  // namespace attograd::optim

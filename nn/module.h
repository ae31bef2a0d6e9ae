#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

#include <attograd/core/named_tensors.h>

namespace attograd::nn {

// A module is a plain struct. Its parameters are members; `visit` lists each once, under its name:
//
//   struct Affine {
//     Tensor weight;
//     Tensor bias;
//     Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
//     void visit(auto&& v) {
//       v("weight", weight);
//       v("bias", bias);
//     }
//   };
//
// A member is a Tensor (skipped while undefined), a module, or a std::vector or std::optional of
// those. Names are joined by dots: "blocks.0.attention.query.weight".
//
// A Tensor is a handle, and so is a module made of Tensors: a copy shares its parameters with the
// original. clone(module) has its own.

/// What a module's visit is tried with.
struct AnyVisitor {
  template <class Member>
  void operator()(std::string_view, Member&) const {}
};

template <class M>
concept Module = requires(M& module) {
  module.visit(AnyVisitor());
};

/// Calls f(name, tensor) for every Tensor in a module or a member of one, in the order of visit.
template <class T, class F>
void for_each_tensor(const std::string& name, T& member, const F& f) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (member.defined()) f(name, member);
  } else if constexpr (Module<T>) {
    const std::string prefix = name.empty() ? name : name + ".";
    member.visit([&](std::string_view own, auto& inner) {
      for_each_tensor(prefix + std::string(own), inner, f);
    });
  } else if constexpr (requires { member.has_value(); }) {
    if (member) for_each_tensor(name, *member, f);
  } else {
    static_assert(
        requires { member.size(), member[0]; },
        "what visit lists is a Tensor, a module, or a std::vector or std::optional of those");
    for (size_t i = 0; i < member.size(); ++i)
      for_each_tensor(name + "." + std::to_string(i), member[i], f);
  }
}

/// All tensors by name, tied ones under each of theirs. They are handles: writing to them writes to
/// the module.
/// Throws    ValueError if visit lists a name twice: one of the two would be lost in a file
template <Module M>
NamedTensors named_tensors(const M& module) {
  NamedTensors list;
  std::set<std::string> names;
  M handles = module;  // visit is not const, so that one visit serves reading and replacing
  for_each_tensor("", handles, [&](const std::string& name, const Tensor& tensor) {
    check<ValueError>(names.insert(name).second, "visit: every name must be listed once, got ",
                      name, " twice");
    list.emplace_back(name, tensor);
  });
  return list;
}

/// The parameters by name, as saved to files; tied ones once, under their first name.
template <Module M>
NamedTensors named_parameters(const M& module) {
  return distinct(named_tensors(module));
}

/// The parameters, tied ones once.
template <Module M>
Tensors parameters(const M& module) {
  Tensors list;
  for (const auto& [name, tensor] : named_parameters(module)) list.push_back(tensor);
  return list;
}

/// The number of elements of all parameters, tied ones once.
template <Module M>
int64_t count_parameters(const M& module) {
  int64_t count = 0;
  for (const Tensor& w : parameters(module)) count += w.numel();
  return count;
}

/// Makes all gradients absent.
template <Module M>
void clear_gradients(const M& module) {
  for (Tensor w : parameters(module)) w.clear_grad();
}

/// Switches the gradients of all parameters off: they are constants, which optimizers leave as they
/// are. Gradients that stand there are gone.
/// Throws    GraphError while a recorded graph refers to a parameter: run or drop it first. Nothing
///           is frozen then
template <Module M>
void freeze(const M& module) {
  const Tensors all = parameters(module);
  for (const Tensor& w : all)
    check<GraphError>(!w.requires_grad() || w.node().use_count() == 1,
                      "freeze: no recorded graph may refer to a parameter, got one that refers to ",
                      signature(w), "; run backward on it or let go of it first");
  for (Tensor w : all) w.set_requires_grad(false);
}

/// Switches them on again, for f32 and f64.
template <Module M>
void unfreeze(const M& module) {
  for (Tensor w : parameters(module))
    if (is_floating(w.dtype())) w.set_requires_grad();
}

/// Writes the numbers of `tensors` into the parameters of the same names. A tied parameter may
/// stand there under any of its names, or under several with equal numbers.
/// Throws    FormatError listing all that is missing, unexpected or of another shape; the module is
///           unchanged then
template <Module M>
LoadReport load_state(const M& module, const NamedTensors& tensors,
                      const LoadOptions& options = {}) {
  const NamedTensors names = named_tensors(module);
  return load(distinct(names), under_first_names(names, tensors), options);
}

/// A module of the same structure whose parameters are f(parameter); ties stay ties.
template <Module M, class F>
M map_parameters(const M& module, const F& f) {
  M mapped = module;
  std::map<const Array*, Tensor> replaced;
  for_each_tensor("", mapped, [&](const std::string&, Tensor& tensor) {
    const auto [place, is_new] = replaced.try_emplace(&tensor.array());
    if (is_new) place->second = f(tensor);
    tensor = place->second;
  });
  return mapped;
}

/// The same module over other parameters, in the order of parameters(module): what gradient
/// checking and derivatives with respect to parameters need.
template <Module M>
M with_parameters(const M& module, const Tensors& tensors) {
  const size_t count = parameters(module).size();
  check<ShapeError>(tensors.size() == count, "with_parameters: the module has ", count,
                    " parameters, got ", tensors.size());
  auto next = tensors.begin();
  return map_parameters(module, [&](const Tensor& w) {
    check<ValueError>(next->defined(), "with_parameters: a tensor is undefined");
    check<ShapeError>(next->shape() == w.shape(), "with_parameters: a parameter ", signature(w),
                      " cannot become ", signature(*next));
    return *next++;
  });
}

/// The same by name, as named_parameters(module) calls them.
/// Throws    FormatError that lists all that is missing, unexpected or of another shape
template <Module M>
M with_parameters(const M& module, const NamedTensors& tensors) {
  return with_parameters(module, matched("with_parameters", named_parameters(module), tensors));
}

/// A copy with parameters of its own, as f32 or f64. Gradients are not copied.
/// Throws    DTypeError for another dtype
template <Module M>
M to(const M& module, DType dtype) {
  check<DTypeError>(is_floating(dtype), "to: modules are f32 or f64, got ", dtype);
  return map_parameters(module, [dtype](const Tensor& w) {
    Tensor copy(w.array().cast(is_floating(w.dtype()) ? dtype : w.dtype()));
    return copy.set_requires_grad(w.requires_grad());
  });
}

/// A copy with parameters of its own. Gradients are not copied.
template <Module M>
M clone(const M& module) {
  return map_parameters(module, [](const Tensor& w) {
    Tensor copy(w.array().copy());
    return copy.set_requires_grad(w.requires_grad());
  });
}

}  // namespace attograd::nn

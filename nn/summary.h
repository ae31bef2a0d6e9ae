#pragma once

#include <string>

#include <attograd/nn/module.h>

namespace attograd::nn {

/// A tree of all members that hold tensors, each with its number of elements:
///   up           20
///     weight     15  f32[5, 3]
///     bias        5  f32[5]  frozen
/// all            20  of them frozen 5
/// A tied tensor counts where it comes first.
std::string summary(const NamedTensors& tensors);
template <Module M>
std::string summary(const M& module) {
  return summary(named_tensors(module));
}

}  // namespace attograd::nn

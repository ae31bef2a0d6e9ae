#pragma once

#include <filesystem>

#include <attograd/core/safetensors.h>
#include <attograd/nn/module.h>

namespace attograd::nn {

/// Writes all parameters to a safetensors file, which is replaced in one step.
/// Throws    as save_safetensors does
template <Module M>
void save(const M& module, const std::filesystem::path& path,
          const std::map<std::string, std::string>& metadata = {}) {
  const NamedTensors named = named_parameters(module);
  save_safetensors(path, {named.begin(), named.end()}, metadata);
}

/// Reads the parameters of a module of the same structure.
/// Throws    as load_safetensors and load_state do; the module is unchanged then
template <Module M>
LoadReport load(const M& module, const std::filesystem::path& path,
                const LoadOptions& options = {}) {
  const SafetensorsFile file = load_safetensors(path);
  return load_state(module, {file.tensors.begin(), file.tensors.end()}, options);
}

}  // namespace attograd::nn

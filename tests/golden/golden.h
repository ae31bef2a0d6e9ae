#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <attograd/core/tensor.h>
#include <attograd/nn/module.h>

namespace attograd::golden {

using TensorMap = std::map<std::string, Tensor>;

/// The outputs of a module by their names in the file (y, attn, loss ...), from its inputs and
/// parameters, whatever their dtype. Without `weights` there is no attn.
using Forward =
    std::function<TensorMap(const TensorMap& inputs, const TensorMap& parameters, bool weights)>;

/// The metadata of a file: the options of its module. Every one must be read.
class Options {
 public:
  explicit Options(std::map<std::string, std::string> metadata) : texts_(std::move(metadata)) {}

  bool has(const std::string& name) const { return texts_.contains(name); }
  // Each throws if the option is missing or of another form.
  std::string text(const std::string& name);
  int64_t integer(const std::string& name);
  double number(const std::string& name);
  bool flag(const std::string& name);  // True or False

  /// What hidden scores become, by the options mask and fill: nothing under "zero row".
  std::optional<double> fill();
  /// Throws if an option was not read: the module was built without it.
  void check_all_read() const;

 private:
  std::map<std::string, std::string> texts_;
  std::set<std::string> read_;
};

/// The module that a file names; empty if this function does not know it.
Forward build_system(const std::string& module, Options& options);
Forward build_torch_module(const std::string& module, Options& options);

/// What a file holds, and the module that its metadata describe.
struct Golden {
  std::string module;
  std::string loss;  // the formula of what was differentiated
  TensorMap tensors;
  Forward forward;

  /// Throws    FormatError for a module or an option that is not known
  explicit Golden(const std::filesystem::path& path);

  /// New leaves with the tensors whose names begin with the prefix, under the rest of their names;
  /// numbers in that dtype.
  TensorMap part(const std::string& prefix, DType dtype) const;
  /// The inputs of the module.
  TensorMap inputs(DType dtype) const;
  /// What the gradients are of, from the module's outputs.
  Tensor loss_of(const TensorMap& outputs) const;
};

/// What differs from the file when `forward` is run in that dtype, each with both numbers: outputs
/// and the gradients of all inputs and parameters. Tensors are equal if the largest difference is
/// at most tolerance max(1, largest right number), with tolerance 1e-12 in f64 and 2e-5 in f32:
/// entries that cancel to about 0 are compared at the size of the others.
std::vector<std::string> differences(const Golden& golden, const Forward& forward, DType dtype,
                                     bool weights);

/// A module over the parameters of a file, in their dtype.
template <nn::Module M>
M over(const M& module, const TensorMap& parameters) {
  return nn::with_parameters(module, NamedTensors(parameters.begin(), parameters.end()));
}

}  // namespace attograd::golden

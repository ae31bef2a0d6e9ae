#pragma once

#include <string>
#include <utility>
#include <vector>

#include <attograd/core/tensor.h>

namespace attograd {

/// Tensors by name, in the order of whatever owns them: the parameters of a model, the state of an
/// optimizer, the contents of a file.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Each tensor once, at its first place: tied weights have two names and are one tensor. Handles of
/// one tensor are the same; tensors of equal numbers are not.
NamedTensors distinct(const NamedTensors& tensors);
Tensors distinct(const Tensors& tensors);

/// The sources under the first name of the target that each is for: tied targets have several.
/// Throws    FormatError if two sources for one target differ
NamedTensors under_first_names(const NamedTensors& targets, const NamedTensors& sources);

/// The source of each target's name, in the order of the targets.
/// Throws    FormatError that lists everything missing, unexpected, listed twice, or of another
///           shape or type than its target (f32 may stand for f64, and the other way round); it
///           names `op`
Tensors matched(std::string_view op, const NamedTensors& targets, const NamedTensors& sources);

struct LoadOptions {
  bool strict = true;  // every target has a source and every source a target
};

/// What a load that is not strict passed over.
struct LoadReport {
  std::vector<std::string> missing;     // targets that kept their numbers
  std::vector<std::string> unexpected;  // sources that no target has the name of
};

/// Writes the numbers of each source into the target of its name. f32 and f64 convert to each
/// other.
/// Throws    FormatError that lists everything missing, unexpected (both only if strict), listed
///           twice, or of another shape or type. No target is written then.
LoadReport load(const NamedTensors& targets, const NamedTensors& sources,
                const LoadOptions& options = {});

}  // namespace attograd

#pragma once

#include <functional>
#include <string>
#include <vector>

#include <attograd/nn/module.h>

namespace attograd::nn {

/// What became of a parameter's gradient.
enum class GradientState {
  ok,
  frozen,      // the parameter does not require one
  missing,     // none arrives
  zero,        // all of it is 0
  not_finite,  // some of it is NaN or infinite
};

struct AuditRow {
  std::string name;
  GradientState state;
  std::string cause;  // the operations where the gradient ended; empty if it is ok
};

/// Prints as a table, one parameter a line.
struct AuditReport {
  std::vector<AuditRow> rows;  // in the order of named_parameters
  /// No gradient is missing, zero or not finite.
  bool ok() const;
};
std::ostream& operator<<(std::ostream& out, const AuditReport& report);

/// Computes loss() and its gradients for the parameters, and says of each whether it arrives and,
/// if not, where its path ends: at detach, below NoGrad, or in an operation without a derivative
/// (argmax, comparisons); at the operation whose rule makes it 0 (sign) or not finite. Gradients
/// that stand in the parameters stay as they are.
///   const AuditReport report = audit(model, [&] { return cross_entropy(model(x), labels); });
/// Throws    what loss and grad throw: GraphError if the loss has several elements; ValueError if
///           the function is empty
/// Cost      a forward and a backward pass, and a walk over the graph for each place found
AuditReport audit(const NamedTensors& parameters, const std::function<Tensor()>& loss);

template <Module M>
AuditReport audit(const M& model, const std::function<Tensor()>& loss) {
  return audit(named_parameters(model), loss);
}

}  // namespace attograd::nn

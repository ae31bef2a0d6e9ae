#pragma once

#include <unordered_map>

#include <attograd/core/named_tensors.h>
#include <attograd/core/observer.h>

namespace attograd {

/// While one is alive, the first operation of this thread that makes NaN or an infinity out of
/// finite numbers throws a NumericError, forward or backward. It names the operation, the shapes
/// and ranges of what went in and came out, and the parameters that the operation reads or, if it
/// reads none, those that are nearest before it in the graph. A user's own infinity (a mask's -inf)
/// goes in, so nobody is blamed for what becomes of it. An operation whose definition gives an
/// infinity (log of 0, the slope of sqrt at 0) is reported.
///   const DetectAnomaly guard(nn::named_parameters(model));
///   backward(loss(model));
/// Cost      one pass over all that each operation reads and writes; nothing when there is none
class DetectAnomaly : public Observer {
 public:
  explicit DetectAnomaly(const NamedTensors& parameters = {});

  void computed(std::string_view op, const Tensors& x, const Array& y) override;
  void pulled_back(const Node& node, const Tensor& g, const Tensors& x,
                   const Tensors& gradients) override;

 private:
  /// "; reads a.weight", "; after a.weight", or nothing, for an operation on x with these nodes.
  std::string origin(const std::vector<const Node*>& inputs, const Tensors& x) const;

  std::unordered_map<const Node*, std::string> names_;
  NamedTensors parameters_;  // kept alive, so that no other node takes the address of theirs
};

}  // namespace attograd

#pragma once

#include <string_view>

#include <attograd/core/nested.h>
#include <attograd/core/tensor.h>

namespace attograd {

/// Sees what the operations of this thread do, from its construction to its destruction: the base
/// of what watches a computation (detect_anomaly, audit, checkpoint). Several nest. A rule or a
/// definition is one step, whose parts are shown only to an observer that asks for them. An
/// exception of an observer leaves the operation that it was told of, as if that had thrown it.
/// Cost      a branch for each operation while there is none
class Observer : public Nested<Observer> {
 public:
  /// y has been computed from x.
  virtual void computed(std::string_view /*op*/, const Tensors& /*x*/, const Array& /*y*/) {}
  /// x requires gradients and has been used where none will come back from: `why`.
  virtual void cut(std::string_view /*op*/, std::string_view /*why*/, const Tensor& /*x*/) {}
  /// The gradients of a node's inputs (undefined where unwanted) have been computed from g, that of
  /// its result. x: the inputs, if the node kept them.
  virtual void pulled_back(const Node& /*node*/, const Tensor& /*g*/, const Tensors& /*x*/,
                           const Tensors& /*gradients*/) {}

  bool sees_parts() const { return sees_parts_; }

 protected:
  explicit Observer(bool sees_parts = false);
  virtual ~Observer() = default;

 private:
  bool sees_parts_;
};

/// While one that is on is alive, what this thread does are parts of one step.
class Step {
 public:
  explicit Step(bool on = true) : on_(on) { depth() += on_; }
  ~Step() { depth() -= on_; }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  static bool inside() { return depth() > 0; }

 private:
  static int& depth();
  int on_;
};

inline bool is_observed() { return Observer::innermost() != nullptr; }

/// Calls f(observer) for each that sees what happens here, innermost first.
template <class F>
void for_each_observer(const F& f) {
  Observer* observer = Observer::innermost();
  if (!observer) [[likely]]
    return;
  const bool is_part = Step::inside();
  for (; observer; observer = observer->outer())
    if (!is_part || observer->sees_parts()) f(*observer);
}

}  // namespace attograd

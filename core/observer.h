#pragma once

#include <string_view>

#include <attograd/core/tensor.h>

namespace attograd {

/// Sees what the operations of this thread do, from its construction to its destruction: the base
/// of what watches a computation (detect_anomaly, audit, checkpoint). Several nest. A rule or a
/// definition is one step, whose parts are shown only to an observer that asks for them. An
/// exception of an observer leaves the operation that it was told of, as if that had thrown it.
/// Cost      a branch for each operation while there is none
class Observer {
 public:
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// y has been computed from x.
  virtual void computed(std::string_view /*op*/, const Tensors& /*x*/, const Array& /*y*/) {}
  /// x requires gradients and has been used where none will come back from: `why`.
  virtual void cut(std::string_view /*op*/, std::string_view /*why*/, const Tensor& /*x*/) {}
  /// The gradients of a node's inputs (undefined where unwanted) have been computed from g, that of
  /// its result. x: the inputs, if the node kept them.
  virtual void pulled_back(const Node& /*node*/, const Tensor& /*g*/, const Tensors& /*x*/,
                           const Tensors& /*gradients*/) {}

 protected:
  explicit Observer(bool sees_parts = false);
  virtual ~Observer();

 private:
  friend bool is_observed();
  template <class F>
  friend void for_each_observer(const F& f);

  static Observer*& innermost();
  Observer* outer_;
  bool sees_parts_;
};

/// While one is alive, what this thread does are parts of one step.
class Step {
 public:
  explicit Step(bool on = true) : before_(inside()) { inside() |= on; }
  ~Step() { inside() = before_; }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  static bool& inside();

 private:
  bool before_;
};

inline bool is_observed() { return Observer::innermost() != nullptr; }

/// Calls f(observer) for each that sees what happens here, innermost first.
template <class F>
void for_each_observer(const F& f) {
  Observer* observer = Observer::innermost();
  if (!observer) [[likely]]
    return;
  const bool is_part = Step::inside();
  for (; observer; observer = observer->outer_)
    if (!is_part || observer->sees_parts_) f(*observer);
}

}  // namespace attograd

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <attograd/core/nested.h>
#include <attograd/core/op_list.h>
#include <attograd/core/tensor.h>

namespace attograd {

/// The rule of an input that the result does not pass gradients to: indices, labels, masks.
struct NotDifferentiable {};
inline constexpr NotDifferentiable not_differentiable;

/// One formula of a derivative: the gradient of one input, given g, the gradient of the output y.
/// It is written in Tensor operations, so it can be differentiated again. Its parameters say what
/// the graph has to keep:
///   [](const Tensor& g)                                     nothing
///   [](const Tensor& g, const Tensor& y)                    the output
///   [](const Tensor& g, const Tensors& x)                   the inputs
///   [](const Tensor& g, const Tensors& x, const Tensor& y)  both
/// A rule may capture numbers and shapes, by value: it outlives the call, so a reference would
/// dangle. Tensors it must take from x and y: a captured one would own the node that owns the rule,
/// and neither would ever be freed; so that does not compile.
class Rule {
 public:
  template <class F>
  requires(!std::is_same_v<F, Rule>) Rule(F f) {  // NOLINT: a list of lambdas is the notation
    static_assert(std::is_trivially_destructible_v<F>,
                  "a rule must not capture a Tensor (an ownership cycle): take it from x or y");
    if constexpr (std::is_invocable_v<F, const Tensor&>) {
      formula_ = [f](const Tensor& g, const Tensors&, const Tensor&) { return f(g); };
    } else if constexpr (std::is_invocable_v<F, const Tensor&, const Tensor&>) {
      keeps_y_ = true;
      formula_ = [f](const Tensor& g, const Tensors&, const Tensor& y) { return f(g, y); };
    } else if constexpr (std::is_invocable_v<F, const Tensor&, const Tensors&>) {
      keeps_x_ = true;
      formula_ = [f](const Tensor& g, const Tensors& x, const Tensor&) { return f(g, x); };
    } else {
      keeps_x_ = keeps_y_ = true;
      formula_ = f;
    }
  }

  Rule(NotDifferentiable) {}  // NOLINT

  bool is_differentiable() const { return formula_ != nullptr; }
  bool keeps_x() const { return keeps_x_; }
  bool keeps_y() const { return keeps_y_; }
  Tensor operator()(const Tensor& g, const Tensors& x, const Tensor& y) const {
    return formula_(g, x, y);
  }

 private:
  std::function<Tensor(const Tensor&, const Tensors&, const Tensor&)> formula_;
  bool keeps_x_ = false;
  bool keeps_y_ = false;
};

/// An operation with rules of its own, one per input.
struct Primitive {
  OpName name;
  Tensors inputs;
  Array value;
  std::vector<Rule> vjp;
  bool broadcasts = false;  // the engine then sums each gradient to the shape of its input
};

/// A member that has no default: leaving it out of a Fused does not compile.
template <class Signature>
class Required : public std::function<Signature> {
 public:
  template <class F>
  requires(!std::is_same_v<F, Required>) Required(F f) : std::function<Signature>(f) {  // NOLINT
    static_assert(std::is_trivially_destructible_v<F>,
                  "capture numbers and shapes only: inputs and saved arrays are passed in");
  }
};

/// What a fused backward kernel sees. `wants[i]` says whether the gradient of x[i] is needed.
struct KernelArguments {
  const Array& g;
  const Arrays& x;
  const Array& y;
  const Arrays& saved;
  const std::vector<bool>& wants;
};

/// An operation with kernels for its value and its first derivative. `reference` is its definition
/// in Tensor operations: what it means, and what is differentiated when a derivative is itself to
/// be differentiated.
struct Fused {
  OpName name;
  Tensors inputs;
  Array value;
  Arrays saved = {};  // by-products of the value that the kernel needs again
  Required<Tensor(const Tensors& x)> reference;
  /// One Array per input; ignored, and may be undefined, where unwanted.
  Required<Arrays(const KernelArguments&)> vjp_kernel;
};

/// An operation of which the graph keeps nothing but the inputs: its backward pass computes it once
/// more, recorded, and differentiates that (checkpoint.h).
struct Recomputed {
  OpName name;
  Tensors inputs;    // the arguments of the definition, then what it uses beside them
  size_t arguments;  // how many of the inputs are arguments
  Array value;
  std::function<Tensor(const Tensors& arguments)> definition;  // may own tensors made before
};

/// The result of an operation as a Tensor, joined to the graph if any input requires gradients.
Tensor record(Primitive op);
Tensor record(Fused op);
Tensor record(Recomputed op);

/// What is called with the gradient of a tensor (hooks.h).
using GradientFunction = std::function<Tensor(const Tensor& g)>;

/// A tensor that the backward pass will read, and how often its storage had been written when it
/// was saved.
class Saved {
 public:
  Saved() = default;
  Saved(const Tensor& value)  // NOLINT: a list of tensors is saved by assigning it
      : value_(value), version_(value.array().version()) {}
  bool defined() const { return value_.defined(); }
  /// Throws GraphError naming the operation if the storage has been written since.
  const Tensor& unpack(std::string_view op) const;

 private:
  Tensor value_;
  uint64_t version_ = 0;
};

/// A recorded operation, or a leaf (no inputs).
struct Node {
  explicit Node(OpName op, const Array& result);
  ~Node();  // frees a graph of any depth without recursion
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  OpName name;
  uint64_t sequence;  // grows with every node, so an operation comes after its inputs
  Shape shape;        // of the result, and so of its gradient
  DType dtype;
  bool broadcasts = false;
  bool freed = false;
  bool retains_grad = false;
  std::vector<std::shared_ptr<Node>> inputs;  // null where no gradient flows
  std::vector<Saved> x;                       // the inputs, if a rule keeps them
  Saved y;  // the result, if a rule keeps it: without its node, which would own itself
  std::vector<Rule> vjp;
  std::unique_ptr<const Fused> fused;  // the kernel and reference of a fused operation
  std::unique_ptr<const Recomputed> recomputed;
  std::unique_ptr<std::vector<std::weak_ptr<const GradientFunction>>> hooks;  // in their order
  Tensor grad;  // of leaves, and of results that were asked to retain it

  bool is_leaf() const { return inputs.empty() && !freed; }
};

/// Says whether this thread records, while it is the latest alive.
struct Recording : Nested<Recording> {
  explicit Recording(bool wanted);
  const bool on;
};

/// While one is alive, operations of this thread are not recorded. It may end in any order with
/// others: the latest that is alive decides.
class NoGrad {
 public:
  explicit NoGrad(bool on = true) {
    if (on) off_.emplace(false);
  }

 private:
  std::optional<Recording> off_;
};
/// While one is alive, operations of this thread are recorded, below NoGrad too.
class EnableGrad {
  Recording on_{true};
};
bool recording();

/// Nodes made later have a larger sequence, nodes made before a smaller one.
uint64_t next_sequence();

/// The same numbers (shared) as a constant: no gradient passes.
Tensor detach(const Tensor& x);

}  // namespace attograd

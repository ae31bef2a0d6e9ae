#pragma once

#include <optional>

#include <attograd/core/graph.h>

namespace attograd {

struct BackwardOptions {
  bool create_graph = false;           // record the backward pass, so that it can be differentiated
  std::optional<bool> retain_graph{};  // keep the graph for another pass; default: as create_graph
};

/// Adds d(sum of y * seed)/d(leaf) to the gradient of every leaf that y depends on. The seed
/// defaults to 1 for a y with one element. Passes add up, also a pass through a gradient that an
/// earlier one recorded: for its gradient alone use grad. With create_graph a leaf's gradient
/// refers to the leaf: clear_grad() ends that cycle.
/// Throws  GraphError if y depends on nothing that requires gradients, needs a seed, or was freed
/// Cost    time linear in the graph; the graph is freed on the way unless retained
void backward(const Tensor& y, const Tensor& seed = {}, const BackwardOptions& options = {});

struct GradOptions {
  bool create_graph = false;
  std::optional<bool> retain_graph{};
  bool allow_unused = false;  // an input that outputs do not depend on gets an undefined tensor
  /// Partial derivatives: every input is a variable of its own, so nothing flows through one to
  /// another, and no hook of an input is called.
  bool partial = false;
};

/// The gradients of sum_i sum(outputs[i] * seeds[i]) for `inputs` (leaves or results), touching no
/// .grad(). Seeds default to 1 for outputs with one element. Only operations between outputs and
/// inputs are run, so what was freed before all inputs does not matter. Without create_graph the
/// gradients are constants. They may share memory with each other and with a seed: copy one before
/// writing to it.
/// Throws    GraphError if outputs do not depend on an input, need a seed, or may lead to an input
///           through a freed graph
Tensors grad(const Tensors& outputs, const Tensors& inputs, const GradOptions& options = {},
             const Tensors& seeds = {});

}  // namespace attograd

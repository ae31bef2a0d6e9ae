#pragma once

#include <type_traits>

#include <attograd/core/graph.h>

namespace attograd {

/// Keeps a hook in force: letting go of the last copy removes the hook. The tensor itself does not
/// own its hooks, so a hook may capture any tensor, this one too, without a cycle of ownership.
using GradientHook = std::shared_ptr<const GradientFunction>;

/// on_gradient for a function that is already wrapped.
[[nodiscard]] GradientHook add_hook(const Tensor& x, GradientFunction f);

/// Calls f(g) in every pass, of backward or grad (but for targets of a partial one) and of any
/// order, that computes the gradient of x
/// (a leaf or a result): once, with the complete gradient. f may return a Tensor that takes its
/// place, for retain_grad, leaves, grad and everything before x; an undefined Tensor, or void,
/// keeps g. Hooks run in the order in which they were added, each on what the one before left.
///   const GradientHook clip = on_gradient(h, [](const Tensor& g) { return clamp(g, -1, 1); });
/// Gradient  under create_graph f is recorded, so what it returns is differentiated
/// Throws    GraphError if x does not require gradients, or (later) if f writes to g, which others
///           may share; ValueError if f is empty; ShapeError (later) if f returns another shape or
///           dtype
template <class F>
[[nodiscard]] GradientHook on_gradient(const Tensor& x, F f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, const Tensor&>>) {
    const std::function<void(const Tensor&)> look = std::move(f);
    if (!look) return add_hook(x, nullptr);
    return add_hook(x, [look](const Tensor& g) {
      look(g);
      return Tensor();
    });
  } else {
    return add_hook(x, std::move(f));
  }
}

/// What the hooks of a node leave of g, its gradient: what the engine goes on with.
Tensor after_hooks(const Node& node, Tensor g);

}  // namespace attograd

#include <attograd/core/hooks.h>

namespace attograd {

GradientHook add_hook(const Tensor& x, GradientFunction f) {
  check<GraphError>(x.requires_grad(), "on_gradient: ", signature(x),
                    " does not require gradients; call set_requires_grad() on it, or on the leaves "
                    "that it depends on");
  check<ValueError>(f != nullptr, "on_gradient: needs a function to call, got an empty one");
  auto& hooks = x.node()->hooks;
  if (!hooks) hooks = std::make_unique<std::vector<std::weak_ptr<const GradientFunction>>>();
  std::erase_if(*hooks, [](const auto& hook) { return hook.expired(); });
  GradientHook hook = std::make_shared<const GradientFunction>(std::move(f));
  hooks->push_back(hook);
  return hook;
}

Tensor after_hooks(const Node& node, Tensor g) {
  if (!node.hooks) return g;
  const auto hooks = *node.hooks;  // a copy: a hook may add and remove hooks
  for (const auto& weak : hooks) {
    const GradientHook hook = weak.lock();
    if (!hook) continue;
    const uint64_t version = g.array().version();
    Tensor changed = (*hook)(g);
    check<GraphError>(g.array().version() == version, "on_gradient: a hook of the result of ",
                      std::string_view(node.name), " wrote to the gradient ", signature(g),
                      ", which others may share; return a new tensor instead");
    if (!changed.defined()) continue;
    check<ShapeError>(changed.shape() == g.shape() && changed.dtype() == g.dtype(),
                      "on_gradient: a hook of the result of ", std::string_view(node.name),
                      " must return a gradient of its shape and dtype, ", signature(g), ", got ",
                      signature(changed), "; an undefined Tensor keeps the gradient");
    g = recording() || !changed.requires_grad() ? std::move(changed) : Tensor(changed.array());
  }
  return g;
}

}  // namespace attograd

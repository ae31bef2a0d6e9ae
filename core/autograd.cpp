#include <algorithm>
#include <map>
#include <unordered_map>

#include <attograd/core/autograd.h>
#include <attograd/core/hooks.h>
#include <attograd/core/map.h>
#include <attograd/core/observer.h>
#include <attograd/core/ops.h>

namespace attograd {

namespace {

using NodePtr = std::shared_ptr<Node>;

/// Operations whose result has received gradients, latest first. Every use of a result was recorded
/// after it, so the latest operation in here has received all of its gradient.
struct Pending {
  NodePtr node;
  Tensor g;
};
using Frontier = std::map<uint64_t, Pending, std::greater<>>;

bool is_private(const Tensor& g) { return g.array().is_contiguous() && g.owns_storage_alone(); }

/// sum += g, in place where nobody can notice. A seed, or what a rule passes on as it is, may
/// require gradients, which an unrecorded pass does not hand out.
void accumulate(Tensor& sum, Tensor g) {
  if (!sum.defined()) {
    sum = recording() || !g.requires_grad() ? std::move(g) : Tensor(g.array());
  } else if (!recording() && is_private(sum) && !is_observed()) {
    Array total = sum.array();
    dispatch<Floating>("backward", total.dtype(), [&]<class T>() {
      kernels::map(strided_loop(total, total, g.array()), total.mutable_data<T>(), total.data<T>(),
                   g.array().data<T>(), [](T a, T b) { return a + b; });
    });
  } else {
    sum = sum + g;
  }
}

/// The gradient that a leaf keeps must not share memory with another one: optimizers and clipping
/// write to it.
void keep(Node& node, Tensor g) {
  if (!node.grad.defined() && !is_private(g)) g = g * 1.0;  // a copy, recorded if need be
  accumulate(node.grad, std::move(g));
}

/// Differentiates the definition of a fused operation (under create_graph), or computes again what
/// a checkpoint dropped. It is evaluated at fresh aliases of the arguments, since x itself may
/// appear twice, or one argument may depend on another: each must be counted for its own place
/// only.
Tensors differentiate_definition(const Node& node, const Tensor& g, const Tensors& x,
                                 const std::vector<bool>& wants) {
  const bool create_graph = recording();
  const EnableGrad recorded;
  const size_t arguments = node.fused ? x.size() : node.recomputed->arguments;
  Tensors aliases(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(arguments));
  Tensors wanted;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i < arguments) aliases[i] = node.inputs[i] ? alias(x[i]) : Tensor(x[i].array());
    if (wants[i]) wanted.push_back(i < arguments ? aliases[i] : x[i]);
  }
  Tensors gradients(x.size());
  const Tensor y =
      node.fused ? node.fused->reference(aliases) : node.recomputed->definition(aliases);
  if (!y.requires_grad()) return gradients;
  const Tensors found =
      grad({y}, wanted, {.create_graph = create_graph, .allow_unused = true, .partial = true}, {g});
  for (size_t i = 0, k = 0; i < x.size(); ++i)
    if (wants[i]) gradients[i] = found[k++];
  return gradients;
}

/// A gradient that is asked for must not get lost.
void check_given(const Node& node, size_t input, bool given) {
  check<GraphError>(given, "backward of ", std::string_view(node.name), ": input ", input,
                    " requires a gradient, but its rule gives none; declare the input "
                    "not_differentiable if that is meant");
}

Tensors run_kernel(const Node& node, const Tensor& g, const Tensors& x,
                   const std::vector<bool>& wants) {
  Arrays inputs;
  for (const Tensor& input : x) inputs.push_back(input.array());
  const Arrays found = node.fused->vjp_kernel(
      {g.array(), inputs, node.y.unpack(node.name).array(), node.fused->saved, wants});
  check<GraphError>(found.size() == x.size(), "backward of ", std::string_view(node.name),
                    ": the kernel must give one Array per input, got ", found.size(), " for ",
                    x.size());
  Tensors gradients(x.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (!wants[i]) continue;
    check_given(node, i, found[i].defined());
    gradients[i] = Tensor(found[i]);
  }
  return gradients;
}

Tensors apply_rules(const NodePtr& node, const Tensor& g, const Tensors& x,
                    const std::vector<bool>& wants) {
  Tensor y;
  if (node->y.defined()) y = Tensor(node->y.unpack(node->name).array(), node);
  Tensors gradients(node->inputs.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!wants[i]) continue;
    gradients[i] = node->vjp[i](g, x, y);
    check_given(*node, i, gradients[i].defined());
    if (node->broadcasts) gradients[i] = sum_to(gradients[i], node->inputs[i]->shape);
  }
  return gradients;
}

/// The gradients of a node's inputs from that of its result.
Tensors pull_back(const NodePtr& node, const Tensor& g, const std::vector<bool>& wants) {
  const std::string_view name = node->name;
  check<GraphError>(!node->freed, "backward: the graph of ", name,
                    " was freed by an earlier pass; pass {.retain_graph = true} to that pass");
  Tensors x;
  for (const Saved& saved : node->x) x.push_back(saved.unpack(name));
  Tensors gradients;
  {
    const Step one(!node->recomputed);
    if (node->recomputed || (node->fused && recording())) {
      gradients = differentiate_definition(*node, g, x, wants);
    } else if (node->fused) {
      gradients = run_kernel(*node, g, x, wants);
    } else {
      gradients = apply_rules(node, g, x, wants);
    }
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const Node& input = *node->inputs[i];
    check<GraphError>(gradients[i].shape() == input.shape && gradients[i].dtype() == input.dtype,
                      "backward of ", name, ": the rule of input ", i, " must give ",
                      Signature{input.dtype, input.shape}, ", got ", signature(gradients[i]));
  }
  for_each_observer([&](Observer& observer) { observer.pulled_back(*node, g, x, gradients); });
  return gradients;
}

void release(Node& node) {
  node.x.clear();
  node.inputs.clear();
  node.y = Saved();
  node.vjp.clear();
  node.fused.reset();
  node.recomputed.reset();
  node.freed = true;
}

/// What a pass needs of a node: nothing, its gradient, or that and the gradients of its inputs.
enum class Need { nothing, gradient, inputs };

/// Takes operations off the frontier until none is left. `visit` sees each with its complete
/// gradient, may replace it, and may take that of a leaf.
template <class Visit, class NeedOf>
void propagate(Frontier frontier, bool free_graph, Visit visit, NeedOf need_of) {
  while (!frontier.empty()) {
    const auto latest = frontier.begin();
    const NodePtr node = std::move(latest->second.node);
    Tensor g = std::move(latest->second.g);
    frontier.erase(latest);
    visit(*node, g);
    if (need_of(*node) != Need::inputs) continue;
    std::vector<bool> wanted;
    for (const NodePtr& input : node->inputs)
      wanted.push_back(input && need_of(*input) != Need::nothing);
    Tensors gradients = pull_back(node, g, wanted);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      Pending& next = frontier[node->inputs[i]->sequence];
      next.node = node->inputs[i];
      accumulate(next.g, std::move(gradients[i]));
    }
    if (free_graph) release(*node);
  }
}

void add_seed(Frontier& frontier, std::string_view op, const Tensor& y, const Tensor& seed) {
  check<GraphError>(y.requires_grad(), op, ": nothing that ", signature(y),
                    " depends on requires gradients; call set_requires_grad() on its leaves, and "
                    "look for detach, NoGrad, comparisons, argmax and cast to i64 on the way");
  check<GraphError>(seed.defined() || y.numel() == 1, op,
                    ": a result with several elements needs a seed, got ", signature(y),
                    "; pass one of its shape, or reduce it with sum or mean");
  Tensor g = seed.defined() ? seed : Tensor(Array::filled(y.shape(), y.dtype(), 1));
  check<ShapeError>(g.shape() == y.shape() && g.dtype() == y.dtype(), op, ": the seed of ",
                    signature(y), " must have its shape and dtype, got ", signature(g));
  Pending& pending = frontier[y.node()->sequence];
  pending.node = y.node();
  accumulate(pending.g, std::move(g));
}

using Targets = std::unordered_map<const Node*, size_t>;  // with the first place of each

/// What is needed of the nodes on a way from the outputs to a target; all others are missing.
std::unordered_map<const Node*, Need> needs_between(const Frontier& outputs, const Targets& targets,
                                                    bool partial) {
  uint64_t earliest = ~uint64_t{0};
  for (const auto& [target, index] : targets) earliest = std::min(earliest, target->sequence);
  // By sequence, inputs before their uses; what was recorded before all targets leads to none.
  std::map<uint64_t, const Node*> reachable;
  std::vector<const Node*> stack;
  for (const auto& [sequence, pending] : outputs) stack.push_back(pending.node.get());
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (node->sequence < earliest || !reachable.emplace(node->sequence, node).second) continue;
    if (partial && targets.contains(node)) continue;
    for (const NodePtr& input : node->inputs)
      if (input) stack.push_back(input.get());
  }
  std::unordered_map<const Node*, Need> needs;
  for (const auto& [sequence, node] : reachable) {
    const bool is_target = targets.contains(node);
    // What lay behind a freed node is gone. A target may have been there: it must be run, to say
    // so.
    const bool leads =
        (node->freed && sequence > earliest) ||
        std::any_of(node->inputs.begin(), node->inputs.end(),
                    [&](const NodePtr& input) { return needs.contains(input.get()); });
    if (leads && !(partial && is_target)) {
      needs[node] = Need::inputs;
    } else if (is_target) {
      needs[node] = Need::gradient;
    }
  }
  return needs;
}

}  // namespace

void backward(const Tensor& y, const Tensor& seed, const BackwardOptions& options) {
  Frontier frontier;
  const NoGrad unless_recorded(!options.create_graph);
  add_seed(frontier, "backward", y, seed);
  propagate(
      std::move(frontier), !options.retain_graph.value_or(options.create_graph),
      [](Node& node, Tensor& g) {
        g = after_hooks(node, std::move(g));
        if (node.is_leaf()) {
          keep(node, std::move(g));
        } else if (node.retains_grad) {
          keep(node, g);
        }
      },
      [](const Node& node) { return node.is_leaf() ? Need::gradient : Need::inputs; });
}

Tensors grad(const Tensors& outputs, const Tensors& inputs, const GradOptions& options,
             const Tensors& seeds) {
  check<GraphError>(seeds.empty() || seeds.size() == outputs.size(),
                    "grad: needs a seed for each of ", outputs.size(),
                    " outputs or none at all, got ", seeds.size());
  const NoGrad unless_recorded(!options.create_graph);
  Frontier frontier;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].requires_grad() || !options.allow_unused)
      add_seed(frontier, "grad", outputs[i], seeds.empty() ? Tensor() : seeds[i]);
  Targets targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check<GraphError>(inputs[i].requires_grad(), "grad: input ", i, ", ", signature(inputs[i]),
                      ", does not require gradients");
    targets.emplace(inputs[i].node().get(), i);
  }
  const auto needs = needs_between(frontier, targets, options.partial);
  Tensors found(inputs.size());
  propagate(
      std::move(frontier), !options.retain_graph.value_or(options.create_graph),
      [&](Node& node, Tensor& g) {
        const auto target = targets.find(&node);
        if (target == targets.end() || !options.partial) g = after_hooks(node, std::move(g));
        if (target != targets.end()) found[target->second] = g;
      },
      [&](const Node& node) {
        const auto need = needs.find(&node);
        return need == needs.end() ? Need::nothing : need->second;
      });
  for (size_t i = 0; i < inputs.size(); ++i) {
    found[i] = found[targets.at(inputs[i].node().get())];
    check<GraphError>(found[i].defined() || options.allow_unused, "grad: input ", i, ", ",
                      signature(inputs[i]),
                      ", is not used by the outputs; pass {.allow_unused = true} if that is meant");
  }
  return found;
}

}  // namespace attograd

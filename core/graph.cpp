#include <algorithm>
#include <atomic>

#include <attograd/core/graph.h>
#include <attograd/core/observer.h>

namespace attograd {
namespace {

using NodePtr = std::shared_ptr<Node>;

}  // namespace

uint64_t next_sequence() {
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

Recording::Recording(bool wanted) : on(wanted) {}

bool recording() {
  const Recording* latest = Recording::innermost();
  return !latest || latest->on;
}

Tensor detach(const Tensor& x) {
  for_each_observer([&](Observer& observer) {
    if (x.requires_grad()) observer.cut("detach", "by request", x);
  });
  return Tensor(x.array());
}

const Tensor& Saved::unpack(std::string_view op) const {
  check<GraphError>(value_.array().version() == version_, "backward of ", op, ": the ",
                    signature(value_), " that it saved was written in place afterwards (version ",
                    version_, ", now ", value_.array().version(),
                    "); write to a copy, or after the backward pass");
  return value_;
}

Node::Node(OpName op, const Array& result)
    : name(op), sequence(next_sequence()), shape(result.shape()), dtype(result.dtype()) {}

Node::~Node() {
  // Destroying `inputs` here would destroy their inputs in turn, as deep as the graph. The
  // outermost destructor instead takes over what all others own and lets go of it piece by piece.
  x.clear();  // first: these hold the same nodes, which `inputs` still keeps alive
  thread_local std::vector<std::shared_ptr<const void>>* taken = nullptr;
  std::vector<std::shared_ptr<const void>> stack;
  const bool outermost = !taken;
  if (outermost) taken = &stack;
  for (NodePtr& input : inputs)
    if (input) taken->push_back(std::move(input));
  if (recomputed) taken->push_back(std::shared_ptr<const Recomputed>(std::move(recomputed)));
  if (grad.defined() && grad.requires_grad()) {
    taken->push_back(grad.node());
    grad = Tensor();
  }
  if (!outermost) return;
  while (!stack.empty()) {
    const std::shared_ptr<const void> dying = std::move(stack.back());
    stack.pop_back();
  }
  taken = nullptr;
}

namespace {

/// Tells the observers of an operation, and of each input whose path ends here. `passes` says
/// whether an input has a derivative.
template <class Passes>
void observe(OpName name, const Tensors& inputs, const Array& value, Passes passes) {
  for_each_observer([&](Observer& observer) {
    observer.computed(name, inputs, value);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      if (!recording()) {
        observer.cut(name, "below NoGrad", inputs[i]);
      } else if (!passes(i) || !is_floating(value.dtype())) {
        observer.cut(name, "not differentiable", inputs[i]);
      }
    }
  });
}

/// The node of a new result, or null if no gradient can flow through it.
template <class Passes>
NodePtr join(OpName name, const Tensors& inputs, const Array& value, Passes passes) {
  observe(name, inputs, value, passes);
  if (!recording() || !is_floating(value.dtype())) return nullptr;
  std::vector<NodePtr> nodes;
  for (size_t i = 0; i < inputs.size(); ++i)
    nodes.push_back(passes(i) ? inputs[i].node() : nullptr);
  if (std::none_of(nodes.begin(), nodes.end(), [](const NodePtr& node) { return node; }))
    return nullptr;
  auto node = std::make_shared<Node>(name, value);
  node->inputs = std::move(nodes);
  return node;
}

bool every_input(size_t) { return true; }

/// Keeps the inputs for the backward pass: where no gradient flows, without their nodes, which
/// nothing else would keep alive.
void save_inputs(Node& node, const Tensors& inputs) {
  node.x.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    node.x.emplace_back(node.inputs[i] || !inputs[i].requires_grad() ? inputs[i]
                                                                     : Tensor(inputs[i].array()));
}

}  // namespace

Tensor record(Primitive op) {
  check<GraphError>(op.vjp.size() == op.inputs.size(), std::string_view(op.name),
                    ": needs a rule for each of ", op.inputs.size(), " inputs, got ", op.vjp.size(),
                    "; use not_differentiable for indices and masks");
  NodePtr node =
      join(op.name, op.inputs, op.value, [&](size_t i) { return op.vjp[i].is_differentiable(); });
  if (node) {
    bool keeps_x = false;
    bool keeps_y = false;
    for (size_t i = 0; i < op.vjp.size(); ++i) {
      if (!node->inputs[i]) continue;
      keeps_x |= op.vjp[i].keeps_x();
      keeps_y |= op.vjp[i].keeps_y();
    }
    if (keeps_x) save_inputs(*node, op.inputs);
    if (keeps_y) node->y = Saved(Tensor(op.value));
    node->vjp = std::move(op.vjp);
    node->broadcasts = op.broadcasts;
  }
  return Tensor(std::move(op.value), std::move(node));
}

Tensor record(Fused op) {
  NodePtr node = join(op.name, op.inputs, op.value, every_input);
  Array value = std::move(op.value);
  if (node) {
    save_inputs(*node, op.inputs);
    node->y = Saved(Tensor(value));
    op.inputs.clear();
    op.value = Array();
    node->fused = std::make_unique<const Fused>(std::move(op));
  }
  return Tensor(std::move(value), std::move(node));
}

Tensor record(Recomputed op) {
  check<GraphError>(op.arguments <= op.inputs.size(), std::string_view(op.name),
                    ": has fewer inputs than arguments, got ", op.inputs.size(), " and ",
                    op.arguments);
  NodePtr node = join(op.name, op.inputs, op.value, every_input);
  Array value = std::move(op.value);
  if (node) {
    save_inputs(*node, op.inputs);
    op.inputs.clear();
    op.value = Array();
    node->recomputed = std::make_unique<const Recomputed>(std::move(op));
  }
  return Tensor(std::move(value), std::move(node));
}

}  // namespace attograd

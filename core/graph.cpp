#include <algorithm>
#include <atomic>

#include <attograd/core/graph.h>

namespace attograd {
namespace {

using NodePtr = std::shared_ptr<Node>;

thread_local bool recording_here = true;

uint64_t next_sequence() {
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

NoGrad::NoGrad(bool on) : before_(recording_here) {
  if (on) recording_here = false;
}
NoGrad::~NoGrad() { recording_here = before_; }
bool recording() { return recording_here; }

Tensor detach(const Tensor& x) { return Tensor(x.array()); }

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
  // outermost destructor instead takes over the inputs of all others and lets go of them one by
  // one.
  x.clear();  // first: these hold the same nodes, which `inputs` still keeps alive
  thread_local std::vector<NodePtr>* taken = nullptr;
  if (taken) {
    for (NodePtr& input : inputs) taken->push_back(std::move(input));
    return;
  }
  std::vector<NodePtr> stack = std::move(inputs);
  taken = &stack;
  while (!stack.empty()) {
    const NodePtr dying = std::move(stack.back());
    stack.pop_back();
  }
  taken = nullptr;
}

namespace {

/// The node of a new result, or null if no gradient can flow through it. `passes` says whether an
/// input has a derivative.
template <class Passes>
NodePtr join(OpName name, const Tensors& inputs, const Array& value, Passes passes) {
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
    if (keeps_x) node->x.assign(op.inputs.begin(), op.inputs.end());
    if (keeps_y) node->y = Saved(Tensor(op.value));
    node->vjp = std::move(op.vjp);
    node->broadcasts = op.broadcasts;
  }
  return Tensor(std::move(op.value), std::move(node));
}

Tensor record(Fused op) {
  NodePtr node = join(op.name, op.inputs, op.value, [](size_t) { return true; });
  Array value = std::move(op.value);
  if (node) {
    node->x.assign(op.inputs.begin(), op.inputs.end());
    node->y = Saved(Tensor(value));
    op.inputs.clear();
    op.value = Array();
    node->fused = std::make_unique<const Fused>(std::move(op));
  }
  return Tensor(std::move(value), std::move(node));
}

}  // namespace attograd

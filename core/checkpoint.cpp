#include <optional>
#include <unordered_set>

#include <attograd/core/checkpoint.h>
#include <attograd/core/graph.h>
#include <attograd/core/observer.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

using Nodes = std::unordered_set<const Node*>;

Nodes nodes_of(const Tensors& tensors) {
  Nodes nodes;
  for (const Tensor& x : tensors) nodes.insert(x.node().get());
  return nodes;
}

size_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

/// What a run did, in one number: two runs that differ have the same one by accident only.
class Fingerprint {
 public:
  void add(size_t part) { value_ = (value_ ^ part) * 0x9e3779b97f4a7c15u + (value_ >> 29); }
  void add_signature(const Array& x) {
    add(static_cast<size_t>(x.dtype()));
    for (int axis = 0; axis < x.rank(); ++axis) add(static_cast<size_t>(x.shape()[axis]));
  }
  void add_numbers(const Array& x) {
    const Array row_major = x.contiguous();
    dispatch("checkpoint", x.dtype(), [&]<class T>() {
      const auto* bytes = reinterpret_cast<const char*>(row_major.data<T>());
      add(hash_of({bytes, static_cast<size_t>(row_major.numel()) * sizeof(T)}));
    });
  }
  bool operator==(const Fingerprint&) const = default;

 private:
  size_t value_ = 0;
};

/// Watches a run of f: the tensors that require gradients and that f uses beside its arguments, and
/// all that it does.
class Watch : public Observer {
 public:
  explicit Watch(const Tensors& arguments)
      : Observer(/*sees_parts=*/true), start_(next_sequence()), known_(nodes_of(arguments)) {}

  void computed(std::string_view op, const Tensors& x, const Array& y) override {
    done_.add(hash_of(op));
    for (const Tensor& input : x) {
      capture(input);
      add(input);
    }
    done_.add_signature(y);
  }

  void gives(const Tensors& results) {
    for (const Tensor& y : results) {
      done_.add(y.defined());
      if (!y.defined()) continue;
      capture(y);
      add(y);
      if (y.requires_grad()) done_.add_numbers(y.array());
    }
    check_graph(results);
  }

  const Tensors& captured() const { return captured_; }
  const Fingerprint& done() const { return done_; }

 private:
  void add(const Tensor& x) {
    done_.add_signature(x.array());
    done_.add(x.requires_grad());
    if (!x.requires_grad()) done_.add_numbers(x.array());
  }

  void capture(const Tensor& x) {
    if (!x.requires_grad() || known_.contains(x.node().get())) return;
    if (x.node()->sequence < start_) {
      known_.insert(x.node().get());
      captured_.push_back(x);
    } else {
      check<GraphError>(!x.node()->is_leaf(), "checkpoint: f makes ", signature(x),
                        " that requires gradients, which would get lost with this run of f; make "
                        "it before and let f capture it");
    }
  }

  /// All that the results depend on has been seen.
  void check_graph(const Tensors& results) const {
    std::vector<const Node*> stack;
    Nodes seen = known_;
    const auto visit = [&](const Node* node) {
      if (!node || !seen.insert(node).second) return;
      check<GraphError>(node->sequence >= start_ && !node->is_leaf(),
                        "checkpoint: f must work on the thread that calls it, got ",
                        Signature{node->dtype, node->shape},
                        " that requires gradients and was used on another one, whose gradient "
                        "would get lost; pass it as an input");
      stack.push_back(node);
    };
    for (const Tensor& y : results) visit(y.node().get());
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const auto& input : node->inputs) visit(input.get());
    }
  }

  uint64_t start_;
  Nodes known_;
  Tensors captured_;
  Fingerprint done_;
};

struct Run {
  Tensors results;
  Tensors captured;
  Fingerprint done;
};

Run run(const Segment& f, const Tensors& arguments, Rng* rng) {
  Watch watch(arguments);
  Tensors results = f(arguments, rng);
  watch.gives(results);
  return {std::move(results), watch.captured(), watch.done()};
}

}  // namespace

Tensors checkpoint(const Segment& f, const Tensors& inputs, Rng* rng) {
  check<ValueError>(f != nullptr, "checkpoint: needs a function to run, got an empty one");
  if (!recording()) return f(inputs, rng);
  const std::optional<Rng> before = rng ? std::optional(*rng) : std::nullopt;
  // Aliases, so that an input that f captures as well is told from the argument.
  Tensors arguments = inputs;
  for (Tensor& x : arguments)
    if (x.requires_grad()) x = alias(x);
  Run first = run(f, arguments, rng);
  Tensors all = inputs;
  all.insert(all.end(), first.captured.begin(), first.captured.end());
  // `used` holds plain pointers: the operation's inputs keep those nodes alive.
  const auto again = [f, before, used = nodes_of(first.captured),
                      done = first.done](const Tensors& x) {
    std::optional<Rng> replayed = before;
    Run second = run(f, x, replayed ? &*replayed : nullptr);
    check<GraphError>(nodes_of(second.captured) == used,
                      "checkpoint: f, run again, used other tensors that require gradients than "
                      "before; f must do the same each time, and capture by value");
    check<GraphError>(second.done == done,
                      "checkpoint: f, run again, did something else or with other numbers; pass "
                      "its random generator to checkpoint, and write to nothing that f reads "
                      "before the backward pass");
    return second.results;
  };
  // Each result is an operation of its own, which computes all of f again: one operation for all of
  // them would have to invent gradients, of 0, for those that none came to, and 0 times infinity is
  // NaN.
  for (size_t i = 0; i < first.results.size(); ++i) {
    Tensor& y = first.results[i];
    if (!y.requires_grad()) continue;
    y = record(Recomputed{.name = "checkpoint",
                          .inputs = all,
                          .arguments = inputs.size(),
                          .value = y.array(),
                          .definition = [again, i](const Tensors& x) { return again(x)[i]; }});
  }
  return first.results;
}

}  // namespace attograd

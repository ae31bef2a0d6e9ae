#include <algorithm>
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

/// The tensors that require gradients and that f uses beside its arguments.
class Captures : public Observer {
 public:
  explicit Captures(const Tensors& arguments)
      : Observer(/*sees_parts=*/true), start_(next_sequence()), known_(nodes_of(arguments)) {}

  void computed(std::string_view, const Tensors& x, const Array&) override {
    for (const Tensor& input : x) see(input);
  }

  void see(const Tensor& x) {
    if (!x.requires_grad() || known_.contains(x.node().get())) return;
    if (x.node()->sequence < start_) {
      known_.insert(x.node().get());
      tensors_.push_back(x);
    } else {
      check<GraphError>(!x.node()->is_leaf(), "checkpoint: f makes ", signature(x),
                        " that requires gradients, which would get lost with this run of f; make "
                        "it before and let f capture it");
    }
  }

  const Tensors& tensors() const { return tensors_; }

 private:
  uint64_t start_;
  Nodes known_;
  Tensors tensors_;
};

struct Run {
  Tensors results;
  Tensors captured;
};

Run run(const Segment& f, const Tensors& arguments, Rng* rng) {
  Captures captures(arguments);
  Tensors results = f(arguments, rng);
  for (const Tensor& y : results) captures.see(y);
  return {results, captures.tensors()};
}

/// The results that gradients flow to: the only one itself, or all of them in a row.   [N]
Tensor packed(const Tensors& results) {
  Tensors flat;
  for (const Tensor& y : results) {
    if (!y.requires_grad()) continue;
    flat.push_back(y);
    check<DTypeError>(y.dtype() == flat[0].dtype(),
                      "checkpoint: results must all be f32 or all f64, got ", flat[0].dtype(),
                      " and ", signature(y));
  }
  if (flat.size() <= 1) return flat.empty() ? Tensor() : flat[0];
  for (Tensor& y : flat) y = reshape(y, {-1});
  return cat(flat, 0);
}

/// The other way: parts of y take the places of those results.
void unpack(const Tensor& y, Tensors& results) {
  const auto passing = std::count_if(results.begin(), results.end(),
                                     [](const Tensor& result) { return result.requires_grad(); });
  int64_t begin = 0;
  for (Tensor& result : results) {
    if (!result.requires_grad()) continue;
    const int64_t end = begin + result.numel();
    result = passing == 1 ? y : reshape(slice(y, 0, begin, end), result.shape());
    begin = end;
  }
}

size_t fingerprint(const Array& x) {
  const Array row_major = x.contiguous();
  return dispatch("checkpoint", x.dtype(), [&]<class T>() {
    const auto* bytes = reinterpret_cast<const char*>(row_major.data<T>());
    return std::hash<std::string_view>()(
        {bytes, static_cast<size_t>(row_major.numel()) * sizeof(T)});
  });
}

}  // namespace

Tensors checkpoint(const Segment& f, const Tensors& inputs, Rng* rng) {
  if (!recording()) return f(inputs, rng);
  const std::optional<Rng> before = rng ? std::optional(*rng) : std::nullopt;
  // Aliases, so that an input that f captures as well is told from the argument.
  Tensors arguments = inputs;
  for (Tensor& x : arguments)
    if (x.requires_grad()) x = alias(x);
  Run first = run(f, arguments, rng);
  const Tensor y = packed(first.results);
  if (!y.defined()) return first.results;

  Tensors all = inputs;
  all.insert(all.end(), first.captured.begin(), first.captured.end());
  // `used` holds plain pointers: the operation's inputs keep those nodes alive.
  const auto definition = [f, before, used = nodes_of(first.captured),
                           print = fingerprint(y.array())](const Tensors& x) {
    std::optional<Rng> replayed = before;
    const Run again = run(f, x, replayed ? &*replayed : nullptr);
    check<GraphError>(nodes_of(again.captured) == used,
                      "checkpoint: f, run again, used other tensors that require gradients than "
                      "before; f must do the same each time, and capture by value");
    Tensor value = packed(again.results);
    check<GraphError>(value.defined() && fingerprint(value.array()) == print,
                      "checkpoint: f, run again, gave other numbers; pass its random generator to "
                      "checkpoint, and write to nothing that f reads before the backward pass");
    return value;
  };
  unpack(record(Recomputed{.name = "checkpoint",
                           .inputs = std::move(all),
                           .arguments = inputs.size(),
                           .value = y.array(),
                           .definition = definition}),
         first.results);
  return first.results;
}

}  // namespace attograd

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>
#include <unordered_set>

#include <attograd/core/autograd.h>
#include <attograd/core/observer.h>
#include <attograd/nn/audit.h>

namespace attograd::nn {
namespace {

using NodePtr = std::shared_ptr<Node>;

/// A place where gradients ended, and the rows whose parameters lie before it.
struct End {
  std::string what;
  std::vector<size_t> rows;
};

struct Contents {
  bool finite = true;
  bool zero = true;
};

Contents contents_of(const Tensor& x) {
  Contents found;
  const Array row_major = x.array().contiguous();
  dispatch<Floating>("audit", x.dtype(), [&]<class T>() {
    const T* first = row_major.data<T>();
    for (int64_t i = 0; i < x.numel(); ++i) {
      found.finite = found.finite && std::isfinite(first[i]);
      found.zero = found.zero && first[i] == 0;
    }
  });
  return found;
}

std::unordered_set<const Node*> upstream(const NodePtr& node) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack = {node.get()};
  while (!stack.empty()) {
    const Node* next = stack.back();
    stack.pop_back();
    if (!seen.insert(next).second) continue;
    for (const NodePtr& input : next->inputs)
      if (input) stack.push_back(input.get());
  }
  return seen;
}

class Ends : public Observer {
 public:
  explicit Ends(NamedTensors parameters) : parameters_(std::move(parameters)) {}
  std::vector<End> cuts, zeros, not_finite;

  void cut(std::string_view op, std::string_view why, const Tensor& x) override {
    cuts.push_back(end(std::string(op) + " (" + std::string(why) + ")", x.node()));
  }

  void pulled_back(const Node& node, const Tensor& g, const Tensors&,
                   const Tensors& gradients) override {
    if (node.recomputed) return;  // its operations have been shown
    const Contents above = contents_of(g);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      const Contents below = contents_of(gradients[i]);
      const std::string_view name = node.name;
      if (below.zero && !above.zero) zeros.push_back(end(std::string(name), node.inputs[i]));
      if (!below.finite && above.finite)
        not_finite.push_back(end(std::string(name), node.inputs[i]));
    }
  }

 private:
  /// Looked up at once: what a checkpoint computes again is freed right after.
  End end(std::string what, const NodePtr& at) const {
    const auto before = upstream(at);
    End found = {std::move(what), {}};
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (before.contains(parameters_[i].second.node().get())) found.rows.push_back(i);
    return found;
  }

  NamedTensors parameters_;
};

/// Notes each place in the rows of this state that it concerns.
void add_causes(const std::vector<End>& ends, GradientState state, std::vector<AuditRow>& rows) {
  std::set<std::pair<size_t, std::string>> noted;
  for (const End& end : ends)
    for (const size_t i : end.rows)
      if (rows[i].state == state && noted.emplace(i, end.what).second)
        rows[i].cause += (rows[i].cause.empty() ? "" : ", ") + end.what;
}

GradientState state_of(const Tensor& w, const Tensor& g) {
  if (!w.requires_grad()) return GradientState::frozen;
  if (!g.defined()) return GradientState::missing;
  const Contents found = contents_of(g);
  if (!found.finite) return GradientState::not_finite;
  return found.zero && g.numel() > 0 ? GradientState::zero : GradientState::ok;
}

std::string_view name_of(GradientState state) {
  switch (state) {
    case GradientState::ok:
      return "ok";
    case GradientState::frozen:
      return "frozen";
    case GradientState::missing:
      return "missing";
    case GradientState::zero:
      return "zero";
    case GradientState::not_finite:
      return "not finite";
  }
  return "?";
}

}  // namespace

bool AuditReport::ok() const {
  return std::all_of(rows.begin(), rows.end(), [](const AuditRow& row) {
    return row.state == GradientState::ok || row.state == GradientState::frozen;
  });
}

std::ostream& operator<<(std::ostream& out, const AuditReport& report) {
  size_t width = 0;
  for (const AuditRow& row : report.rows) width = std::max(width, row.name.size());
  for (const AuditRow& row : report.rows) {
    out << row.name << std::string(width - row.name.size() + 2, ' ') << name_of(row.state);
    out << (row.cause.empty() ? "" : ": ") << row.cause << '\n';
  }
  return out;
}

AuditReport audit(const NamedTensors& parameters, const std::function<Tensor()>& loss) {
  check<ValueError>(loss != nullptr,
                    "audit: needs a function that computes the loss, got an empty one");
  Tensors wanted;
  for (const auto& [name, w] : parameters)
    if (w.requires_grad()) wanted.push_back(w);
  Ends ends(parameters);
  const Tensor y = loss();
  check<GraphError>(y.defined(), "audit: the loss must be a tensor, got an undefined one");
  Tensors found(wanted.size());
  if (y.requires_grad() && !wanted.empty())
    found = grad({y}, wanted, {.retain_graph = true, .allow_unused = true});

  AuditReport report;
  size_t next = 0;
  for (const auto& [name, w] : parameters) {
    const Tensor g = w.requires_grad() ? found[next++] : Tensor();
    report.rows.push_back({name, state_of(w, g), {}});
  }
  add_causes(ends.cuts, GradientState::missing, report.rows);
  add_causes(ends.zeros, GradientState::zero, report.rows);
  add_causes(ends.not_finite, GradientState::not_finite, report.rows);
  for (AuditRow& row : report.rows)
    if (row.state == GradientState::missing)
      row.cause = row.cause.empty() ? "the loss does not use it, or only its numbers"
                                    : "its path ends at " + row.cause;
  return report;
}

}  // namespace attograd::nn

#include <cmath>
#include <sstream>
#include <unordered_set>

#include <attograd/core/detect_anomaly.h>
#include <attograd/core/graph.h>
#include <attograd/core/map.h>

namespace attograd {
namespace {

struct Range {
  double lowest = 0;
  double highest = 0;
  int64_t finite = 0;
  int64_t others = 0;
};

Range range_of(const Array& x) {
  Range range;
  if (!is_floating(x.dtype())) return range;
  const Array row_major = x.contiguous();
  dispatch<Floating>("detect_anomaly", x.dtype(), [&]<class T>() {
    const T* first = row_major.data<T>();
    for (int64_t i = 0; i < x.numel(); ++i) {
      const auto v = static_cast<double>(first[i]);
      if (!std::isfinite(v)) {
        ++range.others;
      } else {
        range.lowest = range.finite == 0 ? v : std::min(range.lowest, v);
        range.highest = range.finite == 0 ? v : std::max(range.highest, v);
        ++range.finite;
      }
    }
  });
  return range;
}

bool is_finite(const Array& x) { return range_of(x).others == 0; }

bool are_finite(const Tensors& x) {
  return std::all_of(x.begin(), x.end(), [](const Tensor& v) { return is_finite(v.array()); });
}

/// "y = f64[3] in [0, 2], 1 of 3 not finite"
std::string described(const std::string& name, const Array& x) {
  std::ostringstream text;
  text << name << " = " << signature(x);
  const Range range = range_of(x);
  if (range.finite > 0) text << " in [" << range.lowest << ", " << range.highest << "]";
  if (range.others > 0) text << ", " << range.others << " of " << x.numel() << " not finite";
  return text.str();
}

std::string described(const Tensors& x) {
  std::string text;
  for (size_t i = 0; i < x.size(); ++i)
    text += (i == 0 ? "" : "; ") + described("x[" + std::to_string(i) + "]", x[i].array());
  return text;
}

}  // namespace

DetectAnomaly::DetectAnomaly(const NamedTensors& parameters) : parameters_(parameters) {
  for (const auto& [name, w] : parameters)
    if (w.requires_grad()) names_.emplace(w.node().get(), name);
}

std::string DetectAnomaly::origin(const std::vector<const Node*>& inputs, const Tensors& x) const {
  std::string found;
  const auto note = [&](std::string_view how, const std::string& name) {
    found.append(found.empty() ? how : ", ").append(name);
  };
  // Constants have no node: a frozen parameter is known by its memory.
  for (const auto& [name, w] : parameters_)
    if (std::any_of(x.begin(), x.end(), [&, &parameter = w](const Tensor& input) {
          return !input.requires_grad() && parameter.defined() &&
                 input.array().shares_storage_with(parameter.array());
        }))
      note("; reads ", name);
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> level;
  const auto add = [&](const Node* node) {
    if (node && seen.insert(node).second) level.push_back(node);
  };
  for (const Node* node : inputs) add(node);
  for (bool direct = true; !level.empty() && !names_.empty(); direct = false) {
    std::vector<const Node*> nearer;
    nearer.swap(level);
    for (const Node* node : nearer) {
      const auto name = names_.find(node);
      if (name != names_.end()) note(direct ? "; reads " : "; after ", name->second);
      for (const auto& input : node->inputs) add(input.get());
    }
    if (!found.empty()) break;
  }
  return found;
}

void DetectAnomaly::computed(std::string_view op, const Tensors& x, const Array& y) {
  if (is_finite(y) || !are_finite(x)) return;
  std::vector<const Node*> inputs;
  for (const Tensor& input : x) inputs.push_back(input.node().get());
  fail<NumericError>("detect_anomaly: forward of ", op,
                     " must make finite numbers out of finite ones, got ", described("y", y),
                     " from ", described(x), origin(inputs, x));
}

void DetectAnomaly::pulled_back(const Node& node, const Tensor& g, const Tensors& x,
                                const Tensors& gradients) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() || is_finite(gradients[i].array())) continue;
    if (!is_finite(g.array()) || !are_finite(x)) return;
    if (node.y.defined() && !is_finite(node.y.unpack(node.name).array())) return;
    std::vector<const Node*> inputs;
    for (const auto& input : node.inputs) inputs.push_back(input.get());
    fail<NumericError>("detect_anomaly: backward of ", std::string_view(node.name),
                       " (rule of input ", i, ") must make finite numbers out of finite ones, got ",
                       described("gradient", gradients[i].array()), " from ",
                       described("g", g.array()), x.empty() ? "" : "; ", described(x),
                       origin(inputs, x));
  }
}

}  // namespace attograd

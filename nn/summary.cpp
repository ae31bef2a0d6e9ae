#include <algorithm>
#include <iomanip>

#include <attograd/nn/summary.h>

namespace attograd::nn {
namespace {

struct Line {
  std::string label;
  int64_t count;
  std::string remark;
};

/// "a.b.c" -> "a", "a.b", "a.b.c"
std::vector<std::string> paths_to(const std::string& name) {
  std::vector<std::string> paths;
  for (size_t end = name.find('.'); end != std::string::npos; end = name.find('.', end + 1))
    paths.push_back(name.substr(0, end));
  paths.push_back(name);
  return paths;
}

std::string aligned(const std::vector<Line>& lines) {
  size_t labels = 0, counts = 0;
  for (const Line& line : lines) {
    labels = std::max(labels, line.label.size());
    counts = std::max(counts, std::to_string(line.count).size());
  }
  std::ostringstream text;
  for (const auto& [label, count, remark] : lines)
    text << std::left << std::setw(static_cast<int>(labels)) << label << "  " << std::right
         << std::setw(static_cast<int>(counts)) << count << remark << '\n';
  return text.str();
}

}  // namespace

std::string summary(const NamedTensors& tensors) {
  std::map<const Array*, std::string> first_names;
  std::map<std::string, int64_t> counts;  // of everything below a path
  int64_t all = 0, frozen = 0;
  for (const auto& [name, tensor] : tensors) {
    if (!first_names.emplace(&tensor.array(), name).second) continue;  // tied
    all += tensor.numel();
    if (!tensor.requires_grad()) frozen += tensor.numel();
    for (const std::string& path : paths_to(name)) counts[path] += tensor.numel();
  }

  std::vector<Line> lines;
  std::vector<std::string> open;  // the paths that stand above
  for (const auto& [name, tensor] : tensors) {
    const std::vector<std::string> paths = paths_to(name);
    for (size_t depth = 0; depth < paths.size(); ++depth) {
      if (depth < open.size() && open[depth] == paths[depth]) continue;
      const std::string& path = paths[depth];
      const size_t own = depth == 0 ? 0 : paths[depth - 1].size() + 1;
      lines.push_back({std::string(2 * depth, ' ') + path.substr(own), counts[path], {}});
    }
    open = paths;
    std::ostringstream remark;
    remark << "  " << signature(tensor) << (tensor.requires_grad() ? "" : "  frozen");
    const std::string& first = first_names.at(&tensor.array());
    if (first != name) remark << "  tied to " << first;
    lines.back().remark = remark.str();
  }
  lines.push_back({"all", all, frozen > 0 ? "  of them frozen " + std::to_string(frozen) : ""});
  return aligned(lines);
}

}  // namespace attograd::nn

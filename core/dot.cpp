#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

#include <attograd/core/dot.h>
#include <attograd/core/graph.h>

namespace attograd {
namespace {

bool is_control(char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }
bool continues_utf8(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Text between quotes, as Graphviz reads it: control bytes by their numbers, and no more than a
/// picture has room for.
std::string escaped(std::string_view text) {
  constexpr size_t kLongest = 100;
  constexpr std::string_view kHex = "0123456789abcdef";
  size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && continues_utf8(text[end])) --end;
  std::string out;
  for (const char c : text.substr(0, end)) {
    if (c == '\n') {
      out += "\\n";
    } else if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', '\\', 'x', kHex[byte / 16], kHex[byte % 16]};
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return end < text.size() ? out + "..." : out;
}

}  // namespace

std::string to_dot(const Tensor& y, const NamedTensors& names) {
  check<GraphError>(y.requires_grad(), "to_dot: nothing that ", signature(y),
                    " depends on requires gradients, so it has no graph");
  std::unordered_map<const Node*, std::string> name_of;
  for (const auto& [name, tensor] : names)
    if (tensor.requires_grad()) name_of.emplace(tensor.node().get(), name);

  std::map<uint64_t, const Node*> nodes;  // by the order of recording
  std::vector<const Node*> stack = {y.node().get()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!nodes.emplace(node->sequence, node).second) continue;
    for (const auto& input : node->inputs)
      if (input) stack.push_back(input.get());
  }

  std::unordered_map<const Node*, size_t> number;
  std::ostringstream out;
  out << "digraph {\n";
  for (const auto& [sequence, node] : nodes) {
    const size_t own = number.emplace(node, number.size()).first->second;
    const auto name = name_of.find(node);
    const std::string_view op = node->name;
    out << "  n" << own << " [label=\"" << escaped(name == name_of.end() ? op : name->second)
        << "\\n"
        << Signature{node->dtype, node->shape} << (node->freed ? "\\nfreed" : "") << '"'
        << (node->is_leaf() ? ", shape=box" : "") << "];\n";
    for (const auto& input : node->inputs)
      if (input) out << "  n" << number.at(input.get()) << " -> n" << own << ";\n";
  }
  out << "}\n";
  return out.str();
}

}  // namespace attograd

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <attograd/core/ops.h>
#include <attograd/nn/torch_names.h>

namespace attograd::nn {
namespace {

/// What PyTorch calls a part of a dotted name; "" if it has none for it.
const std::map<std::string_view, std::string_view> kParts{
    {"encoder", "encoder"},
    {"decoder", "decoder"},
    {"layers", "layers"},
    {"norm", "norm"},
    {"self_attention", "self_attn"},
    {"cross_attention", "multihead_attn"},
    {"self_attention_norm", "norm1"},
    {"cross_attention_norm", "norm2"},
    {"feed_forward_norm", "norm3"},  // norm2 in an encoder's layer, which has nothing between
    {"feed_forward", ""},
    {"up", "linear1"},
    {"down", "linear2"},
    {"query", "query"},  // the three are packed below
    {"key", "key"},
    {"value", "value"},
    {"output", "out_proj"},
    {"weight", "weight"},
    {"bias", "bias"}};

/// PyTorch's name for a parameter, projections not yet packed; "" if it has no place for it.
std::string renamed(const std::string& name, const std::map<std::string, Tensor>& all) {
  std::string renamed;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (part.find_first_not_of("0123456789") != std::string_view::npos) {
      const auto found = kParts.find(part);
      if (found == kParts.end()) return "";
      const bool in_encoder = !all.contains(name.substr(0, begin) + "cross_attention_norm.weight");
      part = part == "feed_forward_norm" && in_encoder ? "norm2" : found->second;
    }
    if (!renamed.empty() && !part.empty()) renamed += '.';
    renamed += part;
    begin = end + 1;
  }
  return renamed;
}

/// A tensor of PyTorch's, made of parameters one below the other.
struct Packed {
  std::string name;
  NamedTensors rows;
};

/// "a.b.query.weight" -> {"a.b.", "query", "weight"}
struct Parts {
  std::string prefix, member, kind;

  explicit Parts(const std::string& name) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos) return;
    const size_t begin = name.rfind('.', dot - 1) + 1;  // 0 if there is no other dot
    prefix = name.substr(0, begin);
    member = name.substr(begin, dot - begin);
    kind = name.substr(dot + 1);
  }
};

/// The weights, or the biases, of query, key and value.
NamedTensors projections(const Parts& parts, const std::map<std::string, Tensor>& all) {
  const char* const rule =
      "to_torch: PyTorch's attention has as many outputs of query, key and value as inputs of "
      "query, and all three biases or none, got ";
  NamedTensors three;
  for (const char* member : {"query.", "key.", "value."}) {
    const auto found = all.find(parts.prefix + member + parts.kind);
    check<ShapeError>(found != all.end(), rule, "no ", parts.prefix, member, parts.kind);
    three.push_back(*found);
  }
  for (const auto& [name, tensor] : three) {
    const Tensor& query = three[0].second;
    check<ShapeError>(tensor.rank() > 0 && tensor.dim(0) == query.dim(-1), rule, name, ' ',
                      signature(tensor), " and a query of ", signature(query));
  }
  return three;
}

/// They are one tensor, unless keys or values come in with widths of their own.
std::vector<Packed> packed_projections(const std::string& prefix, const std::string& kind,
                                       const NamedTensors& three) {
  const Shape& query = three[0].second.shape();
  if (three[1].second.shape() == query && three[2].second.shape() == query)
    return {{prefix + "in_proj_" + kind, three}};
  return {{prefix + "q_proj_" + kind, {three[0]}},
          {prefix + "k_proj_" + kind, {three[1]}},
          {prefix + "v_proj_" + kind, {three[2]}}};
}

/// PyTorch's tensors for these parameters.
std::vector<Packed> packed(const NamedTensors& parameters) {
  const std::map<std::string, Tensor> all(parameters.begin(), parameters.end());
  std::vector<Packed> list;
  std::string unknown;
  for (const auto& [name, tensor] : parameters) {
    const std::string there = renamed(name, all);
    const Parts parts(name);
    if (there.empty()) {
      unknown += ' ' + name;
    } else if (parts.member == "query") {
      for (Packed& one :
           packed_projections(Parts(there).prefix, parts.kind, projections(parts, all)))
        list.push_back(std::move(one));
    } else if (parts.member == "key" || parts.member == "value") {
      projections(parts, all);  // stand with their query, which there must be
    } else {
      list.push_back({there, {{name, tensor}}});
    }
  }
  check<FormatError>(unknown.empty(), "to_torch: PyTorch's modules have no place for", unknown);
  return list;
}

}  // namespace

NamedTensors to_torch(const NamedTensors& parameters) {
  NamedTensors state;
  std::set<std::string> names;
  for (const auto& [name, rows] : packed(parameters)) {
    Tensors parts;
    for (const auto& [own, tensor] : rows) parts.push_back(tensor);
    check<FormatError>(names.insert(name).second,
                       "to_torch: two parameters must not have one name there, got ", name, " for ",
                       rows[0].first, " and another");
    state.emplace_back(name, parts.size() == 1 ? parts[0] : cat(parts, 0));
  }
  return state;
}

NamedTensors from_torch(const NamedTensors& state, const NamedTensors& parameters) {
  const Tensors found = matched("from_torch", to_torch(parameters), state);
  NamedTensors list;
  size_t place = 0;
  for (const auto& [there, rows] : packed(parameters)) {
    const Tensor& whole = found[place++];
    int64_t row = 0;
    for (const auto& [name, tensor] : rows) {
      list.emplace_back(name, rows.size() == 1 ? whole : slice(whole, 0, row, row + tensor.dim(0)));
      row += tensor.dim(0);
    }
  }
  return list;
}

}  // namespace attograd::nn

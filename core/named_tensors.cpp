#include <map>
#include <string_view>
#include <unordered_set>

#include <attograd/core/named_tensors.h>

namespace attograd {
namespace {

const Tensor& tensor_of(const Tensor& x) { return x; }
const Tensor& tensor_of(const std::pair<std::string, Tensor>& named) { return named.second; }

template <class List>
List distinct_entries(const List& list) {
  std::unordered_set<const Array*> seen;  // all handles of a tensor refer to one Array
  List once;
  for (const auto& entry : list)
    if (seen.insert(&tensor_of(entry).array()).second) once.push_back(entry);
  return once;
}

bool same_numbers(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() || a.shape() != b.shape()) return false;
  const auto numbers = [](const Tensor& x) {
    return Tensor(x.array().cast(DType::f64)).to_vector<double>();
  };
  return numbers(a) == numbers(b);
}

bool converts(DType from, DType to) { return from == to || (is_floating(from) && is_floating(to)); }

void list_in(std::ostream& out, std::string_view what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  out << "\n  " << what << ":";
  for (const std::string& name : names) out << ' ' << name;
}

using Pairs = std::vector<std::pair<Tensor, Tensor>>;

/// Targets and the sources of their names.
Pairs pairs_of(std::string_view op, const NamedTensors& targets, const NamedTensors& sources,
               const LoadOptions& options, LoadReport& report) {
  std::vector<std::string> twice;
  std::vector<std::string> misfits;
  std::map<std::string, Tensor, std::less<>> by_name;
  for (const auto& [name, source] : sources)
    if (!by_name.emplace(name, source).second) twice.push_back(name);

  Pairs pairs;
  for (const auto& [name, target] : targets) {
    const auto found = by_name.extract(name);
    if (!found) {
      report.missing.push_back(name);
      continue;
    }
    const Tensor& source = found.mapped();
    check<ValueError>(source.defined(), op, ": tensors must be defined, got ", name,
                      " without one");
    if (source.shape() != target.shape() || !converts(source.dtype(), target.dtype())) {
      std::ostringstream text;
      text << name << " (" << signature(source) << " for " << signature(target) << ")";
      misfits.push_back(text.str());
    }
    pairs.emplace_back(target, source);
  }
  for (const auto& [name, source] : by_name) report.unexpected.push_back(name);

  std::ostringstream wrong;
  list_in(wrong, "listed twice", twice);
  list_in(wrong, "of another shape or type", misfits);
  if (options.strict) {
    list_in(wrong, "missing", report.missing);
    list_in(wrong, "unexpected", report.unexpected);
  }
  check<FormatError>(wrong.str().empty(), op,
                     ": every tensor must have one of its name, shape and type, got", wrong.str());
  return pairs;
}

}  // namespace

NamedTensors distinct(const NamedTensors& tensors) { return distinct_entries(tensors); }
Tensors distinct(const Tensors& tensors) { return distinct_entries(tensors); }

NamedTensors under_first_names(const NamedTensors& targets, const NamedTensors& sources) {
  std::map<const Array*, std::string> first_names;
  std::map<std::string, std::string> first_name_of;
  for (const auto& [name, target] : targets)
    first_name_of[name] = first_names.emplace(&target.array(), name).first->second;
  NamedTensors list;
  std::map<std::string, std::pair<std::string, Tensor>> taken;  // by the first name
  for (const auto& [name, source] : sources) {
    const auto found = first_name_of.find(name);
    const std::string& first = found == first_name_of.end() ? name : found->second;
    const auto [place, is_new] = taken.try_emplace(first, name, source);
    // The same name twice is left for load() to list.
    if (is_new || place->second.first == name) {
      list.emplace_back(first, source);
    } else {
      check<FormatError>(same_numbers(place->second.second, source), "load: the tied tensors ",
                         place->second.first, " and ", name, " must have equal numbers, got ",
                         signature(place->second.second), " and ", signature(source),
                         " that differ");
    }
  }
  return list;
}

Tensors matched(std::string_view op, const NamedTensors& targets, const NamedTensors& sources) {
  LoadReport report;
  Tensors list;
  for (const auto& [target, source] : pairs_of(op, targets, sources, {}, report))
    list.push_back(source);
  return list;
}

LoadReport load(const NamedTensors& targets, const NamedTensors& sources,
                const LoadOptions& options) {
  LoadReport report;
  Pairs pairs = pairs_of("load", targets, sources, options, report);
  // A source may share memory with the target of another name: it is read before any is written.
  for (auto& [target, source] : pairs)
    for (const auto& [other, unused] : pairs)
      if (source.array().shares_storage_with(other.array())) source = Tensor(source.array().copy());
  for (auto& [target, source] : pairs) target.assign(source);
  return report;
}

}  // namespace attograd

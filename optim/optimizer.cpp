#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <attograd/core/ops.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/optimizer.h>

namespace attograd::optim {
namespace {

struct Span {
  int64_t first, last;  // elements of a storage
};

Span span_of(const Array& x) {
  Span span{x.offset(), x.offset()};
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t reach = (x.shape()[axis] - 1) * x.strides()[axis];
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}

/// Where the elements lie in their storage, in rising order.
std::vector<int64_t> places_of(const Array& x) {
  std::vector<int64_t> places{x.offset()};
  for (int axis = 0; axis < x.rank(); ++axis) {
    std::vector<int64_t> more;
    for (int64_t place : places)
      for (int64_t i = 0; i < x.shape()[axis]; ++i) more.push_back(place + i * x.strides()[axis]);
    places = std::move(more);
  }
  std::sort(places.begin(), places.end());
  return places;
}

bool overlap(const Array& a, const Array& b) {
  if (!a.shares_storage_with(b) || a.numel() == 0 || b.numel() == 0) return false;
  const Span p = span_of(a), q = span_of(b);
  if (p.last < q.first || q.last < p.first) return false;
  const std::vector<int64_t> of_a = places_of(a), of_b = places_of(b);
  std::vector<int64_t> common;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                        std::back_inserter(common));
  return !common.empty();
}

/// What an option is where it meets numbers of the dtype.
double rounded(double option, DType dtype) {
  return dispatch<Floating>("optimizer", dtype,
                            [&]<class T>() -> double { return static_cast<T>(option); });
}

}  // namespace

NamedTensors numbered(const Tensors& parameters) {
  NamedTensors named;
  for (const Tensor& w : parameters) named.emplace_back(std::to_string(named.size()), w);
  return named;
}

void check_parameters(const char* optimizer, const NamedTensors& parameters) {
  check<ValueError>(distinct(parameters).size() == parameters.size(), optimizer,
                    ": a tensor must not be in two groups");
  std::set<std::string> names;
  for (const auto& [name, w] : parameters) {
    check<ValueError>(names.insert(name).second, optimizer, ": two parameters are called ", name);
    check<ValueError>(is_floating(w.dtype()), optimizer, ": parameters must be f32 or f64, got ",
                      name, " = ", signature(w));
    for (int axis = 0; axis < w.rank(); ++axis)
      check<ValueError>(w.shape()[axis] <= 1 || w.array().strides()[axis] != 0, optimizer,
                        ": parameters must not be expanded, got ", name, " = ", signature(w));
    check<ValueError>(!w.requires_grad() || w.node()->is_leaf(), optimizer,
                      ": parameters must be leaves, got ", name, " = ", signature(w),
                      ", the result of an operation");
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const auto& [first, a] = parameters[j];
      const auto& [second, b] = parameters[i];
      check<ValueError>(!overlap(a.array(), b.array()), optimizer,
                        ": parameters must not overlap in memory, got ", first, " = ", signature(a),
                        " and ", second, " = ", signature(b), "; list what they are views of");
    }
}

DType narrowest(const NamedTensors& parameters) {
  const bool any = std::any_of(parameters.begin(), parameters.end(), [](const auto& entry) {
    return entry.second.dtype() == DType::f32;
  });
  return any ? DType::f32 : DType::f64;
}

void check_not_negative(const char* optimizer, DType dtype,
                        std::initializer_list<std::pair<const char*, double>> options) {
  for (const auto& [name, value] : options)
    check<ValueError>(std::isfinite(rounded(value, dtype)) && value >= 0, optimizer, ": ", name,
                      " must be finite in ", dtype, " and >= 0, got ", value);
}

void check_eps(const char* optimizer, DType dtype, double eps) {
  const double held = rounded(eps, dtype);
  check<ValueError>(std::isfinite(held) && held > 0, optimizer, ": eps must be finite and > 0 in ",
                    dtype, ", got ", eps, "; without it a gradient of zeros gives 0 / 0");
}

void check_gradients(const char* optimizer, const NamedTensors& parameters) {
  for (const auto& [name, w] : parameters)
    if (!gradients_are_finite({w}))
      fail<NumericError>(optimizer, ": gradients must be finite, got one of norm ",
                         gradient_norm({w}), " for ", name, " = ", signature(w),
                         "; no parameter was updated");
}

void check_state(const char* optimizer, const std::map<std::string, Place>& places,
                 const NamedTensors& state) {
  const NoGrad numbers_only;
  for (const auto& [name, tensor] : state) {
    const auto found = places.find(name);
    if (found == places.end()) continue;
    const auto& [dtype, range] = found->second;
    // A number that is no count has no i64: such a tensor is looked at as it is.
    const Tensor read = is_floating(dtype) ? cast(tensor, dtype) : tensor;
    const Tensor x = cast(read, DType::f64);
    const Tensor within = logical_and(x >= range.low, x <= range.high);  // false for NaN
    const double outside = static_cast<double>(x.numel()) - sum(within).item();
    check<FormatError>(outside == 0, optimizer, ": ", name, " must hold ", range.text, " of ",
                       dtype, ", got ", outside, " others in ", signature(tensor),
                       "; the state was damaged or is another optimizer's");
  }
}

}  // namespace attograd::optim

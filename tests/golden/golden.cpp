#include <charconv>
#include <cmath>
#include <limits>

#include <tests/golden/golden.h>

#include <attograd/core/autograd.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>

namespace attograd::golden {
namespace {

template <class T>
T parsed(const std::string& name, const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  check<FormatError>(error == std::errc() && stop == end, "option ", name,
                     " must be a number, got ", text);
  return value;
}

std::string difference(const std::string& name, const Tensor& found, const Tensor& right,
                       double tolerance) {
  std::ostringstream text;
  if (!found.defined() || !right.defined()) {
    text << name << " is missing" << (right.defined() ? "" : " in the file");
  } else if (found.shape() != right.shape()) {
    text << name << " is " << signature(found) << " and should be " << signature(right);
  } else {
    const auto numbers = [](const Tensor& x) {
      return Tensor(x.array().cast(DType::f64)).to_vector<double>();
    };
    const std::vector<double> a = numbers(found), b = numbers(right);
    double largest = 1, apart = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(b[i]));
      const double d = std::abs(a[i] - b[i]);
      if (!(d <= apart)) apart = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
    }
    if (!(apart <= tolerance * largest))
      text << name << " is up to " << apart << " off, the largest right number being " << largest;
  }
  return text.str();
}

}  // namespace

std::string Options::text(const std::string& name) {
  const auto found = texts_.find(name);
  check<FormatError>(found != texts_.end(), "option ", name, " is missing");
  read_.insert(name);
  return found->second;
}

int64_t Options::integer(const std::string& name) { return parsed<int64_t>(name, text(name)); }

double Options::number(const std::string& name) { return parsed<double>(name, text(name)); }

bool Options::flag(const std::string& name) {
  const std::string value = text(name);
  check<FormatError>(value == "True" || value == "False", "option ", name,
                     " must be True or False, got ", value);
  return value == "True";
}

std::optional<double> Options::fill() {
  if (!has("mask")) return std::nullopt;
  check<FormatError>(text("mask") == "true keeps", "option mask: only true keeps is known, got ",
                     text("mask"));
  if (text("fill") == "zero row") return std::nullopt;
  return number("fill");
}

void Options::check_all_read() const {
  for (const auto& [name, value] : texts_)
    check<FormatError>(read_.contains(name), "option ", name, " = ", value, " is not known");
}

Golden::Golden(const std::filesystem::path& path) {
  const SafetensorsFile file = load_safetensors(path);
  tensors = file.tensors;
  Options options(file.metadata);
  module = options.text("module");
  loss = options.text("loss");
  forward = build_system(module, options);
  if (!forward) forward = build_torch_module(module, options);
  check<FormatError>(forward != nullptr, "module ", module, " is not known");
  options.check_all_read();
}

TensorMap Golden::part(const std::string& prefix, DType dtype) const {
  TensorMap found;
  for (const auto& [name, tensor] : tensors)
    if (name.starts_with(prefix)) {
      const bool numbers = is_floating(tensor.dtype());
      Tensor copy(tensor.array().cast(numbers ? dtype : tensor.dtype()));
      found[name.substr(prefix.size())] = copy.set_requires_grad(numbers);
    }
  return found;
}

TensorMap Golden::inputs(DType dtype) const {
  TensorMap inputs = part("in.", dtype);
  inputs.erase("weight_of_loss");
  return inputs;
}

Tensor Golden::loss_of(const TensorMap& outputs) const {
  if (loss == "out.loss") return outputs.at("loss");
  check<FormatError>(loss == "sum(out.y * in.weight_of_loss)", "no such loss: ", loss);
  const Tensor y = outputs.at("y");
  return sum(y * Tensor(tensors.at("in.weight_of_loss").array().cast(y.dtype())));
}

std::vector<std::string> differences(const Golden& golden, const Forward& forward, DType dtype,
                                     bool weights) {
  const double tolerance = dtype == DType::f64 ? 1e-12 : 2e-5;
  std::vector<std::string> list;
  const auto compare = [&](const std::string& name, const Tensor& found, const Tensor& right) {
    const std::string text = difference(name, found, right, tolerance);
    if (!text.empty()) list.push_back(text);
  };
  const TensorMap inputs = golden.inputs(dtype), parameters = golden.part("param.", dtype);
  TensorMap outputs = forward(inputs, parameters, weights);
  for (const auto& [name, right] : golden.part("out.", DType::f64))
    if (name != "attn" || weights) compare(name, outputs[name], right);
  backward(golden.loss_of(outputs));
  const auto compare_gradients = [&](const TensorMap& leaves, const std::string& prefix) {
    TensorMap right = golden.part(prefix, DType::f64);
    for (const auto& [name, leaf] : leaves)
      if (leaf.requires_grad() || right.contains(name))
        compare(prefix + name, leaf.grad(), right[name]);
    for (const auto& [name, gradient] : right)
      if (!leaves.contains(name)) list.push_back(prefix + name + " is of no input or parameter");
  };
  compare_gradients(inputs, "grad.in.");
  compare_gradients(parameters, "grad.param.");
  return list;
}

}  // namespace attograd::golden

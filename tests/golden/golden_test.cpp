// Values and gradients from PyTorch, in float64 (README.md beside this file says what the files
// hold). Each file of this folder, and of the one that ATTOGRAD_GOLDEN_DIR names, if any, says in
// its metadata which module made it.

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <tests/golden/golden.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>

using namespace attograd;
using golden::Forward;
using golden::Options;
using golden::TensorMap;

namespace {

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> folders = {ATTOGRAD_SOURCE_DIR "/tests/golden"};
  if (const char* folder = std::getenv("ATTOGRAD_GOLDEN_DIR")) folders.emplace_back(folder);
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  return files;
}

/// A file and the module that it describes.
struct Golden {
  std::string loss;
  TensorMap tensors;
  Forward forward;

  explicit Golden(const std::filesystem::path& path) {
    const SafetensorsFile file = load_safetensors(path);
    tensors = file.tensors;
    Options options(file.metadata);
    const std::string module = options.text("module");
    loss = options.text("loss");
    forward = golden::build_system(module, options);
    if (!forward) forward = golden::build_torch_module(module, options);
    check<FormatError>(forward != nullptr, "module ", module, " is not known");
    options.check_all_read();
  }

  /// The tensors whose names begin with the prefix, without it; numbers in that dtype.
  TensorMap part(const std::string& prefix, DType dtype) const {
    TensorMap found;
    for (const auto& [name, tensor] : tensors)
      if (name.starts_with(prefix)) {
        const bool numbers = is_floating(tensor.dtype());
        Tensor copy(tensor.array().cast(numbers ? dtype : tensor.dtype()));
        found[name.substr(prefix.size())] = copy.set_requires_grad(numbers);
      }
    return found;
  }
};

/// The inputs of the module.
TensorMap inputs_of(const Golden& golden, DType dtype) {
  TensorMap inputs = golden.part("in.", dtype);
  inputs.erase("weight_of_loss");
  return inputs;
}

/// What the gradients are of.
Tensor loss_of(const Golden& golden, const TensorMap& outputs, DType dtype) {
  if (golden.loss == "out.loss") return outputs.at("loss");
  check<FormatError>(golden.loss == "sum(out.y * in.weight_of_loss)",
                     "no such loss: ", golden.loss);
  return sum(outputs.at("y") * detach(golden.part("in.weight_of_loss", dtype).at("")));
}

/// Tensors are equal if the largest difference is at most `tolerance` max(1, largest right number):
/// entries that cancel to about 0 are compared at the size of the others.
void check_equal(const std::string& name, const Tensor& found, const Tensor& right,
                 double tolerance) {
  CAPTURE(name);
  REQUIRE(found.defined());
  REQUIRE(found.shape() == right.shape());
  const std::vector<double> a = Tensor(found.array().cast(DType::f64)).to_vector<double>(),
                            b = right.to_vector<double>();
  double largest = 1, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    const double d = std::abs(a[i] - b[i]);
    difference = d <= difference ? difference : d;  // NaN stays
  }
  CHECK(difference <= tolerance * largest);
}

void check_gradients(const TensorMap& leaves, const TensorMap& right, double tolerance) {
  for (const auto& [name, leaf] : leaves) {
    const bool listed = right.contains(name);
    CAPTURE(name);
    CHECK(listed == leaf.requires_grad());
    if (listed) check_equal("gradient of " + name, leaf.grad(), right.at(name), tolerance);
  }
  CHECK(std::all_of(right.begin(), right.end(),
                    [&](const auto& entry) { return leaves.contains(entry.first); }));
}

void check_values(const Golden& golden, DType dtype, bool weights) {
  const double tolerance = dtype == DType::f64 ? 1e-12 : 2e-5;
  const TensorMap inputs = inputs_of(golden, dtype);
  const TensorMap parameters = golden.part("param.", dtype);
  const TensorMap outputs = golden.forward(inputs, parameters, weights);
  for (const auto& [name, right] : golden.part("out.", DType::f64)) {
    if (name == "attn" && !weights) continue;
    CAPTURE(name);
    REQUIRE(outputs.contains(name));
    check_equal(name, outputs.at(name), right, tolerance);
  }
  backward(loss_of(golden, outputs, dtype));
  check_gradients(inputs, golden.part("grad.in.", DType::f64), tolerance);
  check_gradients(parameters, golden.part("grad.param.", DType::f64), tolerance);
}

/// Second derivatives along a random direction for each input and parameter, so that the cost does
/// not depend on their sizes. Directions are short: a longer one would cross the kinks of relu.
GradcheckReport second_order(const Golden& golden, bool weights) {
  Rng rng(1);
  std::vector<std::pair<TensorMap, std::string>> places;
  TensorMap inputs = inputs_of(golden, DType::f64), parameters = golden.part("param.", DType::f64);
  TensorMap directions;
  GradcheckOptions options;
  Tensors steps;
  for (const auto* part : {&inputs, &parameters})
    for (const auto& [name, tensor] : *part)
      if (tensor.requires_grad()) {
        const std::string place = (part == &inputs ? "in." : "param.") + name;
        directions[place] = 0.05 * randn(tensor.shape(), rng, DType::f64);
        options.input_names.push_back(place);
        steps.push_back(zeros({}, DType::f64).set_requires_grad());
      }
  const auto f = [&](const Tensors& t) {
    TensorMap moved_inputs = inputs, moved_parameters = parameters;
    for (size_t i = 0; i < t.size(); ++i) {
      const std::string& place = options.input_names[i];
      const bool is_input = place.starts_with("in.");
      Tensor& x =
          is_input ? moved_inputs.at(place.substr(3)) : moved_parameters.at(place.substr(6));
      x = detach(x) + t[i] * directions.at(place);
    }
    const TensorMap outputs = golden.forward(moved_inputs, moved_parameters, weights);
    return loss_of(golden, outputs, DType::f64);
  };
  return gradgradcheck(f, steps, options);
}

/// Calls check(golden) for every file.
template <class Check>
void for_each_file(const Check& check) {
  for (const auto& path : golden_files()) {
    CAPTURE(path.string());
    CHECK_NOTHROW(check(Golden(path)));
  }
}

}  // namespace

TEST_CASE("all golden files are here") { CHECK(golden_files().size() >= 23); }

TEST_CASE("modules give the values and gradients of the golden files") {
  for_each_file([](const Golden& golden) {
    for (const DType dtype : {DType::f64, DType::f32})
      for (const bool weights : {true, false}) {
        CAPTURE(dtype);
        CAPTURE(weights);
        check_values(golden, dtype, weights);
      }
  });
}

TEST_CASE("modules of the golden files have right second derivatives") {
  for_each_file([](const Golden& golden) {
    for (const bool weights : {true, false}) {
      const GradcheckReport report = second_order(golden, weights);
      CHECK_MESSAGE(report.ok(), report);
    }
  });
}

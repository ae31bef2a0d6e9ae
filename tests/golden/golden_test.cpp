// Values and gradients from PyTorch, in float64 (README.md beside this file says what the files
// hold). Each file of this folder, and of the one that ATTOGRAD_GOLDEN_DIR names, if any, says in
// its metadata which module made it.

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <tests/golden/golden.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/ops.h>

using namespace attograd;
using golden::Golden;
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

/// Second derivatives along a random direction for each input and parameter, so that the cost does
/// not depend on their sizes. Directions are short: a longer one would cross the kinks of relu.
GradcheckReport second_order(const Golden& golden, bool weights) {
  Rng rng(1);
  const TensorMap inputs = golden.inputs(DType::f64),
                  parameters = golden.part("param.", DType::f64);
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
    return golden.loss_of(golden.forward(moved_inputs, moved_parameters, weights));
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
        CHECK(differences(golden, golden.forward, dtype, weights) == std::vector<std::string>());
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

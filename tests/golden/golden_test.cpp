// Values and gradients from PyTorch, in float64 (README.md beside this file says what the files
// hold). Each file of this folder, and of the one that ATTOGRAD_GOLDEN_DIR names, if any, says in
// its metadata which module made it.

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <tests/along.h>
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
  for (const auto& folder : folders) {
    const size_t before = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
    REQUIRE_MESSAGE(files.size() > before, "no golden file in ", folder);
  }
  return files;
}

GradcheckReport second_order(const Golden& golden, bool weights) {
  const TensorMap inputs = golden.inputs(DType::f64);
  const TensorMap parameters = golden.part("param.", DType::f64);
  Tensors leaves;
  GradcheckOptions options;
  for (const TensorMap& part : {inputs, parameters})
    for (const auto& [name, tensor] : part) {
      leaves.push_back(tensor);
      if (tensor.requires_grad()) options.input_names.push_back(name);
    }
  const auto loss = [&](const Tensors& moved) {
    TensorMap moved_inputs = inputs, moved_parameters = parameters;
    auto next = moved.begin();
    for (TensorMap* part : {&moved_inputs, &moved_parameters})
      for (auto& [name, tensor] : *part) tensor = *next++;
    return golden.loss_of(golden.forward(moved_inputs, moved_parameters, weights));
  };
  return gradgradcheck_along(loss, leaves, options);
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

TEST_CASE("all golden files are here") { CHECK(golden_files().size() >= 31); }

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

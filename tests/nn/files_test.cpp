#include <doctest/doctest.h>
#include <tests/temporary_folder.h>

#include <attograd/core/create.h>
#include <attograd/nn/files.h>
#include <attograd/nn/gpt.h>

namespace attograd::nn {
namespace {

Gpt model(uint64_t seed, int64_t width = 4) {
  Rng rng(seed);
  return Gpt({.vocabulary = 5, .context = 3, .layers = 2, .heads = 2, .width = width}, rng);
}

std::vector<float> logits(const Gpt& gpt) {
  return gpt(from_values({1, 3}, std::vector<int64_t>{0, 4, 2})).to_vector<float>();
}

TEST_CASE("a model that went through a file is the same to the bit") {
  const TemporaryFolder folder;
  const Gpt saved = model(1);
  save(saved, folder / "model.safetensors", {{"step", "20"}});
  const Gpt loaded = model(2);
  REQUIRE(logits(loaded) != logits(saved));
  const LoadReport report = load(loaded, folder / "model.safetensors");
  CHECK(report.missing.empty());
  CHECK(report.unexpected.empty());
  CHECK(logits(loaded) == logits(saved));
  const SafetensorsFile file = load_safetensors(folder / "model.safetensors");
  CHECK(file.metadata.at("step") == "20");
  CHECK(file.tensors.contains("blocks.1.attention.query.weight"));
  CHECK(file.tensors.size() == named_parameters(saved).size());
}

TEST_CASE("a file of another model is refused and the model is as it was") {
  const TemporaryFolder folder;
  save(model(1, 8), folder / "wide.safetensors");
  const Gpt gpt = model(2);
  const std::vector<float> before = logits(gpt);
  CHECK_THROWS_WITH_AS(
      load(gpt, folder / "wide.safetensors"),
      doctest::Contains("blocks.0.attention.query.weight (f32[8, 8] for f32[4, 4])"), FormatError);
  CHECK_THROWS_AS(load(gpt, folder / "absent.safetensors"), FileError);
  CHECK(logits(gpt) == before);
}

struct Part {
  Embedding token_embedding;
  Tensor extra;

  void visit(auto&& v) {
    v("token_embedding", token_embedding);
    v("extra", extra);
  }
};

TEST_CASE("parameters of a file that the module lacks may be passed over") {
  const TemporaryFolder folder;
  const Gpt saved = model(1);
  save(saved, folder / "model.safetensors");
  Rng rng(3);
  const Embedding embedding(5, 4, rng);
  const Part part{embedding, tensor({1, 2})};
  const LoadReport report = load(part, folder / "model.safetensors", {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"extra"});
  CHECK(report.unexpected.size() == named_parameters(saved).size() - 1);
  CHECK(embedding.weight.to_vector<float>() == saved.token_embedding.weight.to_vector<float>());
}

}  // namespace
}  // namespace attograd::nn

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

struct Tied {
  Tensor first = ones({2, 3}).set_requires_grad();
  Tensor second = first;
  Tensor other = ones({2, 3}).set_requires_grad();

  void visit(auto&& v) {
    v("first", first);
    v("second", second);
    v("other", other);
  }
};

TEST_CASE("a file holds tied weights once and they are one tensor after loading") {
  const TemporaryFolder folder;
  Tied saved;
  saved.first.assign(tensor({{1, 2, 3}, {4, 5, 6}}));
  save(saved, folder / "tied.safetensors");
  const SafetensorsFile file = load_safetensors(folder / "tied.safetensors");
  CHECK(file.tensors.size() == 2);
  Tied loaded;
  load(loaded, folder / "tied.safetensors");
  CHECK(loaded.second.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  loaded.first.assign(zeros({}));
  CHECK(loaded.second.to_vector<float>() == std::vector<float>(6, 0));
  CHECK(loaded.other.to_vector<float>() == std::vector<float>(6, 1));
}

TEST_CASE("what is missing and unexpected and of another shape is one error and changes no bit") {
  const TemporaryFolder folder;
  const auto write = [&](const Shape& shape) {
    save_safetensors(folder / "wrong.safetensors",
                     {{"first", full(shape, 7)}, {"extra", tensor(1)}});
  };
  const Tied module;
  write({3, 2});  // as many numbers
  CHECK_THROWS_WITH_AS(load(module, folder / "wrong.safetensors"),
                       "load: every tensor must have one of its name, shape and type, got\n"
                       "  of another shape or type: first (f32[3, 2] for f32[2, 3])\n"
                       "  missing: other\n"
                       "  unexpected: extra",
                       FormatError);
  CHECK_THROWS_WITH_AS(load(module, folder / "wrong.safetensors", {.strict = false}),
                       doctest::Contains("first (f32[3, 2] for f32[2, 3])"), FormatError);
  CHECK(module.first.to_vector<float>() == std::vector<float>(6, 1));
  write({2, 3});
  const LoadReport report = load(module, folder / "wrong.safetensors", {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"other"});
  CHECK(report.unexpected == std::vector<std::string>{"extra"});
  CHECK(module.second.to_vector<float>() == std::vector<float>(6, 7));
}

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

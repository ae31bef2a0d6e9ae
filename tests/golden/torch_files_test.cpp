// Files that PyTorch is to read: modules of ours with random parameters under PyTorch's names, as
// golden files with values and gradients. check_torch.py beside this file reads them with PyTorch:
//   ATTOGRAD_TORCH_DIR=folder golden_torch_files_test; check_torch.py folder

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <tests/golden/golden.h>
#include <tests/temporary_folder.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>
#include <attograd/nn/attention.h>
#include <attograd/nn/torch_names.h>
#include <attograd/nn/transformer.h>

using namespace attograd;
using golden::Golden;
using golden::TensorMap;

namespace {

using Metadata = std::map<std::string, std::string>;

Tensor random(const Shape& shape, Rng& rng) {
  return randn(shape, rng, DType::f64).set_requires_grad();
}

/// Runs the module that the metadata name over parameters of `module`, and writes what it gives.
template <nn::Module M>
void write(const std::filesystem::path& path, const M& module, Metadata metadata,
           const TensorMap& inputs) {
  Rng rng(7);
  TensorMap parameters;
  for (const auto& [name, w] : nn::to_torch(nn::named_parameters(module)))
    parameters[name] =
        (detach(cast(w, DType::f64)) + 0.3 * randn(w.shape(), rng, DType::f64)).set_requires_grad();
  golden::Options options(metadata);
  const golden::Forward forward = golden::build_torch_module(options.text("module"), options);
  const TensorMap outputs = forward(inputs, parameters, true);
  const Tensor weight_of_loss = randn(outputs.at("y").shape(), rng, DType::f64);
  backward(sum(outputs.at("y") * weight_of_loss));

  std::map<std::string, Tensor> tensors{{"in.weight_of_loss", weight_of_loss}};
  for (const auto& [name, y] : outputs) tensors["out." + name] = y;
  for (const auto& [name, x] : inputs) {
    tensors["in." + name] = x;
    if (x.requires_grad()) tensors["grad.in." + name] = x.grad();
  }
  for (const auto& [name, w] : parameters) {
    tensors["param." + name] = w;
    tensors["grad.param." + name] = w.grad();
  }
  metadata["loss"] = "sum(out.y * in.weight_of_loss)";
  save_safetensors(path, tensors, metadata);
}

void write_attention(const std::filesystem::path& folder, Rng& rng) {
  const Tensor keep = from_values({1, 3, 4}, std::vector<bool>{true, false, true, true,    //
                                                               false, true, false, false,  //
                                                               true, true, true, true});
  write(folder / "attention.safetensors", nn::MultiHeadAttention({.d_model = 6, .heads = 2}, rng),
        {{"module", "torch_multihead_attention"},
         {"embed_dim", "6"},
         {"num_heads", "2"},
         {"kdim", "6"},
         {"vdim", "6"},
         {"mask", "true keeps"},
         {"fill", "zero row"}},
        {{"q", random({1, 3, 6}, rng)},
         {"k", random({1, 4, 6}, rng)},
         {"v", random({1, 4, 6}, rng)},
         {"mask", keep}});
  write(folder / "attention_widths.safetensors",
        nn::MultiHeadAttention({.d_model = 6,
                                .heads = 3,
                                .key_width = 5,
                                .value_width = 4,
                                .query_bias = false,
                                .key_bias = false,
                                .value_bias = false,
                                .output_bias = false},
                               rng),
        {{"module", "torch_multihead_attention"},
         {"embed_dim", "6"},
         {"num_heads", "3"},
         {"kdim", "5"},
         {"vdim", "4"},
         {"bias", "False"}},
        {{"q", random({2, 3, 6}, rng)},
         {"k", random({2, 4, 5}, rng)},
         {"v", random({2, 4, 4}, rng)}});
}

void write_layers(const std::filesystem::path& folder, bool norm_first, Rng& rng) {
  const std::string kind = norm_first ? "_pre_norm" : "_post_norm";
  const nn::TransformerLayerOptions layer{
      .d_model = 6,
      .heads = 2,
      .d_ff = 8,
      .activation = norm_first ? nn::Activation::relu : nn::Activation::gelu,
      .eps = norm_first ? 1e-5 : 1e-3,
      .norm_first = norm_first};
  Metadata metadata{{"d_model", "6"},
                    {"nhead", "2"},
                    {"dim_feedforward", "8"},
                    {"activation", norm_first ? "relu" : "gelu"},
                    {"eps", norm_first ? "1e-05" : "1e-03"},
                    {"norm_first", norm_first ? "True" : "False"},
                    {"keep", "true keeps; padding of the keys [batch, S]"}};
  const Tensor keep =
      from_values({2, 4}, std::vector<bool>{true, true, true, false, true, true, true, true});
  const auto write_one = [&](const char* name, const auto& module, const TensorMap& inputs) {
    metadata["module"] = name;
    write(folder / (name + kind + ".safetensors"), module, metadata, inputs);
  };
  write_one("encoder_layer", nn::TransformerEncoderLayer(layer, rng),
            {{"x", random({2, 4, 6}, rng)}, {"keep", keep}});
  metadata["mask"] = "causal on x";
  write_one("decoder_layer", nn::TransformerDecoderLayer(layer, rng),
            {{"x", random({2, 3, 6}, rng)}, {"memory", random({2, 4, 6}, rng)}, {"keep", keep}});
  metadata["mask"] = "causal on target";
  metadata["num_encoder_layers"] = "2";
  metadata["num_decoder_layers"] = "1";
  write_one(
      "transformer",
      nn::Transformer({.layer = layer, .encoder_layers = 2, .decoder_layers = 1}, rng),
      {{"source", random({2, 4, 6}, rng)}, {"target", random({2, 3, 6}, rng)}, {"keep", keep}});
}

}  // namespace

TEST_CASE("files written under PyTorch's names hold what their modules give") {
  const TemporaryFolder temporary;
  const char* const wanted = std::getenv("ATTOGRAD_TORCH_DIR");
  const std::filesystem::path folder = wanted ? std::filesystem::path(wanted) : temporary / "torch";
  std::filesystem::create_directories(folder);
  Rng rng(1);
  write_attention(folder, rng);
  for (const bool norm_first : {false, true}) write_layers(folder, norm_first, rng);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Golden golden(entry.path());
    CAPTURE(entry.path().string());
    CHECK(differences(golden, golden.forward, DType::f64, true) == std::vector<std::string>());
    ++files;
  }
  CHECK(files == 8);
}

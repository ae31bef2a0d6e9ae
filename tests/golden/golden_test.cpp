// Values and gradients from PyTorch, in float64. Each file of this folder (and of the one that
// ATTOGRAD_GOLDEN_DIR names, if any) says in its metadata which module made it. Tensors are equal
// if the largest difference is at most 1e-12 max(1, largest right number): entries that cancel to
// about 0 are compared at the size of the others.

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>
#include <attograd/nn/attention.h>
#include <attograd/nn/module.h>

using namespace attograd;

namespace {

void check_equal(const std::string& name, const Tensor& found, const Tensor& right) {
  CAPTURE(name);
  REQUIRE(found.shape() == right.shape());
  const double largest = std::max(1.0, max(abs(right)).item());
  CHECK(max(abs(found - right)).item() <= 1e-12 * largest);
}

/// Batch first; the rows of in_proj_weight are those of query, key and value, unless their widths
/// differ. true keeps; a query that may see nothing has weights 0.
void torch_multihead_attention(const SafetensorsFile& file, bool with_weights) {
  const auto tensor = [&](const std::string& name) { return file.tensors.at(name); };
  const auto number = [&](const char* name) { return std::stoll(file.metadata.at(name)); };
  const int64_t width = number("embed_dim");
  Rng rng(1);
  nn::MultiHeadAttention attention = nn::to(nn::MultiHeadAttention({.d_model = width,
                                                                    .heads = number("num_heads"),
                                                                    .key_width = number("kdim"),
                                                                    .value_width = number("vdim")},
                                                                   rng),
                                            DType::f64);
  const bool packed = file.tensors.contains("param.in_proj_weight");
  nn::Linear* const maps[] = {&attention.query, &attention.key, &attention.value};
  const char* const names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  Tensors weights, biases;
  for (int i = 0; i < 3; ++i) {
    const auto rows = [&](const Tensor& all) { return slice(all, 0, i * width, (i + 1) * width); };
    maps[i]->weight.assign(packed ? rows(tensor("param.in_proj_weight"))
                                  : tensor(std::string("param.") + names[i]));
    maps[i]->bias.assign(rows(tensor("param.in_proj_bias")));
    weights.push_back(maps[i]->weight);
    biases.push_back(maps[i]->bias);
  }
  attention.output.weight.assign(tensor("param.out_proj.weight"));
  attention.output.bias.assign(tensor("param.out_proj.bias"));

  Tensors inputs = {detach(tensor("in.q")), detach(tensor("in.k")), detach(tensor("in.v"))};
  for (Tensor& input : inputs) input.set_requires_grad();
  nn::AttentionCall call{.weights = with_weights};
  if (file.tensors.contains("in.mask")) call.mask = Mask::keep(tensor("in.mask"));
  const nn::Attended attended = attention(inputs[0], inputs[1], inputs[2], call);
  check_equal("y", attended.y, tensor("out.y"));
  if (with_weights) check_equal("attn", attended.weights, tensor("out.attn"));

  backward(sum(attended.y * tensor("in.weight_of_loss")));
  const auto gradients = [](const Tensors& leaves) {
    Tensors list;
    for (const Tensor& leaf : leaves) list.push_back(leaf.grad());
    return list;
  };
  check_equal("dq", inputs[0].grad(), tensor("grad.in.q"));
  check_equal("dk", inputs[1].grad(), tensor("grad.in.k"));
  check_equal("dv", inputs[2].grad(), tensor("grad.in.v"));
  check_equal("in_proj_bias", cat(gradients(biases), 0), tensor("grad.param.in_proj_bias"));
  if (packed)
    check_equal("in_proj_weight", cat(gradients(weights), 0), tensor("grad.param.in_proj_weight"));
  for (size_t i = 0; !packed && i < 3; ++i)
    check_equal(names[i], weights[i].grad(), tensor(std::string("grad.param.") + names[i]));
  check_equal("out_proj.weight", attention.output.weight.grad(),
              tensor("grad.param.out_proj.weight"));
  check_equal("out_proj.bias", attention.output.bias.grad(), tensor("grad.param.out_proj.bias"));
}

int check_folder(const std::filesystem::path& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    CAPTURE(entry.path().string());
    const SafetensorsFile file = load_safetensors(entry.path());
    const std::string& module = file.metadata.at("module");
    REQUIRE_MESSAGE(module == "torch_multihead_attention", "this test cannot build the module ",
                    module);
    torch_multihead_attention(file, true);
    torch_multihead_attention(file, false);
    ++files;
  }
  return files;
}

}  // namespace

TEST_CASE("modules give the values and gradients of the golden files") {
  CHECK(check_folder(ATTOGRAD_SOURCE_DIR "/tests/golden") == 2);
  if (const char* folder = std::getenv("ATTOGRAD_GOLDEN_DIR")) check_folder(folder);
}

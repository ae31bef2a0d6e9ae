#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/checkpoint.h>
#include <attograd/core/storage.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/module.h>

using namespace attograd;

namespace {

struct Pass {
  std::vector<double> loss;
  std::vector<std::vector<float>> gradients;
  RngState rng;
  size_t peak;  // bytes beyond those that lived before
};

/// Forward and backward through blocks with dropout, with or without checkpoints.
Pass pass(const std::vector<nn::GptBlock>& blocks, const Tensor& x, bool checkpointed) {
  Rng rng(3);
  for (const nn::GptBlock& block : blocks) nn::clear_gradients(block);
  const size_t before = memory_use().living;
  reset_peak_memory();
  Tensor h = x;
  for (const nn::GptBlock& block : blocks) {
    const auto f = [&block](const Tensors& in, Rng* r) { return block(in[0], r); };
    h = checkpointed ? checkpoint(f, {h}, &rng) : block(h, &rng);
  }
  const Tensor loss = sum(h * h);
  h = Tensor();
  backward(loss);
  Pass result = {{loss.item()}, {}, rng.state(), memory_use().peak - before};
  for (const nn::GptBlock& block : blocks)
    for (const Tensor& w : nn::parameters(block))
      result.gradients.push_back(w.grad().to_vector<float>());
  return result;
}

}  // namespace

TEST_CASE("checkpointed blocks give the same bits in a fraction of the memory") {
  Rng rng(1);
  const nn::GptOptions options = {
      .vocabulary = 2, .context = 64, .heads = 4, .width = 32, .dropout = 0.1, .bias = true};
  std::vector<nn::GptBlock> blocks;
  for (int i = 0; i < 12; ++i) blocks.emplace_back(options, rng);
  const Tensor x = randn({4, 64, 32}, rng);
  const Pass plain = pass(blocks, x, false), kept = pass(blocks, x, true);
  CHECK(plain.loss == kept.loss);
  CHECK(plain.gradients == kept.gradients);
  CHECK(plain.rng == kept.rng);
  MESSAGE("peak bytes: " << plain.peak << " without checkpoints, " << kept.peak << " with");
  CHECK(kept.peak < plain.peak / 4);  // 12 inputs and one block in place of 12 blocks
}

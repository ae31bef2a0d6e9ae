// Peak memory and time of a step through a stack of blocks, with and without checkpoint.
//   checkpoint [layers] [context] [batch]

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <attograd/attograd.h>

using namespace attograd;

namespace {

void measure(const char* what, const std::vector<nn::GptBlock>& blocks, const Tensor& x,
             bool checkpointed) {
  const size_t before = memory_use().living;
  reset_peak_memory();
  const auto start = std::chrono::steady_clock::now();
  Tensor h = x;
  for (const nn::GptBlock& block : blocks)
    h = checkpointed ? checkpoint([&block](const Tensors& in) { return block(in[0]); }, {h})
                     : block(h);
  backward(mean(h * h));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%-20s %7.1f MB   %7.1f ms\n", what,
              static_cast<double>(memory_use().peak - before) * 1e-6, seconds.count() * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t layers = argc > 1 ? std::atoll(argv[1]) : 12;
  const int64_t context = argc > 2 ? std::atoll(argv[2]) : 256;
  const int64_t batch = argc > 3 ? std::atoll(argv[3]) : 8;
  Rng rng(1);
  const nn::GptOptions options = {.vocabulary = 1, .context = context, .heads = 4, .width = 128};
  std::vector<nn::GptBlock> blocks;
  for (int64_t i = 0; i < layers; ++i) blocks.emplace_back(options, rng);
  const Tensor x = randn({batch, context, options.width}, rng);
  measure("the gradients too", blocks, x, true);  // what follows adds to these
  for (int run = 0; run < 2; ++run) {
    measure("without checkpoints", blocks, x, false);
    measure("with checkpoints", blocks, x, true);
  }
}

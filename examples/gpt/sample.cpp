#include <cmath>
#include <iostream>

#include "examples/gpt/commands.h"
#include "examples/gpt/run_folder.h"
#include "examples/gpt/training.h"
#include <attograd/nn/generate.h>

namespace gpt {

using namespace attograd;

int sample(const SampleOptions& options) {
  check<ValueError>(options.length >= 0, "--length: must be at least 0, got ", options.length);
  check<ValueError>(options.count >= 1, "--count: must be at least 1, got ", options.count);
  check<ValueError>(options.seed >= 0, "--seed: must be at least 0, got ", options.seed);
  check<ValueError>(options.temperature >= 0 && std::isfinite(options.temperature),
                    "--temperature: must be a number of at least 0, got ", options.temperature);
  check<ValueError>(options.top_k >= 0, "--top-k: must be at least 0, got ", options.top_k);
  check<ValueError>(!options.prompt.empty(), "--prompt: must have at least one character");
  const Training training = Training::load(RunFolder::find(options.out).checkpoint());
  const std::vector<int64_t> prompt =
      training.vocabulary.encode(decode_utf8(options.prompt, "--prompt"), "--prompt");
  Rng rng(static_cast<uint64_t>(options.seed));
  for (int64_t i = 0; i < options.count; ++i) {
    if (i > 0) std::cout << "\n----\n";
    std::cout << options.prompt;
    nn::generate(training.model, prompt, options.length, rng,
                 {.temperature = options.temperature, .top_k = options.top_k}, [&](int64_t id) {
                   std::cout << training.vocabulary.decode({id}) << std::flush;
                   return true;
                 });
    std::cout << '\n';
  }
  return 0;
}

}  // namespace gpt

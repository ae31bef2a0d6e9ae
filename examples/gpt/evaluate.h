#pragma once

#include <vector>

#include "examples/gpt/corpus.h"
#include <attograd/nn/gpt.h>

namespace gpt {

/// Mean cross entropy in nats per character.
struct Loss {
  double mean = 0;
  int64_t tokens = 0;  // characters predicted
};

/// Over every character but the first, in consecutive windows of the model's context (so the first
/// of each window is predicted from one character, the last from `context`). Nothing is left out:
/// the last window is as short as it must be.
Loss loss_of_all(const attograd::nn::Gpt& model, const std::vector<int64_t>& ids);

/// What guessing costs, and last what the model costs, on the validation part.
void print_losses(const Corpus& corpus, const Loss& loss);

}  // namespace gpt

#pragma once

#include <functional>
#include <vector>

#include <attograd/nn/gpt.h>

namespace attograd::nn {

struct SampleOptions {
  double temperature = 1;  // logits are divided by it; 0 takes the likeliest (the first of equals)
  int64_t top_k = 0;       // draws among this many likeliest; 0: among all
};

/// An id drawn with probability softmax(logits / temperature). Greedy choices draw nothing from
/// the generator.
/// Shapes    logits [V]
/// Throws    ShapeError unless there are logits; ValueError for a negative option; NumericError for
///           logits that are NaN or +inf, or all -inf
int64_t sample(const Tensor& logits, Rng& rng, const SampleOptions& options = {});

/// The prompt continued by `count` ids, each sampled from the logits after the last `context` ids
/// before it. `on_id` sees each as it comes and ends the text by returning false.
/// Throws    ShapeError for an empty prompt; IndexError for an id outside the vocabulary
std::vector<int64_t> generate(const Gpt& model, std::vector<int64_t> prompt, int64_t count,
                              Rng& rng, const SampleOptions& options = {},
                              const std::function<bool(int64_t)>& on_id = {});

}  // namespace attograd::nn

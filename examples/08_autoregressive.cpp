// Lesson 8: a tiny autoregressive model. It reads a sequence and says, at every place, what comes
// next; continued with its own answers, it goes on alone. The sequences count around a clock of 10
// in steps of 1, 2 or 3, so to go on it must look back at how large the step was.

#include <cmath>
#include <cstdio>

#include <examples/systems/autoregressive.h>

#include <attograd/attograd.h>

namespace ag = attograd;

const int64_t kLength = 8, kBatch = 32, kClock = 10, kSteps = 240;

/// Sequences [T + 1, B], each with its own beginning and step.
ag::Tensor sequences(ag::Rng& rng) {
  std::vector<int64_t> numbers(static_cast<size_t>((kLength + 1) * kBatch));
  for (int64_t b = 0; b < kBatch; ++b) {
    const int64_t begin = rng.below(kClock), step = 1 + rng.below(3);
    for (int64_t t = 0; t <= kLength; ++t)
      numbers[static_cast<size_t>(t * kBatch + b)] = (begin + t * step) % kClock;
  }
  return ag::from_values({kLength + 1, kBatch}, numbers);
}

/// The mean cross entropy of every next number but the first, before which no step can be seen.
ag::Tensor loss_of(ag::systems::Autoregressive& model, const ag::Tensor& numbers) {
  const ag::Tensor logits = ag::slice(model(ag::slice(numbers, 0, 0, kLength)), 0, 1);
  const ag::Tensor next = ag::slice(numbers, 0, 2);  // [T - 1, B]
  return ag::cross_entropy(ag::reshape(logits, {next.numel(), kClock}),
                           ag::reshape(next, {next.numel()}));
}

int main() {
  ag::Rng rng(1);
  ag::systems::Autoregressive model(
      {.vocab = kClock, .d_model = 32, .heads = 4, .d_ff = 64, .layers = 2, .dropout = 0}, rng);
  const ag::optim::Noam schedule{.width = 32, .warmup = 60};
  ag::optim::Adam adam(ag::nn::parameters(model), {.beta2 = 0.98, .eps = 1e-9});

  for (int64_t step = 0; step <= kSteps; ++step) {
    const ag::Tensor loss = loss_of(model, sequences(rng));
    if (step % kSteps == 0)
      std::printf("loss after %3d steps: %.1f\n", static_cast<int>(step), loss.item());
    if (step == kSteps) break;
    ag::nn::clear_gradients(model);
    ag::backward(loss);
    ag::optim::clip_gradient_norm(ag::nn::parameters(model), 1.0);
    adam.set_lr(schedule(step));
    adam.step();
  }

  for (int64_t step = 1; step <= 3; ++step) {
    const auto prompt =
        ag::from_values({3, 1}, std::vector<int64_t>{4, 4 + step, (4 + 2 * step) % kClock});
    const ag::Tensor text = ag::systems::continue_greedily(model, prompt, 6);
    std::printf("in steps of %d:", static_cast<int>(step));
    for (const int64_t number : ag::reshape(text, {9}).to_vector<int64_t>())
      std::printf(" %d", static_cast<int>(number));
    std::puts("");
  }
}

// Lesson 4: a layer by hand. A layer of nn holds its parameters and calls a formula; the formula is
// the one of the paper, and can be written out in a few operations. Both give the same values, and
// the same gradients of everything they depend on.

#include <cstdio>

#include <attograd/attograd.h>

namespace ag = attograd;

const ag::DType kF64 = ag::DType::f64;

/// y = x W^T + b: every output is a weighted sum of all inputs.   [B, in] -> [B, out]
ag::Tensor linear_by_hand(const ag::nn::Linear& layer, const ag::Tensor& x) {
  return matmul(x, transpose(layer.weight)) + layer.bias;
}

/// Each row shifted to mean 0 and scaled to variance 1 (Ba et al. 2016), then scaled and shifted by
/// what was learned.   [B, C] -> [B, C]
ag::Tensor norm_by_hand(const ag::nn::LayerNorm& layer, const ag::Tensor& x) {
  const ag::Tensor centred = x - mean(x, -1, true);             // [B, C]
  const ag::Tensor variance = mean(square(centred), -1, true);  // [B, 1]
  return centred / sqrt(variance + layer.eps) * layer.weight + layer.bias;
}

/// The gradients of a loss for the input and all parameters.
ag::Tensors gradients(const ag::Tensor& y, const ag::Tensors& inputs) {
  const ag::Tensor target = ag::ones_like(y);
  return ag::grad({ag::nn::mse_loss(y, target)}, inputs);
}

void print(const char* name, const ag::Tensor& x) {
  std::printf("%-20s", name);
  for (const double number : ag::select(x, 0, 0).to_vector<double>()) std::printf(" %8.4f", number);
  std::puts("");
}

int main() {
  ag::Rng rng(1);  // the same numbers on every machine
  const auto linear = ag::nn::to(ag::nn::Linear(3, 4, rng), kF64);
  const auto norm = ag::nn::to(ag::nn::LayerNorm(4), kF64);
  const ag::Tensor x = ag::randn({2, 3}, rng, kF64).set_requires_grad();

  const ag::Tensor by_nn = tanh(norm(linear(x)));
  const ag::Tensor by_hand = tanh(norm_by_hand(norm, linear_by_hand(linear, x)));
  print("row 0 by nn", by_nn);
  print("row 0 by hand", by_hand);

  const ag::Tensors inputs{x, linear.weight, linear.bias, norm.weight, norm.bias};
  const ag::Tensors of_nn = gradients(by_nn, inputs), of_hand = gradients(by_hand, inputs);
  std::puts("");
  print("d loss / d x by nn", of_nn[0]);
  print("d loss / d x by hand", of_hand[0]);

  std::puts("");
  const char* names[] = {"x", "linear.weight", "linear.bias", "norm.weight", "norm.bias"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double difference = max(abs(of_nn[i] - of_hand[i])).item();
    std::printf("gradient of %-13s  %s\n", names[i], difference < 1e-12 ? "the same" : "differs");
  }
}

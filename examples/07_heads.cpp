// Lesson 7: what the heads of multi-head attention look at. Here the weights are not learned but
// set by hand, so that each head has a task one can see: head 0 looks at the letter before, head 1
// at equal letters.

#include <algorithm>
#include <iostream>
#include <string>

#include <attograd/attograd.h>

namespace ag = attograd;

const std::string kText = "abcabbc";
const int64_t kLetters = 3, kLength = 7, kWidth = kLetters + kLength;

/// Each letter as [which letter | which place], both one-hot.
ag::Tensor one_hot_text() {
  std::vector<int64_t> letters;
  for (const char c : kText) letters.push_back(c - 'a');
  const ag::Tensor letter = ag::one_hot(ag::from_values({kLength}, letters), kLetters);
  const ag::Tensor place = ag::one_hot(ag::arange(0, kLength), kLength);
  return ag::reshape(ag::cat({letter, place}, 1), {1, kLength, kWidth});  // [1, T, C]
}

/// A map [C, C] that keeps some channels, moves them by `shift`, and forgets the others. It makes
/// them 5 times as large, so that a match scores 5 * 5 / sqrt(10) = 7.9 and softmax is nearly sure.
ag::Tensor keep_channels(int64_t begin, int64_t end, int64_t shift = 0) {
  std::vector<double> numbers(static_cast<size_t>(kWidth * kWidth));
  for (int64_t c = begin; c < end && c + shift < kWidth; ++c)
    numbers[static_cast<size_t>((c + shift) * kWidth + c)] = 5;
  return ag::from_values({kWidth, kWidth}, numbers);
}

void draw(const ag::Tensor& weights) {
  const char* const shades = " .:+#";
  std::cout << "    " << kText << '\n';
  for (int64_t t = 0; t < kLength; ++t) {
    std::cout << "  " << kText[static_cast<size_t>(t)] << ' ';
    for (const float w : ag::select(weights, 0, t).to_vector<float>())
      std::cout << shades[std::min(static_cast<int>(w * 5), 4)];
    std::cout << '\n';
  }
}

int main() {
  ag::Rng rng(1);
  ag::nn::MultiHeadAttention attention({.d_model = kWidth,
                                        .heads = 2,
                                        .d_k = kWidth,
                                        .d_v = 1,
                                        .query_bias = false,
                                        .key_bias = false},
                                       rng);
  // A query fits the keys that are like it. Head 0, the first kWidth rows, asks by place, and keys
  // say the place after theirs; head 1, the other rows, asks by letter. What the values are made
  // into stays random: it is not looked at here.
  attention.query.weight.assign(
      ag::cat({keep_channels(kLetters, kWidth), keep_channels(0, kLetters)}, 0));
  attention.key.weight.assign(
      ag::cat({keep_channels(kLetters, kWidth, 1), keep_channels(0, kLetters)}, 0));

  const ag::nn::Attended attended =
      attention(one_hot_text(),
                {.mask = ag::Mask::causal(), .weights = ag::nn::ReturnedWeights::after_dropout});
  std::cout << "Rows are the letters that look, columns those looked at; darker is more.\n";
  const char* const tasks[] = {"the letter before", "equal letters"};
  for (int64_t head = 0; head < 2; ++head) {
    std::cout << "\nhead " << head << ", " << tasks[head] << ":\n";
    draw(ag::select(ag::select(attended.weights, 0, 0), 0, head));  // [T, S]
  }
  std::cout << "\nEach row sums to 1; the first letter can only look at itself.\n";
}

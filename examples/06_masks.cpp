// Lesson 6: masks, and the query that may see nothing. A mask says which keys a query may look at;
// softmax then shares out a weight of 1 among them. With nothing to share it among, the weights are
// 0, and so are the output and every gradient.

#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>

#include <attograd/attograd.h>

namespace ag = attograd;

void print_rows(const char* title, const ag::Tensor& x) {
  std::cout << title << ":\n";
  const auto numbers = ag::reshape(x, {x.dim(-2), x.dim(-1)});
  for (int64_t i = 0; i < numbers.dim(0); ++i) {
    for (const double number : ag::select(numbers, 0, i).to_vector<double>())
      std::isnan(number) ? std::printf("     NaN") : std::printf("  %6.3f", number);
    std::puts("");
  }
}

int main() {
  std::cout.setf(std::ios::unitbuf);  // it shares the output with printf

  // Masks are a type: none needs to know whether 1 means "look" or "do not look". The causal one
  // fits any length; it is drawn for 5.
  const ag::Mask causal = ag::Mask::causal();  // no look at what comes later
  const ag::Mask no_padding =                  // the first key is only there to fill the row
      ag::Mask::keep(ag::from_values({1, 3}, std::vector<bool>{false, true, true}));
  std::cout << causal << "\n\n" << no_padding << "\n\n" << (causal & no_padding) << "\n\n";

  // Three queries and keys whose scores are all equal, so the weights are plain averages. Under
  // both masks the first query has nothing left to look at.
  ag::Tensor q = ag::zeros({1, 1, 3, 2}, ag::DType::f64).set_requires_grad();
  ag::Tensor k = ag::ones({1, 1, 3, 2}, ag::DType::f64).set_requires_grad();
  ag::Tensor v = ag::from_values({1, 1, 3, 1}, {10, 20, 40}, ag::DType::f64).set_requires_grad();
  const ag::Mask both = causal & no_padding;
  print_rows("weights", ag::attention_weights(q, k, {.mask = both}));
  const ag::Tensor y = ag::attention(q, k, v, {.mask = both});
  print_rows("output", y);
  ag::backward(ag::sum(y * y));
  print_rows("gradient of the values: none reaches the padding", v.grad());
  print_rows("gradient of the queries: equal keys leave nothing to choose", q.grad());

  // Two other ways are common. Hiding a key by a score of -1e9 makes the empty row look at all keys
  // alike, the hidden ones too:
  print_rows("weights, hidden scores filled with -1e9",
             ag::attention_weights(q, k, {.mask = both, .fill = -1e9}));
  // and softmax itself, asked to share out 1 among nothing, has no answer:
  const double nothing = -std::numeric_limits<double>::infinity();
  print_rows("softmax of a row of -inf", ag::softmax(ag::full({1, 3}, nothing, ag::DType::f64)));
}

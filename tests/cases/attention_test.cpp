// Attention masks.

#include <tests/close.h>

#include <attograd/nn/attention.h>
#include <attograd/nn/module.h>

using namespace attograd;

namespace {

Tensor booleans(const Shape& shape, const std::vector<bool>& values) {
  return from_values(shape, values);
}

/// One head whose projections change nothing.
nn::MultiHeadAttention identity_heads(DType dtype) {
  Rng rng(5);
  nn::MultiHeadAttention module =
      nn::to(nn::MultiHeadAttention({.d_model = 2, .heads = 1}, rng), dtype);
  for (nn::Linear* map : {&module.query, &module.key, &module.value, &module.output}) {
    map->weight.assign(eye(2));
    map->bias = Tensor();
  }
  return module;
}

/// Attention of one head with one feature whose scores are all equal.
Tensor averaged(int64_t queries, const std::vector<double>& v, const Mask& mask, DType dtype) {
  const auto keys = static_cast<int64_t>(v.size());
  return attention(zeros({1, 1, queries, 1}, dtype), ones({1, 1, keys, 1}, dtype),
                   from_values({1, 1, keys, 1}, v, dtype), {.mask = mask});
}

}  // namespace

TEST_CASE("ATT-01 a query that may see nothing has weights and output and gradient 0") {
  const Mask mask = Mask::keep(booleans({2, 2}, {true, true, false, false}));
  const AttentionOptions options = {.mask = mask};
  using Form = std::function<Tensor(const Tensors&)>;
  for (const DType dtype : kFloating) {
    const nn::MultiHeadAttention module = identity_heads(dtype);
    const auto heads_of = [](const Tensor& x) { return unsqueeze(x, 0); };
    const Form forms[] = {
        [&](const Tensors& x) {
          return attention(heads_of(x[0]), heads_of(x[1]), heads_of(x[2]), options);
        },
        [&](const Tensors& x) {  // with the weights returned
          return matmul(attention_weights(heads_of(x[0]), heads_of(x[1]), options), heads_of(x[2]));
        },
        [&](const Tensors& x) { return module(x[0], x[1], x[2], {.mask = mask}).y; }};
    const Tensors x = {leaf({1, 2, 2}, {1, 0, 0.5, -1}, dtype),
                       leaf({1, 2, 2}, {0.2, 0.4, -0.3, 1}, dtype),
                       leaf({1, 2, 2}, {1, 2, 3, 5}, dtype)};
    check_close(attention_weights(heads_of(x[0]), heads_of(x[1]), options),
                {0.58747900084, 0.41252099916, 0, 0});
    for (const Form& form : forms) {
      const Tensor y = form(x);
      check_close(y, {1.82504199832, 3.23756299748, 0, 0});
      for (const bool recorded : {false, true}) {
        const Tensors g = pulled_back(y, ones_like(y), x, recorded);
        check_close(g[0], {-0.428413768012, 0.514096521615, 0, 0});
        check_close(g[1], {-0.856827536024, 0, 0.856827536024, 0});
        check_close(g[2], {0.58747900084, 0.58747900084, 0.41252099916, 0.41252099916});
      }
    }
  }
}

TEST_CASE("ATT-03 causal and padding masks combine along the keys only") {
  const Mask left_padding = Mask::drop(booleans({1, 1, 1, 3}, {true, false, false}));
  for (const DType dtype : kFloating) {
    check_close(averaged(3, {10, 20, 40}, Mask::causal() & left_padding, dtype), {0, 20, 30});
    check_close(attention_weights(zeros({1, 1, 3, 1}, dtype), zeros({1, 1, 3, 1}, dtype),
                                  {.mask = left_padding & Mask::causal()}),
                {0, 0, 0, 0, 1, 0, 0, 0.5, 0.5});
  }
}

TEST_CASE("ATT-05 the causal mask lets the last query see every key whatever the lengths") {
  for (const DType dtype : kFloating) {
    check_close(averaged(1, {1, 2, 3, 4}, Mask::causal(), dtype), {2.5});
    check_close(averaged(3, {1, 5}, Mask::causal(), dtype), {0, 1, 3});
    check_close(attention_weights(zeros({1, 1, 3, 1}, dtype), zeros({1, 1, 2, 1}, dtype),
                                  {.mask = Mask::causal()}),
                {0, 0, 1, 0, 0.5, 0.5});
  }
}

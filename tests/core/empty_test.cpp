#include <sstream>

#include <doctest/doctest.h>
#include <tests/exact.h>

using namespace attograd;

// However many rows of nothing there are, nothing is to be done: a loop over them would take years.

TEST_CASE("operations on 2^60 rows of nothing return at once") {
  constexpr int64_t kMany = int64_t{1} << 60;
  const Tensor x = zeros({kMany, 0}).set_requires_grad(), ids = zeros({kMany, 0}, DType::i64);
  const std::vector<std::function<Tensor()>> calls = {
      [&] { return exp(x) + x * x; },
      [&] { return gelu(silu(x)); },
      [&] { return where(x > 0, x, 1); },
      [&] { return cumsum(x, 0); },
      [&] { return cumsum(x, 1); },
      [&] { return softmax(x, 0); },
      [&] { return softmax(x, 1); },
      [&] { return log_softmax(x); },
      [&] { return masked_softmax(x, x > 0, 0); },
      [&] { return layer_norm(x, {}, {}); },
      [&] { return rms_norm(x, {}); },
      [&] { return max(x, 0); },
      [&] { return prod(x, 0); },
      [&] { return mean(x); },
      [&] { return attograd::std(x); },
      [&] { return norm(x, 0); },
      [&] { return logsumexp(x, 0); },
      [&] { return max_with_index(x, 0).values; },
      [&] { return transpose(flip(x)); },
      [&] { return slice(x, 0, 5, kEnd, 3); },
      [&] {
        return cat({x, x});
      },
      [&] { return pad(x, 0, 1, 1); },
      [&] { return tril(x); },
      [&] { return split(x, 0, kMany / 2)[1]; },
      [&] {
        return matmul(unsqueeze(x, 1), zeros({0, 0}));
      },
      [&] {
        return matmul(unsqueeze(x, 2), zeros({kMany, 1, 3}));
      },
      [&] { return matmul(transpose(x), x); },
      [&] {
        return einsum("ij,ik->jk", {x, x});
      },
      [&] { return gather(x, 0, ids); },
      [&] { return gather(x, 1, ids); },
      [&] { return scatter_add(x, 0, ids, kMany); },
      [&] {
        return embedding(zeros({3, 0}), ids);
      },
      [&] {
        return take(x, ids_of({5, 7}), 0);
      },
      [&] {
        return cross_entropy(zeros({kMany, 0, 3}), ids);
      },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    CAPTURE(i);
    try {
      const Tensor y = calls[i]();
      CHECK(y.numel() <= 1);
      std::ostringstream text;
      text << y;
      if (y.requires_grad()) CHECK(grad({sum(y)}, {x})[0].shape() == x.shape());
    } catch (const ShapeError& error) {  // statistics of that many rows do not fit into memory
      CHECK(std::string_view(error.what()).find("does not fit in memory") !=
            std::string_view::npos);
    }
  }
}

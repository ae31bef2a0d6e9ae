#include <tests/close.h>

using namespace attograd;

TEST_CASE("linear multiplies by the transposed weight and adds the bias") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({2, 3}, {1, 2, 3, 4, 5, 6}, dtype),
                 w = leaf({2, 3}, {1, 0, -1, 2, 1, 0}, dtype), b = leaf({2}, {10, 20}, dtype);
    const Tensor y = linear(x, w, b);
    check_close(y, {8, 24, 8, 33});
    for (const bool recorded : {false, true}) {
      const Tensors g =
          pulled_back(y, from_values({2, 2}, {1, 2, 3, 4}, dtype), {x, w, b}, recorded);
      check_close(g[0], {5, 2, -1, 11, 4, -3});
      check_close(g[1], {13, 17, 21, 18, 24, 30});
      check_close(g[2], {4, 6});
    }
  }
}

TEST_CASE("linear takes a view of the columns of a wider matrix") {
  const Tensor wide = counted({4, 6}), w = random_integers({2, 3}, 1), b = random_integers({2}, 2);
  const Tensor part = slice(wide, 1, 2, 5);
  CHECK_EQ(values_of(linear(part, w, b)), values_of(matmul(part, transpose(w)) + b));
}

TEST_CASE("linear adds up the gradients of a weight that serves twice") {
  const Tensor x = random_integers({3, 2}, 1), w = random_integers({2, 2}, 2).set_requires_grad();
  const Tensor g = random_integers({3, 2}, 3);
  const Tensor y = linear(linear(x, w), w);
  // d/dW of <g, x W^T W^T> = (g W)^T x + g^T (x W^T)
  const Tensor right =
      matmul(transpose(matmul(g, w)), x) + matmul(transpose(g), matmul(x, transpose(w)));
  for (const bool recorded : {false, true})
    CHECK_EQ(values_of(pulled_back(y, g, {w}, recorded)[0]), values_of(right));
}

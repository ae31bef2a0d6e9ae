#include <limits>

#include <tests/close.h>

#include <attograd/core/gradcheck.h>

using namespace attograd;

namespace {

Tensor booleans(const Shape& shape, const std::vector<bool>& values) {
  return from_values(shape, values);
}

/// The same attention by the kernel, by the definition through its weights, and by the definition
/// because a bias of zeros asks for it.
using Form = std::function<Tensor(const Tensors& x, const Mask& mask)>;
const Form kForms[] = {
    [](const Tensors& x, const Mask& mask) { return attention(x[0], x[1], x[2], {.mask = mask}); },
    [](const Tensors& x, const Mask& mask) {
      return matmul(attention_weights(x[0], x[1], {.mask = mask}), x[2]);
    },
    [](const Tensors& x, const Mask& mask) {
      const Mask bias = Mask::bias(zeros({1, 1}, x[0].dtype()));
      return attention(x[0], x[1], x[2], {.mask = mask & bias});
    }};

}  // namespace

TEST_CASE("a query that may see nothing has output and gradient 0 at every order") {
  const Mask mask = Mask::keep(booleans({2, 2}, {true, true, false, false}));
  for (const DType dtype : kFloating)
    for (const Form& form : kForms) {
      const Tensor q = leaf({1, 1, 2, 2}, {1, 0, 0.5, -1}, dtype),
                   k = leaf({1, 1, 2, 2}, {0.2, 0.4, -0.3, 1}, dtype),
                   v = leaf({1, 1, 2, 2}, {1, 2, 3, 5}, dtype);
      check_close(attention_weights(q, k, {.mask = mask}), {0.58747900084, 0.41252099916, 0, 0});
      const Tensor y = form({q, k, v}, mask);
      check_close(y, {1.82504199832, 3.23756299748, 0, 0});
      for (const bool recorded : {false, true}) {
        const Tensors g = pulled_back(y, ones_like(y), {q, k, v}, recorded);
        check_close(g[0], {-0.428413768012, 0.514096521615, 0, 0});
        check_close(g[1], {-0.856827536024, 0, 0.856827536024, 0});
        check_close(g[2], {0.58747900084, 0.58747900084, 0.41252099916, 0.41252099916});
        if (!recorded) continue;
        const Tensors second = pulled_back(g[0], ones_like(q), {q, k, v}, true);
        for (const Tensor& gradient : second) CHECK(all_finite(gradient));
        check_close(slice(second[0], 2, 1), {0, 0});
      }
    }
}

TEST_CASE("derivatives of masked attention agree with differences at both orders") {
  const Mask mask = Mask::keep(booleans({2, 2}, {true, true, false, false}));
  const Tensors x = {leaf({1, 1, 2, 2}, {1, 0, 0.5, -1}, DType::f64),
                     leaf({1, 1, 2, 2}, {0.2, 0.4, -0.3, 1}, DType::f64),
                     leaf({1, 1, 2, 2}, {1, 2, 3, 5}, DType::f64)};
  for (const Form& form : kForms) {
    const auto f = [&](const Tensors& in) { return form(in, mask); };
    CHECK_MESSAGE(gradcheck(f, x).ok(), gradcheck(f, x));
    CHECK_MESSAGE(gradgradcheck(f, x).ok(), gradgradcheck(f, x));
  }
}

TEST_CASE("attention to one key is its value and passes no gradient to the scores") {
  for (const DType dtype : kFloating) {
    const Tensor q = leaf({1, 1, 2, 1}, {1, -2}, dtype), k = leaf({1, 1, 1, 1}, {3}, dtype),
                 v = leaf({1, 1, 1, 2}, {5, 7}, dtype);
    const Tensor y = attention(q, k, v);
    check_close(y, {5, 7, 5, 7});
    const Tensor g = from_values({1, 1, 2, 2}, {1, 2, 3, 4}, dtype);
    for (const bool recorded : {false, true}) {
      const Tensors back = pulled_back(y, g, {q, k, v}, recorded);
      check_close(back[0], {0, 0});
      check_close(back[1], {0});
      check_close(back[2], {4, 6});
    }
  }
}

TEST_CASE("NaN in a masked key or value changes nothing") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : kFloating) {
    const Tensor q = leaf({1, 1, 1, 1}, {1}, dtype), k = leaf({1, 1, 3, 1}, {0, 0, nan}, dtype),
                 v = leaf({1, 1, 3, 1}, {1, 2, nan}, dtype);
    const Tensor y = attention(q, k, v, {.mask = Mask::padding({2})});
    check_close(y, {1.5});
    const Tensors g = pulled_back(y, ones_like(y), {q, k, v}, false);
    check_close(g[0], {0});
    check_close(g[1], {-0.25, 0.25, 0});
    check_close(g[2], {0.5, 0.5, 0});
  }
}

TEST_CASE("attention follows the layout of its heads and merges them without a copy") {
  Tensors heads;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const Tensor rows = random_integers({2, 3, 2, 4}, seed);             // [B, T, H, D]
    heads.push_back(detach(transpose(rows, 1, 2)).set_requires_grad());  // [B, H, T, D]
  }
  const auto merges_in_place = [](const Tensor& x) {
    const Tensor merged = reshape(transpose(x, 1, 2), {2, 3, 8});
    return merged.array().shares_storage_with(x.array());
  };
  const Tensor y = attention(heads[0], heads[1], heads[2]);
  CHECK(merges_in_place(y));
  for (const Tensor& g : pulled_back(y, random_integers(y.shape(), 4), heads, false))
    CHECK(merges_in_place(g));
}

TEST_CASE("the scores are divided by the root of the width unless a scale is given") {
  const Tensor q = full({1, 1, 1, 4}, 1, DType::f64),
               k = from_values({1, 1, 2, 4}, {1, 1, 1, 1, 0, 0, 0, 0}, DType::f64);
  // softmax of [4 s, 0]
  check_close(attention_weights(q, k), {0.880797077978, 0.119202922022});
  check_close(attention_weights(q, k, {.scale = 1}), {0.982013790038, 0.0179862099621});
  check_close(attention_weights(q, k, {.scale = 0}), {0.5, 0.5});
}

TEST_CASE("a bias of minus infinity hides a key and a whole row of it is 0") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : kFloating) {
    const Tensor q = leaf({1, 1, 2, 1}, {1, 2}, dtype), k = leaf({1, 1, 2, 1}, {3, 4}, dtype),
                 v = leaf({1, 1, 2, 1}, {5, 7}, dtype);
    const Tensor bias = leaf({2, 2}, {0, -inf, -inf, -inf}, dtype);
    const Tensor y = attention(q, k, v, {.mask = Mask::bias(bias)});
    check_close(y, {5, 0});
    for (const bool recorded : {false, true}) {
      const Tensors g = pulled_back(y, ones_like(y), {q, k, v, bias}, recorded);
      check_close(g[0], {0, 0});
      check_close(g[1], {0, 0});
      check_close(g[2], {1, 0});
      check_close(g[3], {0, 0, 0, 0});
    }
  }
}

TEST_CASE(
    "a fill weighs all keys of a query that may see nothing alike and passes it no gradient") {
  const Mask mask = Mask::keep(booleans({2, 2}, {true, false, false, false}));
  for (const DType dtype : kFloating) {
    const Tensor q = leaf({1, 1, 2, 1}, {1, 2}, dtype), k = leaf({1, 1, 2, 1}, {3, -1}, dtype),
                 v = leaf({1, 1, 2, 1}, {10, 20}, dtype);
    const Tensor y = attention(q, k, v, {.mask = mask, .fill = -1e9});
    check_close(y, {10, 15});
    const Tensors gradients = grad({sum(y)}, {q, k, v});
    check_close(gradients[0], {0, 0});
    check_close(gradients[1], {0, 0});
    check_close(gradients[2], {1.5, 0.5});
    CHECK_THROWS_AS(
        attention_weights(q, k, {.mask = mask, .fill = -std::numeric_limits<double>::infinity()}),
        ValueError);
  }
  const Tensor x = zeros({1, 1, 2, 1});
  for (const Mask& any : {mask, Mask()})
    CHECK_THROWS_WITH_AS(attention(x, x, x, {.mask = any, .fill = -1e39}),
                         doctest::Contains("fill must be finite in f32, got -1e+39"), ValueError);
}

#include <limits>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/kernels/parallel.h>
#include <attograd/core/ops/products.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

/// y[..., i, j] = sum_k a[..., i, k] b[..., k, j] from its definition, by broadcasting.
Tensor definition(const Tensor& a, const Tensor& b) {
  return sum(unsqueeze(a, -1) * unsqueeze(b, -3), -2);
}

void check_product(const Tensor& a, const Tensor& b) {
  CAPTURE(a.shape());
  CAPTURE(b.shape());
  const Tensor y = matmul(a, b);
  CHECK(y.shape() == definition(a, b).shape());
  CHECK(values_of(y) == values_of(definition(a, b)));
}

}  // namespace

TEST_CASE("every layout of the operands gives the product of their copies") {
  const auto layouts = [](int64_t rows, int64_t cols, uint64_t seed) {
    const Tensor plain = random_integers({2, 2 * rows + 1, 2 * cols + 1}, seed);
    return Tensors{
        random_integers({2, rows, cols}, seed),
        transpose(random_integers({2, cols, rows}, seed)),
        permute(random_integers({rows, 2, cols}, seed), {1, 0, 2}),  // as [T, B, C] is read
        permute(random_integers({cols, rows, 2}, seed), {2, 1, 0}),  // no axis of neighbours
        slice(slice(plain, 1, 1, rows + 1), 2, 1, cols + 1),         // rows with gaps
        slice(slice(plain, 1, 0, 2 * rows, 2), 2, 0, cols),          // every second row
        slice(slice(plain, 1, 0, rows), 2, 0, 2 * cols, 2),          // every second column
        expand(random_integers({rows, cols}, seed), {2, rows, cols}),
        expand(random_integers({1, cols}, seed), {2, rows, cols}),  // one row again and again
        expand(random_integers({rows, 1}, seed), {2, rows, cols}),
        flip(random_integers({2, rows, cols}, seed)),
        slice(random_integers({2, rows, cols}, seed), 0, 1, 2),
        random_integers({rows, cols}, seed),
        transpose(random_integers({cols, rows}, seed)),
    };
  };
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{3, 4, 5},
                                {1, 4, 5},
                                {3, 1, 5},
                                {3, 4, 1},
                                {1, 1, 5},
                                {1, 4, 1},
                                {3, 1, 1},
                                {1, 1, 1}})
    for (const Tensor& a : layouts(m, k, 1))
      for (const Tensor& b : layouts(k, n, 2)) check_product(a, b);
}

TEST_CASE("transposed and sliced operands are read where they lie") {  // and INP-01
  Tensor w = random_integers({4, 3}, 5).set_requires_grad();
  Tensor x = random_integers({2, 4}, 6);
  const Tensor y = matmul(transpose(w), transpose(x));
  x.assign(x + 1);  // the product saved x itself and must not use its new values
  CHECK(message_of<GraphError>([&] { backward(sum(y)); }).find("matmul") != std::string::npos);
}

TEST_CASE("a batch of rows times one matrix is one product forward and back") {
  Tensor x = random_integers({4, 5, 3}, 11).set_requires_grad();
  Tensor w = random_integers({3, 2}, 12).set_requires_grad();
  const Tensor y = matmul(x, w);
  CHECK(y.node()->inputs[0]->shape == Shape{20, 2});  // the product, reshaped
  const Tensor g = random_integers(y.shape(), 13);
  const Tensors d = grad({y}, {x, w}, {}, {g});
  CHECK(values_of(d[0]) == values_of(definition(g, transpose(w))));
  CHECK(values_of(d[1]) == values_of(sum(definition(transpose(x), g), 0)));
}

TEST_CASE("thread counts change no product") {
  const int before = kernels::thread_count();
  for (const auto& [a, b] :
       {std::pair{random_integers({130, 70}, 14), random_integers({70, 90}, 15)},
        std::pair{random_integers({6, 40, 30}, 16), random_integers({6, 30, 50}, 17)}}) {
    kernels::set_thread_count(1);
    const Values one = values_of(matmul(a, b));
    kernels::set_thread_count(2);
    CHECK(values_of(matmul(a, b)) == one);
  }
  kernels::set_thread_count(before);
}

TEST_CASE("f32 products have f32 results") {
  const Tensor y =
      matmul(random_integers({7, 9}, 18, DType::f32), random_integers({9, 8}, 19, DType::f32));
  const Tensor exact = matmul(random_integers({7, 9}, 18), random_integers({9, 8}, 19));
  CHECK(y.dtype() == DType::f32);
  CHECK(values_of(cast(y, DType::f64)) == values_of(exact));
}

TEST_CASE("outer and dot are products of vectors") {
  const Tensor a = tensor({1, 2}, DType::f64), b = tensor({3, 4, 5}, DType::f64);
  CHECK(values_of(outer(a, b)) == Values{3, 4, 5, 6, 8, 10});
  CHECK(outer(a, b).shape() == Shape{2, 3});
  CHECK(dot(b, b).shape() == Shape{});
  CHECK(dot(b, b).item() == 50);
  CHECK(dot(counted({0}), counted({0})).item() == 0);
}

TEST_CASE("einsum is every product and sum that its letters spell") {
  const Tensor a = random_integers({2, 3, 4}, 20), b = random_integers({2, 4, 5}, 21);
  const Tensor m = random_integers({3, 3}, 22), v = random_integers({4}, 23);
  const auto same = [](const Tensor& y, const Tensor& expected) {
    CHECK(y.shape() == expected.shape());
    CHECK(values_of(y) == values_of(expected));
  };
  same(einsum("bik,bkj->bij", {a, b}), matmul(a, b));
  same(einsum("bik, bkj", {a, b}), sum(matmul(a, b), 0));  // b occurs twice
  same(einsum("bkj,bik->jbi", {b, a}), permute(matmul(a, b), {2, 0, 1}));
  same(einsum("bik,bkj->ij", {a, b}), sum(matmul(a, b), 0));
  same(einsum("bik,k->bi", {a, v}), matmul(a, v));
  same(einsum("k,k", {v, v}), dot(v, v));
  same(einsum("i,j->ji", {v, v}), outer(v, v));
  same(einsum("bik,bik->bik", {a, a}), a * a);
  same(einsum("bik,bik->", {a, a}), sum(a * a));
  same(einsum("bik->kb", {a}), transpose(sum(a, 1)));
  same(einsum("bik", {a}), a);
  same(einsum("ba", {random_integers({2, 3}, 24)}), transpose(random_integers({2, 3}, 24)));
  same(einsum("bik,ij,bjc->ckb", {a, m, random_integers({2, 3, 2}, 25)}),
       permute(matmul(transpose(a), matmul(m, random_integers({2, 3, 2}, 25))), {2, 1, 0}));
  same(einsum(",ij->ij", {tensor(2.0, DType::f64), m}), 2.0 * m);
  same(einsum("ik,jl->j", {m, m}), sum(m) * sum(m, 1));
}

TEST_CASE("a letter that an operand repeats takes its diagonal") {
  const Tensor m = counted({3, 3});
  CHECK(values_of(einsum("ii->i", {m})) == Values{0, 4, 8});
  CHECK(einsum("ii", {m}).item() == 12);
  CHECK(values_of(einsum("ibi->b", {counted({2, 3, 2})})) == Values{7, 11, 15});
  CHECK(values_of(einsum("iii->i", {counted({2, 2, 2})})) == Values{0, 7});
  CHECK(values_of(einsum("iji,jj->j", {counted({2, 2, 2}), counted({2, 2})})) == Values{0, 27});
  CHECK(einsum("ii->i", {counted({0, 0})}).shape() == Shape{0});
  CHECK(adjoint_gap([](const Tensor& x) { return einsum("iij->ji", {x}); }, {3, 3, 2}) == 0);
}

TEST_CASE("einsum of attention scores reads the heads where they lie") {
  const Tensor q = random_integers({2, 5, 3, 4}, 26), k = random_integers({2, 6, 3, 4}, 27);
  CHECK(values_of(einsum("bthd,bshd->bhts", {q, k})) ==
        values_of(matmul(permute(q, {0, 2, 1, 3}), permute(k, {0, 2, 3, 1}))));
  CHECK(adjoint_gap(
            [&](const Tensor& x) {
              return einsum("bthd,bshd->bhts", {x, k});
            },
            {2, 5, 3, 4}) == 0);
}

TEST_CASE("einsum sums over sizes of 0") {
  CHECK(values_of(einsum("ik,kj->ij", {counted({2, 0}), counted({0, 2})})) == Values(4, 0));
  CHECK(einsum("ik,kj->ij", {counted({0, 3}), counted({3, 2})}).shape() == Shape{0, 2});
}

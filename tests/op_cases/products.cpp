#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

/// y[i, j] = sum_k a[i, k] b[k, j]
Numbers naive_matmul(const In& x) {
  const int64_t m = x[0].shape[0], k = x[0].shape[1], n = x[1].shape[1];
  Numbers y({m, n});
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) y(i, j) += x[0](i, l) * x[1](l, j);
  return y;
}

Tensor call_matmul(const Tensors& x) { return matmul(x[0], x[1]); }

void add_matmul(Table& t) {
  t.cases.push_back({.op = "matmul",
                     .inputs = {normal({3, 4}), normal({4, 2})},
                     .call = call_matmul,
                     .naive = naive_matmul});
  t.cases.push_back({.op = "matmul",
                     .label = "inner size 0",
                     .inputs = {normal({3, 0}), normal({0, 2})},
                     .call = call_matmul,
                     .naive = naive_matmul});
  t.cases.push_back({.op = "matmul",
                     .label = "matrix and vector",
                     .inputs = {normal({3, 4}), normal({4})},
                     .call = call_matmul,
                     .naive = [](const In& x) {
                       Numbers y({3});
                       for (int i = 0; i < 3; ++i)
                         for (int k = 0; k < 4; ++k) y(i) += x[0](i, k) * x[1](k);
                       return y;
                     }});
  t.cases.push_back({.op = "matmul",
                     .label = "vector and batch",
                     .inputs = {normal({4}), normal({2, 4, 3})},
                     .call = call_matmul,
                     .naive = [](const In& x) {
                       Numbers y({2, 3});
                       for (int b = 0; b < 2; ++b)
                         for (int j = 0; j < 3; ++j)
                           for (int k = 0; k < 4; ++k) y(b, j) += x[0](k) * x[1](b, k, j);
                       return y;
                     }});
  t.cases.push_back({.op = "matmul",
                     .label = "batch and matrix",
                     .inputs = {normal({2, 3, 4}), normal({4, 2})},
                     .call = call_matmul,
                     .naive = [](const In& x) {
                       Numbers y({2, 3, 2});
                       for (int b = 0; b < 2; ++b)
                         for (int i = 0; i < 3; ++i)
                           for (int j = 0; j < 2; ++j)
                             for (int k = 0; k < 4; ++k) y(b, i, j) += x[0](b, i, k) * x[1](k, j);
                       return y;
                     }});
  t.cases.push_back({.op = "matmul",
                     .label = "broadcast batch",
                     .inputs = {normal({2, 1, 2, 3}), normal({3, 3, 2})},
                     .call = call_matmul,
                     .naive = [](const In& x) {
                       Numbers y({2, 3, 2, 2});
                       for (int p = 0; p < 2; ++p)
                         for (int q = 0; q < 3; ++q)
                           for (int i = 0; i < 2; ++i)
                             for (int j = 0; j < 2; ++j)
                               for (int k = 0; k < 3; ++k)
                                 y(p, q, i, j) += x[0](p, 0, i, k) * x[1](q, k, j);
                       return y;
                     }});
}

void add_vector_products(Table& t) {
  t.cases.push_back({.op = "outer",
                     .inputs = {normal({2}), normal({3})},
                     .call = [](const Tensors& x) { return outer(x[0], x[1]); },
                     .naive =
                         [](const In& x) {
                           Numbers y({2, 3});
                           for (int i = 0; i < 2; ++i)
                             for (int j = 0; j < 3; ++j) y(i, j) = x[0](i) * x[1](j);
                           return y;
                         }});
  t.cases.push_back({.op = "dot",
                     .inputs = {normal({5}), normal({5})},
                     .call = [](const Tensors& x) { return dot(x[0], x[1]); },
                     .naive =
                         [](const In& x) {
                           Numbers y(Shape{});
                           for (int i = 0; i < 5; ++i) y() += x[0](i) * x[1](i);
                           return y;
                         }});
}

void add_einsum(Table& t) {
  t.cases.push_back({.op = "einsum",
                     .inputs = {normal({2, 3, 4}), normal({2, 5, 4})},
                     .call = [](const Tensors& x) { return einsum("bik,bjk->jbi", x); },
                     .naive =
                         [](const In& x) {
                           Numbers y({5, 2, 3});
                           for (int b = 0; b < 2; ++b)
                             for (int i = 0; i < 3; ++i)
                               for (int j = 0; j < 5; ++j)
                                 for (int k = 0; k < 4; ++k)
                                   y(j, b, i) += x[0](b, i, k) * x[1](b, j, k);
                           return y;
                         }});
  t.cases.push_back({.op = "einsum",
                     .label = "of three with a diagonal",
                     .inputs = {normal({3, 3}), normal({3, 2}), normal({2})},
                     .call = [](const Tensors& x) { return einsum("ii,ij,j->i", x); },
                     .naive =
                         [](const In& x) {
                           Numbers y({3});
                           for (int i = 0; i < 3; ++i)
                             for (int j = 0; j < 2; ++j) y(i) += x[0](i, i) * x[1](i, j) * x[2](j);
                           return y;
                         }});
}

void add_einsum_errors(Table& t) {
  const auto refuse = [&t](const char* equation, const Tensors& x, const char* message) {
    t.errors.push_back(refuses<ShapeError>(
        "einsum", [equation, x] { einsum(equation, x); }, message));
  };
  const Tensor a = zeros({2, 3});
  refuse("ij->ik", {a}, "einsum: the result has the letter k, which no operand has, in \"ij->ik\"");
  refuse("ij->ii", {a}, "einsum: the result has the letter i twice in \"ij->ii\"");
  refuse("...j->j", {a},
         "einsum: an equation has letters, commas and one ->, got \"...j->j\"; give each axis a "
         "letter instead of ...");
  refuse("ij->i->j", {a}, "einsum: an equation has letters, commas and one ->, got \"ij->i->j\"");
  refuse("ij,jk", {a}, "einsum: \"ij,jk\" takes 2 operands, got 1");
  refuse("", {}, "einsum: \"\" takes 1 operands, got 0");
  refuse("ijk", {a}, "einsum: operand 0 of \"ijk\" has 3 letters, got f32[2, 3]");
  refuse("ij,jk", {a, a}, "einsum: the letter j of \"ij,jk\" must have one size, got 3 and 2");
  refuse("ii", {a}, "einsum: the letter i of \"ii\" must have one size, got 2 and 3");
  const Tensor wide = zeros({1, 1, 1, 1, 1});
  refuse("abcde,fghij->abcdefghij", {wide, wide},
         "einsum: the product of two operands has at most 8 axes, two of them in one operand only, "
         "got abcde and fghij");
  t.errors.push_back(refuses<DTypeError>(
      "einsum",
      [a] {
        einsum("i,ij", {zeros({2}, DType::f64), a});
      },
      "einsum: operands must have one dtype, got f64[2] and f32[2, 3]"));
}

void add_product_errors(Table& t) {
  const auto refuse = [&t](const char* op, std::function<void()> call, const char* message) {
    t.errors.push_back(refuses<ShapeError>(op, std::move(call), message));
  };
  refuse(
      "matmul",
      [] {
        matmul(zeros({8, 64}), zeros({32, 64}));
      },
      "matmul: a.dim(-1) must equal b.dim(-2), got a = f32[8, 64], b = f32[32, 64]; did you "
      "mean matmul(a, transpose(b))?");
  refuse(
      "matmul",
      [] {
        matmul(zeros({8, 3}), zeros({8, 2}));
      },
      "matmul: a.dim(-1) must equal b.dim(-2), got a = f32[8, 3], b = f32[8, 2]; did you mean "
      "matmul(transpose(a), b)?");
  refuse(
      "matmul",
      [] {
        matmul(zeros({2, 3}), zeros({4, 2}));
      },
      "matmul: a.dim(-1) must equal b.dim(-2), got a = f32[2, 3], b = f32[4, 2]");
  refuse(
      "matmul",
      [] {
        matmul(zeros({2, 3}), zeros({4}));
      },
      "matmul: a.dim(-1) must equal b.dim(0), got a = f32[2, 3], b = f32[4]");
  refuse(
      "matmul",
      [] {
        matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
      },
      "matmul: the axes before the last two must broadcast, got a = f32[2, 3, 4], b = f32[3, "
      "4, 5]");
  refuse(
      "matmul", [] { matmul(zeros({}), zeros({3})); },
      "matmul: operands must be vectors, matrices or batches of them, got a = f32[], b = "
      "f32[3]; a * b multiplies by a scalar");
  t.errors.push_back(refuses<DTypeError>(
      "matmul",
      [] {
        matmul(zeros({2, 3}), zeros({3, 2}, DType::f64));
      },
      "matmul: a and b must have one dtype, got a = f32[2, 3], b = f64[3, 2]; convert with cast(x, "
      "DType::f64)"));
  t.errors.push_back(refuses<DTypeError>(
      "matmul", [] { matmul(arange(0, 3), arange(0, 3)); },
      "matmul: takes f32 or f64, got i64; convert with cast"));
  refuse(
      "outer",
      [] {
        outer(zeros({2, 1}), zeros({3}));
      },
      "outer: a and b must be vectors, got a = f32[2, 1], b = f32[3]");
  refuse(
      "dot", [] { dot(zeros({2}), zeros({3})); },
      "dot: a and b must be vectors of one length, got a = f32[2], b = f32[3]");
}

}  // namespace

void add_products(Table& t) {
  add_matmul(t);
  add_vector_products(t);
  add_einsum(t);
  add_product_errors(t);
  add_einsum_errors(t);
}

}  // namespace attograd::op_cases

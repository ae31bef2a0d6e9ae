#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

/// Of an operation on matrices: y(i, j) = f(x, i, j).
Naive matrix(const Shape& shape, double (*f)(const In& x, int i, int j)) {
  return [shape, f](const In& x) {
    Numbers y(shape);
    for (int i = 0; i < shape[0]; ++i)
      for (int j = 0; j < shape[1]; ++j) y(i, j) = f(x, i, j);
    return y;
  };
}

void add_part_values(Table& t) {
  t.cases.push_back(
      {.op = "slice",
       .inputs = {normal({2, 7})},
       .call = [](const Tensors& x) { return slice(x[0], 1, 1, -1, 2); },
       .naive = matrix({2, 3}, [](const In& x, int i, int j) { return x[0](i, 1 + 2 * j); })});
  t.cases.push_back({.op = "slice",
                     .label = "of nothing",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return slice(x[0], 1, 2, 2); },
                     .naive =
                         [](const In&) {
                           return Numbers({2, 0});
                         }});
  t.cases.push_back({.op = "select",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return select(x[0], 1, -1); },
                     .naive =
                         [](const In& x) {
                           Numbers y({2});
                           for (int i = 0; i < 2; ++i) y(i) = x[0](i, 2);
                           return y;
                         }});
  t.cases.push_back({.op = "split",
                     .inputs = {normal({2, 5})},
                     .call =
                         [](const Tensors& x) {
                           const Tensors parts = split(x[0], 1, {2, 1, 2});
                           return parts[0] - parts[2];
                         },
                     .naive = matrix({2, 2}, [](const In& x, int i, int j) {
                       return x[0](i, j) - x[0](i, j + 3);
                     })});
  t.cases.push_back(
      {.op = "split",
       .label = "into equal parts",
       .inputs = {normal({5, 2})},
       .call = [](const Tensors& x) { return split(x[0], 0, 2).at(1); },
       .naive = matrix({2, 2}, [](const In& x, int i, int j) { return x[0](i + 2, j); })});
  t.cases.push_back({.op = "cat",
                     .inputs = {normal({2, 3}), normal({2, 0}), normal({2, 1})},
                     .call = [](const Tensors& x) { return cat(x, -1); },
                     .naive = matrix({2, 4}, [](const In& x, int i, int j) {
                       return j < 3 ? x[0](i, j) : x[2](i, 0);
                     })});
  t.cases.push_back({.op = "stack",
                     .inputs = {normal({3}), normal({3})},
                     .call = [](const Tensors& x) { return stack(x, 1); },
                     .naive = matrix({3, 2}, [](const In& x, int i, int j) {
                       return x[static_cast<size_t>(j)](i);
                     })});
  t.cases.push_back({.op = "pad",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return pad(x[0], 1, 2, 1); },
                     .naive = matrix({2, 6}, [](const In& x, int i, int j) {
                       return j >= 2 && j < 5 ? x[0](i, j - 2) : 0;
                     })});
  t.cases.push_back(
      {.op = "tril",
       .inputs = {normal({3, 4})},
       .call = [](const Tensors& x) { return tril(x[0]); },
       .naive = matrix({3, 4}, [](const In& x, int i, int j) { return j <= i ? x[0](i, j) : 0; })});
  t.cases.push_back({.op = "triu",
                     .label = "above the diagonal",
                     .inputs = {normal({3, 4})},
                     .call = [](const Tensors& x) { return triu(x[0], 1); },
                     .naive = matrix({3, 4}, [](const In& x, int i, int j) {
                       return j >= i + 1 ? x[0](i, j) : 0;
                     })});
}

void add_part_errors(Table& t) {
  const auto refuse = [&t](const char* op, std::function<void()> call, const char* message) {
    t.errors.push_back(refuses<ShapeError>(op, std::move(call), message));
  };
  t.errors.push_back(refuses<IndexError>(
      "slice",
      [] {
        slice(zeros({2, 5}), 1, 2, 6);
      },
      "slice: needs 0 <= begin <= end <= size (negative places count from the end), got begin 2, "
      "end 6 on axis 1 of f32[2, 5]"));
  t.errors.push_back(refuses<ValueError>(
      "slice", [] { slice(zeros({5}), 0, 1, 4, -1); },
      "slice: step must be >= 1, got -1; flip reverses an axis"));
  t.errors.push_back(refuses<IndexError>(
      "select",
      [] {
        select(zeros({2, 3}), 0, 2);
      },
      "select: the index must be in [-2, 2), got 2 on axis 0 of f32[2, 3]"));
  refuse(
      "split", [] { split(zeros({5}), 0, 0); }, "split: parts must have a size >= 1, got 0");
  refuse(
      "split",
      [] {
        split(zeros({5}), 0, {2, 2});
      },
      "split: sizes must be >= 0 and add up to that of the axis, got 2 sizes for axis 0 of "
      "f32[5]");
  refuse(
      "cat", [] { cat({}); }, "cat: needs at least one tensor, got none");
  refuse(
      "cat",
      [] {
        cat({zeros({}), zeros({})});
      },
      "cat: scalars have no axis to be joined along; use stack");
  refuse(
      "cat",
      [] {
        cat({zeros({2, 3}), zeros({3, 3})}, 1);
      },
      "cat: sizes must agree on every axis but 1, got f32[2, 3] and f32[3, 3]");
  refuse(
      "cat",
      [] {
        cat({zeros({2, 3}), zeros({3})});
      },
      "cat: sizes must agree on every axis but 0, got f32[2, 3] and f32[3]");
  t.errors.push_back(refuses<DTypeError>(
      "cat",
      [] {
        cat({zeros({2}), zeros({2}, DType::f64)});
      },
      "cat: tensors must have one dtype, got f32[2] and f64[2]"));
  refuse(
      "stack",
      [] {
        stack({zeros({2}), zeros({3})});
      },
      "stack: tensors must have one shape, got f32[2] and f32[3]; cat joins different sizes");
  refuse(
      "pad",
      [] {
        pad(zeros({2, 3}), 1, -1, 0);
      },
      "pad: needs sizes >= 0 that fit in 63 bits, got -1 and 0 on axis 1 of f32[2, 3]; slice "
      "makes a tensor smaller");
  refuse(
      "tril", [] { tril(zeros({3})); }, "tril: needs two axes or more, got f32[3]");
}

}  // namespace

void add_parts(Table& t) {
  add_part_values(t);
  add_part_errors(t);
}

}  // namespace attograd::op_cases

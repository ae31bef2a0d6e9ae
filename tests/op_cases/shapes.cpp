#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

/// The naive twin of an operation that only renames places: the numbers stay in their order.
Naive same_numbers(const Shape& shape) {
  return [shape](const In& x) {
    Numbers y(shape);
    y.values = x[0].values;
    return y;
  };
}

/// Of an operation on matrices: y(i, j) = f(x, i, j).
Naive matrix(const Shape& shape, double (*f)(const In& x, int i, int j)) {
  return [shape, f](const In& x) {
    Numbers y(shape);
    for (int i = 0; i < shape[0]; ++i)
      for (int j = 0; j < shape[1]; ++j) y(i, j) = f(x, i, j);
    return y;
  };
}

void add_reshapes(Table& t) {
  t.cases.push_back({.op = "reshape",
                     .inputs = {normal({2, 6})},
                     .call =
                         [](const Tensors& x) {
                           return reshape(x[0], {3, -1});
                         },
                     .naive = same_numbers({3, 4})});
  t.cases.push_back({.op = "reshape",
                     .label = "of a transpose",
                     .inputs = {normal({2, 6})},
                     .call =
                         [](const Tensors& x) {
                           return reshape(transpose(x[0]), {3, 4});
                         },
                     .naive = matrix({3, 4}, [](const In& x, int i, int j) {
                       const int at = 4 * i + j;
                       return x[0](at % 2, at / 2);
                     })});
  t.cases.push_back({.op = "squeeze",
                     .inputs = {normal({1, 3, 1})},
                     .call = [](const Tensors& x) { return squeeze(x[0]); },
                     .naive = same_numbers({3})});
  t.cases.push_back({.op = "squeeze",
                     .label = "one axis",
                     .inputs = {normal({1, 3, 1})},
                     .call = [](const Tensors& x) { return squeeze(x[0], -1); },
                     .naive = same_numbers({1, 3})});
  t.cases.push_back({.op = "unsqueeze",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return unsqueeze(x[0], -2); },
                     .naive = same_numbers({2, 1, 3})});
  t.cases.push_back({.op = "expand",
                     .inputs = {normal({2, 1})},
                     .call =
                         [](const Tensors& x) {
                           return expand(x[0], {4, 2, 3});
                         },
                     .naive =
                         [](const In& x) {
                           Numbers y({4, 2, 3});
                           for (int i = 0; i < 4; ++i)
                             for (int j = 0; j < 2; ++j)
                               for (int k = 0; k < 3; ++k) y(i, j, k) = x[0](j, 0);
                           return y;
                         }});
}

void add_orders(Table& t) {
  t.cases.push_back({.op = "permute",
                     .inputs = {normal({2, 3, 4})},
                     .call =
                         [](const Tensors& x) {
                           return permute(x[0], {2, 0, 1});
                         },
                     .naive =
                         [](const In& x) {
                           Numbers y({4, 2, 3});
                           for (int i = 0; i < 4; ++i)
                             for (int j = 0; j < 2; ++j)
                               for (int k = 0; k < 3; ++k) y(i, j, k) = x[0](j, k, i);
                           return y;
                         }});
  t.cases.push_back(
      {.op = "transpose",
       .inputs = {normal({2, 3})},
       .call = [](const Tensors& x) { return transpose(x[0]); },
       .naive = matrix({3, 2}, [](const In& x, int i, int j) { return x[0](j, i); })});
  t.cases.push_back(
      {.op = "flip",
       .inputs = {normal({2, 3})},
       .call = [](const Tensors& x) { return flip(x[0]); },
       .naive = matrix({2, 3}, [](const In& x, int i, int j) { return x[0](1 - i, 2 - j); })});
  t.cases.push_back(
      {.op = "flip",
       .label = "one axis",
       .inputs = {normal({2, 3})},
       .call = [](const Tensors& x) { return flip(x[0], -1); },
       .naive = matrix({2, 3}, [](const In& x, int i, int j) { return x[0](i, 2 - j); })});
}

void add_reshape_errors(Table& t) {
  const auto refuse = [&t](const char* op, std::function<void()> call, const char* message) {
    t.errors.push_back(refuses<ShapeError>(op, std::move(call), message));
  };
  refuse(
      "reshape",
      [] {
        reshape(zeros({2, 3}), {4});
      },
      "reshape: the number of elements must stay, got f32[2, 3] to [4]");
  refuse(
      "reshape",
      [] {
        reshape(zeros({2, 3}), {4, -1});
      },
      "reshape: the number of elements must stay, got f32[2, 3] to [4, -1]");
  refuse(
      "reshape",
      [] {
        reshape(zeros({2, 3}), {-1, -1});
      },
      "reshape: at most one size may be -1, got [-1, -1]");
  refuse(
      "reshape",
      [] {
        reshape(zeros({2, 3}), {-2, 3});
      },
      "reshape: sizes must be >= 0, or one of them -1, got [-2, 3]");
  refuse(
      "reshape",
      [] {
        reshape(zeros({0, 3}), {0, -1});
      },
      "reshape: -1 could be any size, got [0, -1], which holds no elements");
  refuse(
      "expand",
      [] {
        expand(zeros({2, 3}), {4, 3});
      },
      "expand: cannot expand [2, 3] to [4, 3]: only axes of size 1 repeat");
  refuse(
      "expand",
      [] {
        expand(zeros({2, 3}), {3});
      },
      "expand: cannot expand [2, 3] to [3]");
  refuse(
      "expand", [] { expand(zeros({1}), {-1}); }, "expand: sizes must be >= 0, got [-1]");
  refuse(
      "permute",
      [] {
        permute(zeros({2, 3}), {0, -2});
      },
      "permute: every axis must be named once, got [0, -2] for f32[2, 3]");
  refuse(
      "permute",
      [] {
        permute(zeros({2, 3}), {0});
      },
      "permute: every axis must be named once, got [0] for f32[2, 3]");
  refuse(
      "permute",
      [] {
        permute(zeros({2, 3}), {0, 2});
      },
      "permute: axis must be in [-2, 2), got 2");
  refuse(
      "transpose", [] { transpose(zeros({3})); }, "transpose: needs two axes or more, got f32[3]");
  refuse(
      "transpose",
      [] {
        transpose(zeros({2, 3}), 0, 2);
      },
      "transpose: axis must be in [-2, 2), got 2");
  refuse(
      "squeeze",
      [] {
        squeeze(zeros({1, 3}), 1);
      },
      "squeeze: the axis must have size 1, got axis 1 of f32[1, 3]; select drops an axis of any "
      "size");
  refuse(
      "unsqueeze", [] { unsqueeze(zeros({2}), 2); }, "unsqueeze: axis must be in [-2, 2), got 2");
  refuse(
      "unsqueeze",
      [] {
        unsqueeze(zeros({1, 1, 1, 1, 1, 1, 1, 1}), 0);
      },
      "unsqueeze: at most 8 axes, got one more than f32[1, 1, 1, 1, 1, 1, 1, 1]");
  refuse(
      "flip",
      [] {
        flip(zeros({2}), {0, -1});
      },
      "flip: axes must differ, got axis -1 twice");
}

}  // namespace

void add_shapes(Table& t) {
  add_reshapes(t);
  add_orders(t);
  add_reshape_errors(t);
}

}  // namespace attograd::op_cases

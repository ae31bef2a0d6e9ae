#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

int id(double v) { return static_cast<int>(v); }

Tensor some_ids() { return from_values({2}, std::vector<int64_t>{0, 5}); }

void add_rows(Table& t) {
  t.cases.push_back({.op = "embedding",
                     .inputs = {normal({5, 2}), ids({3, 2}, 5)},
                     .call = [](const Tensors& x) { return embedding(x[0], x[1]); },
                     .naive =
                         [](const In& x) {
                           Numbers y({3, 2, 2});
                           for (int i = 0; i < 3; ++i)
                             for (int j = 0; j < 2; ++j)
                               for (int c = 0; c < 2; ++c) y(i, j, c) = x[0](id(x[1](i, j)), c);
                           return y;
                         }});
  t.cases.push_back({.op = "embedding",
                     .label = "of equal ids",
                     .inputs = {normal({3, 2}), ids({4}, {1, 1, 1, 1})},
                     .call = [](const Tensors& x) { return embedding(x[0], x[1]); },
                     .naive =
                         [](const In& x) {
                           Numbers y({4, 2});
                           for (int i = 0; i < 4; ++i)
                             for (int c = 0; c < 2; ++c) y(i, c) = x[0](1, c);
                           return y;
                         }});
  t.cases.push_back({.op = "take",
                     .inputs = {normal({2, 4, 3}), ids({3}, 4)},
                     .call = [](const Tensors& x) { return take(x[0], x[1], 1); },
                     .naive =
                         [](const In& x) {
                           Numbers y({2, 3, 3});
                           for (int i = 0; i < 2; ++i)
                             for (int j = 0; j < 3; ++j)
                               for (int k = 0; k < 3; ++k) y(i, j, k) = x[0](i, id(x[1](j)), k);
                           return y;
                         }});
  t.cases.push_back({.op = "one_hot",
                     .inputs = {ids({3}, 4)},
                     .call = [](const Tensors& x) { return one_hot(x[0], 4, DType::f64); },
                     .naive =
                         [](const In& x) {
                           Numbers y({3, 4});
                           for (int i = 0; i < 3; ++i) y(i, id(x[0](i))) = 1;
                           return y;
                         },
                     .differentiable = false});
}

void add_places(Table& t) {
  t.cases.push_back({.op = "gather",
                     .inputs = {normal({3, 4}), ids({3, 2}, 4)},
                     .call = [](const Tensors& x) { return gather(x[0], -1, x[1]); },
                     .naive =
                         [](const In& x) {
                           Numbers y({3, 2});
                           for (int i = 0; i < 3; ++i)
                             for (int j = 0; j < 2; ++j) y(i, j) = x[0](i, id(x[1](i, j)));
                           return y;
                         }});
  t.cases.push_back({.op = "gather",
                     .label = "over rows",
                     .inputs = {normal({3, 2}), ids({5, 2}, 3)},
                     .call = [](const Tensors& x) { return gather(x[0], 0, x[1]); },
                     .naive =
                         [](const In& x) {
                           Numbers y({5, 2});
                           for (int i = 0; i < 5; ++i)
                             for (int j = 0; j < 2; ++j) y(i, j) = x[0](id(x[1](i, j)), j);
                           return y;
                         }});
  t.cases.push_back({.op = "scatter_add",
                     .inputs = {normal({3, 4}), ids({3, 4}, 2)},
                     .call = [](const Tensors& x) { return scatter_add(x[0], 1, x[1], 3); },
                     .naive =
                         [](const In& x) {
                           Numbers y({3, 3});
                           for (int i = 0; i < 3; ++i)
                             for (int j = 0; j < 4; ++j) y(i, id(x[1](i, j))) += x[0](i, j);
                           return y;
                         }});
  t.cases.push_back({.op = "scatter_add",
                     .label = "over rows",
                     .inputs = {normal({4, 2}), ids({4, 2}, 3)},
                     .call = [](const Tensors& x) { return scatter_add(x[0], 0, x[1], 3); },
                     .naive =
                         [](const In& x) {
                           Numbers y({3, 2});
                           for (int i = 0; i < 4; ++i)
                             for (int j = 0; j < 2; ++j) y(id(x[1](i, j)), j) += x[0](i, j);
                           return y;
                         }});
}

void add_indexing_errors(Table& t) {
  t.errors.push_back(refuses<IndexError>(
      "embedding",
      [] {
        embedding(zeros({4, 2}), some_ids());
      },
      "embedding: indices must be in [0, 4), the rows of weight, got 5"));
  t.errors.push_back(refuses<DTypeError>(
      "embedding",
      [] {
        embedding(zeros({4, 2}), zeros({3}));
      },
      "embedding: indices must be i64, got f32[3]; convert with cast(x, DType::i64)"));
  t.errors.push_back(refuses<ShapeError>(
      "embedding", [] { embedding(zeros({4}), some_ids()); },
      "embedding: weight must be [V, C], got f32[4]"));
  t.errors.push_back(refuses<IndexError>(
      "take",
      [] {
        take(zeros({2, 3}), some_ids(), 1);
      },
      "take: indices must be in [0, 3), the size of the axis, got 5"));
  t.errors.push_back(refuses<IndexError>(
      "gather", [] { gather(zeros({5}), 0, some_ids()); },
      "gather: indices must be in [0, 5), the size of the axis, got 5"));
  t.errors.push_back(refuses<ShapeError>(
      "gather",
      [] {
        gather(zeros({2, 3}), 1, some_ids());
      },
      "gather: index must agree with x on every axis but 1, got x = f32[2, 3], index = i64[2]"));
  t.errors.push_back(refuses<IndexError>(
      "scatter_add", [] { scatter_add(zeros({2}), 0, some_ids(), 4); },
      "scatter_add: indices must be in [0, 4), the size of the result, got 5"));
  t.errors.push_back(refuses<ShapeError>(
      "scatter_add",
      [] {
        scatter_add(zeros({2, 3}), 1, some_ids(), 4);
      },
      "scatter_add: index must have the shape of x, got x = f32[2, 3], index = i64[2]"));
  t.errors.push_back(refuses<ShapeError>(
      "scatter_add", [] { scatter_add(zeros({2}), 0, some_ids(), -1); },
      "scatter_add: size must be >= 0, got -1"));
  t.errors.push_back(refuses<DTypeError>(
      "scatter_add",
      [] {
        scatter_add(from_values({2}, std::vector<bool>{true, false}), 0, some_ids(), 6);
      },
      "scatter_add: takes f32 or f64 or i64, got bool; convert with cast"));
  t.errors.push_back(refuses<IndexError>(
      "one_hot", [] { one_hot(some_ids(), 3); },
      "one_hot: indices must be in [0, 3), the classes, got 5"));
  t.errors.push_back(refuses<ShapeError>(
      "one_hot", [] { one_hot(some_ids(), -1); }, "one_hot: classes must be >= 0, got -1"));
}

}  // namespace

void add_indexing(Table& t) {
  add_rows(t);
  add_places(t);
  add_indexing_errors(t);
}

}  // namespace attograd::op_cases

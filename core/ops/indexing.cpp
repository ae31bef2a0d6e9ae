#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/indexing.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/indexing.h>

namespace attograd {
namespace {

void check_indices(std::string_view op, const Tensor& index, int64_t n, std::string_view limit) {
  check<DTypeError>(index.dtype() == DType::i64, op, ": indices must be i64, got ",
                    signature(index), "; convert with cast(x, DType::i64)");
  const Array values = index.array().contiguous();
  const int64_t count = values.numel();
  const auto* first = values.data<int64_t>();
  const int64_t place = kernels::find_outside(count, first, n);
  check<IndexError>(place == count, op, ": indices must be in [0, ", n, "), ", limit, ", got ",
                    place < count ? first[place] : 0);
}

// ---- rows, each function the gradient of the other ----

Tensor add_rows_at(OpName name, const Tensor& x, const Tensor& index, int64_t n);

/// y[o, i, :] = x[o, index[o, i], :]
/// Shapes  x [O, n, W], index [O, k] -> [O, k, W]
Tensor rows_at(OpName name, const Tensor& x, const Tensor& index) {
  const int64_t outer = x.dim(0), n = x.dim(1), width = x.dim(2), k = index.dim(1);
  const Array from = x.array().contiguous(), places = index.array().contiguous();
  Array value({outer, k, width}, x.dtype());
  dispatch(name, x.dtype(), [&]<class T>() {
    kernels::gather_rows(outer, n, k, width, from.data<T>(), places.data<int64_t>(),
                         value.mutable_data<T>());
  });
  return record({.name = name,
                 .inputs = {x, index},
                 .value = value,
                 .vjp = {[name, n](const Tensor& g, const Tensors& in) {
                           return add_rows_at(name, g, in[1], n);
                         },
                         not_differentiable}});
}

/// y[o, index[o, i], :] += x[o, i, :]
/// Shapes  x [O, k, W], index [O, k] -> [O, n, W]
Tensor add_rows_at(OpName name, const Tensor& x, const Tensor& index, int64_t n) {
  const int64_t outer = x.dim(0), k = x.dim(1), width = x.dim(2);
  const Array from = x.array().contiguous(), places = index.array().contiguous();
  Array ends({outer, n}, DType::i64), order({outer, k}, DType::i64);
  kernels::group_by_row(outer, n, k, places.data<int64_t>(), ends.mutable_data<int64_t>(),
                        order.mutable_data<int64_t>());
  Array value({outer, n, width}, x.dtype());
  dispatch<Numeric>(name, x.dtype(), [&]<class T>() {
    kernels::sum_groups(outer * n, width, from.data<T>(), ends.data<int64_t>(),
                        order.data<int64_t>(), value.mutable_data<T>());
  });
  return record(
      {.name = name,
       .inputs = {x, index},
       .value = value,
       .vjp = {[name](const Tensor& g, const Tensors& in) { return rows_at(name, g, in[1]); },
               not_differentiable}});
}

/// [O, n, W] for the axes before one axis, itself and those behind it.
Shape around(const Shape& shape, int axis) {
  Shape result{1, shape[axis], 1};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) result[i < axis ? 0 : 2] *= shape[i];
  return result;
}

Tensor take_as(OpName name, const Tensor& x, const Tensor& indices, int axis,
               std::string_view limit) {
  check_indices(name, indices, x.shape()[axis], limit);
  check<ShapeError>(x.rank() - 1 + indices.rank() <= kMaxRank, std::string_view(name),
                    ": the result has at most ", kMaxRank, " axes, got ", signature(x),
                    " and indices = ", signature(indices));
  const Shape flat = around(x.shape(), axis);
  Shape shape = x.shape();
  shape.erase(axis);
  for (int i = 0; i < indices.rank(); ++i) shape.insert(axis + i, indices.shape()[i]);
  const int64_t k = indices.numel();
  const Tensor index = expand(reshape(indices, {1, k}), {flat[0], k});
  return reshape(rows_at(name, reshape(x, flat), index), shape);
}

/// Whether an index is the same for all elements behind the axis.
bool names_rows(const Tensor& index, int axis) {
  bool same = true;
  for (int i = axis + 1; i < index.rank(); ++i)
    same &= index.shape()[i] == 1 || index.array().strides()[i] == 0;
  return same;
}

/// The index [O, k] of the rows, given that it names rows.
Tensor row_index(const Tensor& index, int axis) {
  Shape shape = index.shape(), strides = index.array().strides();
  while (shape.rank() > axis + 1) {
    shape.erase(axis + 1);
    strides.erase(axis + 1);
  }
  const Shape flat = around(shape, axis);
  return reshape(Tensor(index.array().view(shape, strides)), {flat[0], flat[1]});
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& ids) {
  check<ShapeError>(weight.rank() == 2, "embedding: weight must be [V, C], got ",
                    signature(weight));
  return take_as("embedding", weight, ids, 0, "the rows of weight");
}

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis) {
  return take_as("take", x, indices, normalize_axis("take", axis, x.rank()),
                 "the size of the axis");
}

Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) {
  const int along = normalize_axis("gather", axis, x.rank());
  Shape like = index.shape();
  if (along < like.rank()) like[along] = x.shape()[along];
  check<ShapeError>(like == x.shape(), "gather: index must agree with x on every axis but ", axis,
                    ", got x = ", signature(x), ", index = ", signature(index));
  if (!names_rows(index, along))
    return transpose(gather(transpose(x, along, -1), -1, transpose(index, along, -1)), along, -1);
  const Tensor rows = row_index(index, along);
  check_indices("gather", rows, x.shape()[along], "the size of the axis");
  return reshape(rows_at("gather", reshape(x, around(x.shape(), along)), rows), index.shape());
}

Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, int64_t size) {
  const int along = normalize_axis("scatter_add", axis, x.rank());
  check<ShapeError>(index.shape() == x.shape(),
                    "scatter_add: index must have the shape of x, got x = ", signature(x),
                    ", index = ", signature(index));
  check<ShapeError>(size >= 0, "scatter_add: size must be >= 0, got ", size);
  if (!names_rows(index, along))
    return transpose(scatter_add(transpose(x, along, -1), -1, transpose(index, along, -1), size),
                     along, -1);
  const Tensor rows = row_index(index, along);
  check_indices("scatter_add", rows, size, "the size of the result");
  Shape shape = x.shape();
  shape[along] = size;
  return reshape(add_rows_at("scatter_add", reshape(x, around(x.shape(), along)), rows, size),
                 shape);
}

Tensor one_hot(const Tensor& ids, int64_t classes, DType dtype) {
  check<ShapeError>(classes >= 0, "one_hot: classes must be >= 0, got ", classes);
  check_indices("one_hot", ids, classes, "the classes");
  check<ShapeError>(ids.rank() < kMaxRank, "one_hot: at most ", kMaxRank,
                    " axes, got one more than ", signature(ids));
  return Tensor(map<Types<int64_t>>("one_hot", unsqueeze(ids, -1).array(),
                                    arange(0, classes).array(),
                                    [](int64_t id, int64_t c) { return id == c; })
                    .cast(dtype));
}

}  // namespace attograd

#include <algorithm>

#include <attograd/core/graph.h>
#include <attograd/core/kernels/triangle.h>
#include <attograd/core/ops.h>
#include <attograd/core/ops/parts.h>

namespace attograd {

// ---- slice and pad, each the gradient of the other ----

namespace {

/// `count` places along an axis, `step` apart. An empty part stays at x's first element: its
/// own may lie behind the storage.
Array part_of(const Array& x, int axis, int64_t begin, int64_t count, int64_t step) {
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int64_t stride = strides[axis];
  shape[axis] = count;
  strides[axis] = stride * step;
  return x.view(shape, strides, shape.numel() > 0 ? begin * stride : 0);
}

Tensor slice_part(const Tensor& x, int axis, int64_t begin, int64_t count, int64_t step);

/// Zeros of `size` along an axis with x at begin, begin + step, ...
Tensor pad_around(const Tensor& x, int axis, int64_t begin, int64_t size, int64_t step) {
  const int64_t count = x.shape()[axis];
  Shape shape = x.shape();
  shape[axis] = size;
  const Array value = Array::filled(shape, x.dtype(), 0);
  Array part = part_of(value, axis, begin, count, step);
  assign(part, x.array());
  return record({.name = "pad",
                 .inputs = {x},
                 .value = value,
                 .vjp = {[axis, begin, count, step](const Tensor& g) {
                   return slice_part(g, axis, begin, count, step);
                 }}});
}

Tensor slice_part(const Tensor& x, int axis, int64_t begin, int64_t count, int64_t step) {
  const int64_t size = x.shape()[axis];
  return record({.name = "slice",
                 .inputs = {x},
                 .value = part_of(x.array(), axis, begin, count, step),
                 .vjp = {[axis, begin, size, step](const Tensor& g) {
                   return pad_around(g, axis, begin, size, step);
                 }}});
}

}  // namespace

Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  const int along = normalize_axis("slice", axis, x.rank());
  const int64_t size = x.shape()[along];
  const int64_t first = begin < 0 ? begin + size : begin;
  const int64_t last = end == kEnd ? size : end < 0 ? end + size : end;
  check<IndexError>(0 <= first && first <= last && last <= size,
                    "slice: needs 0 <= begin <= end <= size (negative places count from the end), "
                    "got begin ",
                    begin, ", end ", last, " on axis ", axis, " of ", signature(x));
  check<ValueError>(step >= 1, "slice: step must be >= 1, got ", step, "; flip reverses an axis");
  const int64_t count = last > first ? (last - first - 1) / step + 1 : 0;
  return slice_part(x, along, first, count, count > 1 ? step : 1);
}

Tensor pad(const Tensor& x, int64_t axis, int64_t before, int64_t after) {
  const int along = normalize_axis("pad", axis, x.rank());
  int64_t size = x.shape()[along];
  check<ShapeError>(before >= 0 && after >= 0 && !__builtin_add_overflow(size, before, &size) &&
                        !__builtin_add_overflow(size, after, &size),
                    "pad: needs sizes >= 0 that fit in 63 bits, got ", before, " and ", after,
                    " on axis ", axis, " of ", signature(x), "; slice makes a tensor smaller");
  return pad_around(x, along, before, size, 1);
}

Tensor select(const Tensor& x, int64_t axis, int64_t index) {
  const int along = normalize_axis("select", axis, x.rank());
  const int64_t size = x.shape()[along];
  check<IndexError>(index >= -size && index < size, "select: the index must be in [", -size, ", ",
                    size, "), got ", index, " on axis ", axis, " of ", signature(x));
  return squeeze(slice_part(x, along, index < 0 ? index + size : index, 1, 1), along);
}

Tensors split(const Tensor& x, int64_t axis, int64_t size) {
  check<ShapeError>(size >= 1, "split: parts must have a size >= 1, got ", size);
  const int along = normalize_axis("split", axis, x.rank());
  Tensors parts;
  for (int64_t begin = 0, left = x.shape()[along]; left > 0; begin += size, left -= size)
    parts.push_back(slice_part(x, along, begin, std::min(size, left), 1));
  return parts;
}

Tensors split(const Tensor& x, int64_t axis, const std::vector<int64_t>& sizes) {
  const int along = normalize_axis("split", axis, x.rank());
  Tensors parts;
  int64_t begin = 0, left = x.shape()[along];
  for (int64_t size : sizes) {
    left = size >= 0 && size <= left ? left - size : -1;
    if (left < 0) break;
    parts.push_back(slice_part(x, along, begin, size, 1));
    begin += size;
  }
  check<ShapeError>(left == 0, "split: sizes must be >= 0 and add up to that of the axis, got ",
                    sizes.size(), " sizes for axis ", axis, " of ", signature(x));
  return parts;
}

// ---- copies ----

Tensor cat(const Tensors& x, int64_t axis) {
  check<ShapeError>(!x.empty(), "cat: needs at least one tensor, got none");
  check<ShapeError>(x[0].rank() > 0, "cat: scalars have no axis to be joined along; use stack");
  const int along = normalize_axis("cat", axis, x[0].rank());
  Shape shape = x[0].shape();
  shape[along] = 0;
  std::vector<Rule> rules;
  for (const Tensor& part : x) {
    Shape like = part.shape();
    if (along < like.rank()) like[along] = shape[along];
    check<ShapeError>(like == shape, "cat: sizes must agree on every axis but ", axis, ", got ",
                      signature(x[0]), " and ", signature(part));
    check<DTypeError>(part.dtype() == x[0].dtype(), "cat: tensors must have one dtype, got ",
                      signature(x[0]), " and ", signature(part));
    const int64_t begin = shape[along], count = part.shape()[along];
    rules.emplace_back([along, begin, count](const Tensor& g) {  //
      return slice_part(g, along, begin, count, 1);
    });
    check<ShapeError>(!__builtin_add_overflow(shape[along], count, &shape[along]),
                      "cat: sizes must add up to less than 2^63, got ", x.size(), " tensors like ",
                      signature(x[0]));
  }
  const Array value(shape, x[0].dtype());
  int64_t begin = 0;
  for (const Tensor& part : x) {
    const int64_t count = part.shape()[along];
    Array place = part_of(value, along, begin, count, 1);
    assign(place, part.array());
    begin += count;
  }
  return record({.name = "cat", .inputs = x, .value = value, .vjp = std::move(rules)});
}

Tensor stack(const Tensors& x, int64_t axis) {
  check<ShapeError>(!x.empty(), "stack: needs at least one tensor, got none");
  check<ShapeError>(x[0].rank() < kMaxRank, "stack: at most ", kMaxRank,
                    " axes, got one more than ", signature(x[0]));
  const int along = normalize_axis("stack", axis, x[0].rank() + 1);
  Tensors parts;
  for (const Tensor& part : x) {
    check<ShapeError>(part.shape() == x[0].shape(), "stack: tensors must have one shape, got ",
                      signature(x[0]), " and ", signature(part), "; cat joins different sizes");
    parts.push_back(unsqueeze(part, along));
  }
  return cat(parts, along);
}

namespace {

Tensor triangle(OpName name, bool lower, const Tensor& x, int64_t diagonal) {
  check<ShapeError>(x.rank() >= 2, std::string_view(name), ": needs two axes or more, got ",
                    signature(x));
  const Array from = x.array().contiguous();
  Array value(x.shape(), x.dtype());
  const int64_t rows = x.dim(-2), cols = x.dim(-1);
  const int64_t matrices = value.numel() == 0 ? 0 : value.numel() / (rows * cols);
  dispatch(name, x.dtype(), [&]<class T>() {
    kernels::triangle(lower, diagonal, matrices, rows, cols, from.data<T>(),
                      value.mutable_data<T>());
  });
  return record({.name = name,
                 .inputs = {x},
                 .value = value,
                 .vjp = {[name, lower, diagonal](const Tensor& g) {
                   return triangle(name, lower, g, diagonal);
                 }}});
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal) { return triangle("tril", true, x, diagonal); }
Tensor triu(const Tensor& x, int64_t diagonal) { return triangle("triu", false, x, diagonal); }

}  // namespace attograd

#include <cmath>

#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>

namespace attograd {

// ---- comparisons ----

namespace {

template <class List, class F>
Tensor compare(OpName name, const Tensor& a, const Tensor& b, F f) {
  return record({.name = name,
                 .inputs = {a, b},
                 .value = map<List>(name, a.array(), b.array(), f),
                 .vjp = {not_differentiable, not_differentiable}});
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) {
  return compare<AnyType>("equal", a, b, [](auto p, auto q) { return p == q; });
}
Tensor not_equal(const Tensor& a, const Tensor& b) {
  return compare<AnyType>("not_equal", a, b, [](auto p, auto q) { return p != q; });
}
Tensor less(const Tensor& a, const Tensor& b) {
  return compare<Numeric>("less", a, b, [](auto p, auto q) { return p < q; });
}
Tensor less_equal(const Tensor& a, const Tensor& b) {
  return compare<Numeric>("less_equal", a, b, [](auto p, auto q) { return p <= q; });
}
Tensor greater(const Tensor& a, const Tensor& b) {
  return compare<Numeric>("greater", a, b, [](auto p, auto q) { return p > q; });
}
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return compare<Numeric>("greater_equal", a, b, [](auto p, auto q) { return p >= q; });
}

Tensor equal(const Tensor& a, double b) { return equal(a, number_like("equal", a, b)); }
Tensor not_equal(const Tensor& a, double b) { return not_equal(a, number_like("not_equal", a, b)); }
Tensor less(const Tensor& a, double b) { return less(a, number_like("less", a, b)); }
Tensor less_equal(const Tensor& a, double b) {
  return less_equal(a, number_like("less_equal", a, b));
}
Tensor greater(const Tensor& a, double b) { return greater(a, number_like("greater", a, b)); }
Tensor greater_equal(const Tensor& a, double b) {
  return greater_equal(a, number_like("greater_equal", a, b));
}

// ---- masks ----

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return compare<Types<bool>>("logical_and", a, b, [](bool p, bool q) { return p && q; });
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return compare<Types<bool>>("logical_or", a, b, [](bool p, bool q) { return p || q; });
}
Tensor logical_not(const Tensor& x) {
  return record({.name = "logical_not",
                 .inputs = {x},
                 .value = map<Types<bool>>("logical_not", x.array(), [](bool v) { return !v; }),
                 .vjp = {not_differentiable}});
}

Tensor is_finite(const Tensor& x) {
  return record(
      {.name = "is_finite",
       .inputs = {x},
       .value = map<Numeric>("is_finite", x.array(), [](auto v) { return std::isfinite(v); }),
       .vjp = {not_differentiable}});
}

// ---- selection ----

namespace {

Array select(std::string_view op, const Array& choose, const Array& a, const Array& b) {
  check<DTypeError>(choose.dtype() == DType::boolean, op, ": the mask must be bool, got ",
                    signature(choose), "; compare first, as in where(x > 0, a, b)");
  check_same_dtype(op, a, b);
  const Shape shape =
      broadcast_shapes(op, choose.shape(), broadcast_shapes(op, a.shape(), b.shape()));
  Array y(shape, a.dtype());
  dispatch(op, a.dtype(), [&]<class T>() {
    kernels::select(strided_loop(y, choose.expand(shape), a.expand(shape), b.expand(shape)),
                    y.mutable_data<T>(), choose.data<bool>(), a.data<T>(), b.data<T>());
  });
  return y;
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return record({.name = "where",
                 .inputs = {condition, a, b},
                 .value = select("where", condition.array(), a.array(), b.array()),
                 .vjp = {not_differentiable,
                         [](const Tensor& g, const Tensors& x) { return where(x[0], g, 0.0); },
                         [](const Tensor& g, const Tensors& x) { return where(x[0], 0.0, g); }},
                 .broadcasts = true});
}

Tensor where(const Tensor& condition, const Tensor& a, double b) {
  return where(condition, a, number_like("where", a, b));
}
Tensor where(const Tensor& condition, double a, const Tensor& b) {
  return where(condition, number_like("where", b, a), b);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  const Tensor filling = number_like("masked_fill", x, value);
  return record(
      {.name = "masked_fill",
       .inputs = {x, mask, filling},
       .value = select("masked_fill", mask.array(), filling.array(), x.array()),
       .vjp = {[](const Tensor& g, const Tensors& in) { return masked_fill(g, in[1], 0.0); },
               not_differentiable, not_differentiable},
       .broadcasts = true});
}

}  // namespace attograd

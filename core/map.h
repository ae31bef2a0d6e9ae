#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>

#include <attograd/core/kernels/arithmetic.h>
#include <attograd/core/kernels/strided.h>
#include <attograd/core/tensor.h>

namespace attograd {

using kernels::wrapping;

/// The loop over operands of one shape (expand them first).
template <class... Operands>
auto strided_loop(const Array& first, const Operands&... rest) {
  kernels::StridedLoop<1 + sizeof...(rest)> loop;
  for (int axis = 0; axis < first.rank(); ++axis)
    loop.append(first.shape()[axis], {first.strides()[axis], rest.strides()[axis]...});
  return loop;
}

inline void check_same_dtype(std::string_view op, const Array& a, const Array& b) {
  check<DTypeError>(a.dtype() == b.dtype(), op,
                    ": a and b must have one dtype, got a = ", signature(a), ", b = ", signature(b),
                    "; convert with cast(x, DType::f64)");
}

/// f(x) for every element. The dtype of the result is the type that f returns.
template <class List = Floating, class F>
Array map(std::string_view op, const Array& x, F f) {
  return dispatch<List>(op, x.dtype(), [&]<class T>() {
    using R = std::invoke_result_t<F, T>;
    Array y(x.shape(), kDTypeOf<R>);
    kernels::map(strided_loop(y, x), y.mutable_data<R>(), x.data<T>(), f);
    return y;
  });
}

/// f(a, b) for every pair of elements, broadcast together.
template <class List = Floating, class F>
Array map(std::string_view op, const Array& a, const Array& b, F f) {
  check_same_dtype(op, a, b);
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  return dispatch<List>(op, a.dtype(), [&]<class T>() {
    using R = std::invoke_result_t<F, T, T>;
    Array y(shape, kDTypeOf<R>);
    kernels::map(strided_loop(y, a.expand(shape), b.expand(shape)), y.mutable_data<R>(),
                 a.data<T>(), b.data<T>(), f);
    return y;
  });
}

/// Whether elements of this dtype can be `value`, up to rounding.
inline bool holds(DType dtype, double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (dtype == DType::boolean) return value == 0 || value == 1;
  return dtype != DType::i64 || (value >= -kLimit && value < kLimit && value == std::floor(value));
}

/// A number written beside x: a scalar of its dtype. Throws DTypeError if that cannot hold it.
inline Tensor number_like(std::string_view op, const Tensor& x, double value) {
  check<DTypeError>(holds(x.dtype(), value), op, ": ", value, " is no ", x.dtype(),
                    ", as a number beside ", signature(x), " must be; convert with cast");
  return Tensor(Array::filled({}, x.dtype(), value));
}

}  // namespace attograd

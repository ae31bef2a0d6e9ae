#include <new>

#include <attograd/core/array.h>
#include <attograd/core/map.h>

namespace attograd {
namespace {

std::shared_ptr<Storage> allocate(const Shape& shape, DType dtype) {
  const auto elements = static_cast<size_t>(shape.numel());
  constexpr size_t kLargest = size_t{1} << 48;  // bytes that a process has addresses for
  try {
    if (elements > kLargest / size_of(dtype)) throw std::bad_alloc();
    return std::make_shared<Storage>(elements * size_of(dtype));
  } catch (const std::bad_alloc&) {
    fail<ShapeError>("array: ", Signature{dtype, shape}, " does not fit in memory");
  }
}

/// C++ leaves NaN and large numbers to int64_t undefined; here they become 0 (the operation `cast`
/// refuses them).
template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, int64_t> && std::is_floating_point_v<From>) {
    constexpr From kLimit = 9223372036854775808.0;  // 2^63
    return v >= -kLimit && v < kLimit ? static_cast<To>(v) : To{0};
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace

Array::Array(const Shape& shape, DType dtype)
    : storage_(allocate(shape, dtype)),
      shape_(shape),
      strides_(contiguous_strides(shape)),
      dtype_(dtype) {}

Array Array::filled(const Shape& shape, DType dtype, double value) {
  Array y(shape, dtype);
  dispatch("filled", dtype, [&]<class T>() {
    const T element = convert<T>(value);
    check<ValueError>(is_floating(dtype) || static_cast<double>(element) == value,
                      "filled: ", value, " is not a number that ", dtype, " can hold");
    std::fill_n(y.mutable_data<T>(), shape.numel(), element);
  });
  return y;
}

bool Array::is_contiguous() const {
  int64_t step = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] == 0) return true;
    if (shape_[axis] != 1 && strides_[axis] != step) return false;
    step *= shape_[axis];
  }
  return true;
}

Array Array::view(const Shape& shape, const Strides& strides, int64_t offset) const {
  Array y = *this;
  y.shape_ = shape;
  y.strides_ = strides;
  y.offset_ += offset;
  return y;
}

Array Array::contiguous() const { return is_contiguous() ? *this : copy(); }

Array Array::copy() const { return cast(dtype_); }

Array Array::cast(DType dtype) const {
  Array y(shape_, dtype);
  assign(y, *this);
  return y;
}

Array Array::expand(const Shape& shape, std::string_view op) const {
  check<ShapeError>(shape.rank() >= rank(), op, ": cannot expand ", shape_, " to ", shape);
  Strides strides = shape;
  const int lead = shape.rank() - rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool is_new = axis < lead;
    const int64_t size = is_new ? 1 : shape_[axis - lead];
    check<ShapeError>(size == 1 || size == shape[axis], op, ": cannot expand ", shape_, " to ",
                      shape, ": only axes of size 1 repeat");
    strides[axis] = size == 1 ? 0 : strides_[axis - lead];
  }
  return view(shape, strides);
}

void assign(Array& dst, const Array& src) {
  // Views of one storage may overlap: what is yet to be read must not have been written.
  if (dst.shares_storage_with(src)) return assign(dst, src.copy());
  const Array from = src.expand(dst.shape(), "assign");
  dispatch("assign", dst.dtype(), [&]<class To>() {
    dispatch("assign", src.dtype(), [&]<class From>() {
      kernels::map(strided_loop(dst, from), dst.mutable_data<To>(), from.data<From>(),
                   [](From v) { return convert<To>(v); });
    });
  });
}

std::string_view bytes_of(const Array& row_major) {
  return dispatch("bytes_of", row_major.dtype(), [&]<class T>() {
    return std::string_view(reinterpret_cast<const char*>(row_major.data<T>()),
                            static_cast<size_t>(row_major.numel()) * sizeof(T));
  });
}

}  // namespace attograd

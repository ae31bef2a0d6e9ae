#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <attograd/core/dtype.h>
#include <attograd/core/shape.h>
#include <attograd/core/storage.h>

namespace attograd {

/// A strided view of a storage: numbers without gradients. Copies share the storage.
class Array {
 public:
  Array() = default;  // undefined
  /// Uninitialised, contiguous.
  Array(const Shape& shape, DType dtype);
  static Array filled(const Shape& shape, DType dtype, double value);

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  DType dtype() const { return dtype_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int64_t axis) const { return shape_.dim(axis); }
  int64_t numel() const { return shape_.numel(); }
  int64_t offset() const { return offset_; }
  bool is_contiguous() const;  // row-major without gaps

  /// The first element. Neighbours lie `strides()` apart. Throws DTypeError if T is not the dtype's
  /// type.
  template <class T>
  const T* data() const {
    return typed<T>();
  }
  /// The same for writing: every value saved from this storage is stale afterwards.
  template <class T>
  T* mutable_data() {
    storage_->bump_version();
    return typed<T>();
  }

  /// Another view of the same storage; `offset` counts elements from this view's first.
  Array view(const Shape& shape, const Strides& strides, int64_t offset = 0) const;
  /// This array, or a row-major copy if it is not row-major.
  Array contiguous() const;
  Array copy() const;
  /// The same numbers as `dtype`: a copy, even when the dtype is the same.
  Array cast(DType dtype) const;
  /// Broadcast view with stride 0 along new and size-1 axes. Throws ShapeError naming `op`.
  Array expand(const Shape& shape, std::string_view op = "expand") const;

  uint64_t version() const { return storage_->version(); }
  bool shares_storage_with(const Array& other) const { return storage_ == other.storage_; }
  /// Nobody else can see these numbers, so they may be overwritten.
  bool owns_storage_alone() const { return storage_.use_count() == 1; }

 private:
  template <class T>
  T* typed() const {
    check<DTypeError>(dtype_ == kDTypeOf<T>, "data: the elements are ", dtype_, ", asked for ",
                      kDTypeOf<T>);
    return reinterpret_cast<T*>(storage_->data()) + offset_;
  }

  std::shared_ptr<Storage> storage_;
  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
  DType dtype_ = DType::f32;
};

using Arrays = std::vector<Array>;

/// dst = src, broadcast to dst's shape and converted to dst's dtype.
void assign(Array& dst, const Array& src);

/// The memory of a row-major array, as files hold it.
std::string_view bytes_of(const Array& row_major);

/// Prints as "f32[2, 3]" in error texts; formatting waits until it is streamed.
struct Signature {
  DType dtype;
  const Shape& shape;
  friend std::ostream& operator<<(std::ostream& out, const Signature& s) {
    return out << s.dtype << s.shape;
  }
};
inline Signature signature(const Array& x) { return {x.dtype(), x.shape()}; }

}  // namespace attograd

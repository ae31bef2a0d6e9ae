#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include <attograd/core/array.h>

namespace attograd {

struct Node;

/// An Array and its place in the graph. A Tensor is a cheap handle: copies are the same tensor.
class Tensor {
 public:
  Tensor() = default;  // undefined: no value at all
  /// A constant with this value, sharing its storage (undefined if the array is).
  explicit Tensor(Array array, std::shared_ptr<Node> node = nullptr);

  bool defined() const { return value_ != nullptr; }
  const Array& array() const;
  const Shape& shape() const { return array().shape(); }
  DType dtype() const { return array().dtype(); }
  int rank() const { return array().rank(); }
  int64_t dim(int64_t axis) const { return array().dim(axis); }
  int64_t numel() const { return array().numel(); }

  /// The only element. Throws ShapeError unless there is exactly one.
  double item() const;
  /// All elements in row-major order. Throws DTypeError if T is not the dtype's type.
  template <class T>
  std::vector<T> to_vector() const {
    const Array row_major = array().contiguous();
    const T* first = row_major.data<T>();
    return std::vector<T>(first, first + row_major.numel());
  }
  /// The first element; neighbours lie array().strides() apart. Throws DTypeError as to_vector
  /// does.
  template <class T>
  const T* data() const {
    return array().data<T>();
  }
  /// The same for writing, without recording: a value that the graph saved and that is written here
  /// makes the backward pass throw. Throws ShapeError on an expanded tensor, whose elements share
  /// memory.
  template <class T>
  T* mutable_data() {
    return writable().mutable_data<T>();
  }
  /// Overwrites the numbers, broadcasting `source` and converting its dtype, without recording.
  void assign(const Tensor& source);

  /// Whether gradients flow to this tensor.
  bool requires_grad() const { return node() != nullptr; }
  /// Makes this tensor a leaf that gathers gradients, or a constant again, without gradient
  /// and hooks. Throws DTypeError for integers and masks, GraphError to switch it off on the result
  /// of an operation (use detach) or while a graph refers to the leaf, whose gradient would then
  /// get lost.
  Tensor& set_requires_grad(bool on = true);
  /// A leaf's gradient after backward, or an undefined tensor if there is none yet.
  Tensor grad() const;
  void set_grad(const Tensor& g);
  void clear_grad();
  /// Asks the result of an operation to keep the gradient of the next backward passes too, added up
  /// as in a leaf, which does so anyway. grad() touches neither.
  void retain_grad();

  /// Nobody else holds this tensor or sees its memory.
  bool owns_storage_alone() const {
    return value_.use_count() == 1 && array().owns_storage_alone();
  }

  /// Its place in the graph: the operation that made it, or a leaf. Null if no gradient flows to it
  /// (constants, and results of operations that were not recorded).
  const std::shared_ptr<Node>& node() const;

 private:
  struct Value {
    Array array;
    std::shared_ptr<Node> node;
  };
  Array& writable();

  std::shared_ptr<Value> value_;
};

using Tensors = std::vector<Tensor>;

inline Signature signature(const Tensor& x) { return signature(x.array()); }

/// Values (abridged when there are many), dtype, shape and the operation: `[1, 2] f32[2] from add`.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace attograd

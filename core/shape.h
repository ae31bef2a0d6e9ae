#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>

#include <attograd/core/error.h>

namespace attograd {

inline constexpr int kMaxRank = 8;

/// The sizes of a tensor, outermost first: at most 8 of them, none at all for a scalar. A tensor's
/// are >= 0; an argument may use -1 where its function says so (reshape: "what is left"). Held
/// inline and trivially destructible, so that a rule may capture one.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  /// The size of an axis; negative axes count from the end. Throws ShapeError outside [-rank,
  /// rank).
  int64_t dim(int64_t axis) const;
  int64_t operator[](int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int axis) { return sizes_[static_cast<size_t>(axis)]; }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + rank_; }

  /// The number of elements. Throws ShapeError if it does not fit in 63 bits, or a size is
  /// negative.
  int64_t numel() const;

  void append(int64_t size);
  void insert(int axis, int64_t size);
  void erase(int axis);

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);  // "[2, 3]"

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

/// Distance in elements between neighbours along each axis; 0 where an axis is expanded.
using Strides = Shape;

Strides contiguous_strides(const Shape& shape);

/// The number of vectors along the last axis, of which there must be one.
int64_t row_count(const Shape& shape);

/// The strides that give the same elements in the same row-major order under another shape of as
/// many elements; none if only a copy can.
std::optional<Strides> reshape_strides(const Shape& shape, const Strides& strides,
                                       const Shape& wanted);

/// NumPy broadcasting: sizes are aligned at the end; equal, or one of them 1. Throws ShapeError.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

/// `axis` in [0, rank), counted from the end if negative. Throws ShapeError naming `op`.
int normalize_axis(std::string_view op, int64_t axis, int rank);

/// The axes of a reduction: all of them (`{}`), one, or a list. Negative axes count from the end.
class Axes {
 public:
  Axes() = default;
  Axes(int64_t axis) : Axes({axis}) {}  // NOLINT: sum(x, -1) reads better than sum(x, Axes{-1})
  Axes(std::initializer_list<int64_t> axes);
  explicit Axes(std::span<const int64_t> axes);

  /// One flag per axis of a tensor of this rank. Throws ShapeError on a bad or repeated axis.
  std::array<bool, kMaxRank> resolve(std::string_view op, int rank) const;

 private:
  std::array<int64_t, kMaxRank> axes_{};
  int count_ = -1;  // -1: all
};

/// The shape after a reduction over the flagged axes.
Shape reduced_shape(const Shape& shape, const std::array<bool, kMaxRank>& axes, bool keepdim);

}  // namespace attograd

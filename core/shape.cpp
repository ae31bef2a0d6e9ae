#include <algorithm>

#include <attograd/core/kernels/strided.h>
#include <attograd/core/shape.h>

namespace attograd {

Shape::Shape(std::span<const int64_t> sizes) {
  check<ShapeError>(sizes.size() <= kMaxRank, "shape: at most ", kMaxRank, " axes, got ",
                    sizes.size());
  for (int64_t size : sizes) append(size);
}

int64_t Shape::dim(int64_t axis) const { return (*this)[normalize_axis("dim", axis, rank_)]; }

int64_t Shape::numel() const {
  for (int64_t size : *this) check<ShapeError>(size >= 0, "shape: sizes must be >= 0, got ", *this);
  const bool empty = std::find(begin(), end(), 0) != end();
  int64_t product = 1;  // leaves out zeros, so that strides fit into 63 bits too
  for (int64_t size : *this)
    check<ShapeError>(!__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product),
                      "shape: ", *this, " has more elements than 63 bits can count");
  return empty ? 0 : product;
}

void Shape::append(int64_t size) { insert(rank_, size); }

void Shape::insert(int axis, int64_t size) {
  check<ShapeError>(rank_ < kMaxRank, "shape: at most ", kMaxRank, " axes, got one more than ",
                    *this);
  std::copy_backward(sizes_.begin() + axis, sizes_.begin() + rank_, sizes_.begin() + rank_ + 1);
  (*this)[axis] = size;
  ++rank_;
}

void Shape::erase(int axis) {
  std::copy(sizes_.begin() + axis + 1, sizes_.begin() + rank_, sizes_.begin() + axis);
  --rank_;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int axis = 0; axis < shape.rank(); ++axis) out << (axis ? ", " : "") << shape[axis];
  return out << ']';
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

int64_t row_count(const Shape& shape) {
  Shape leading = shape;
  leading.erase(shape.rank() - 1);
  return leading.numel();
}

std::optional<Strides> reshape_strides(const Shape& shape, const Strides& strides,
                                       const Shape& wanted) {
  if (shape.numel() == 0) return contiguous_strides(wanted);
  kernels::StridedLoop<1> runs;  // axes that continue one another merge into runs
  for (int axis = 0; axis < shape.rank(); ++axis) runs.append(shape[axis], {strides[axis]});
  Strides result = contiguous_strides(wanted);
  int axis = wanted.rank() - 1;
  for (auto run = static_cast<size_t>(runs.rank); run-- > 0;) {
    int64_t step = runs.strides[run][0];
    for (int64_t left = runs.sizes[run]; left > 1; --axis) {  // wanted axes that make up this run
      if (left % wanted[axis] != 0) return std::nullopt;
      result[axis] = step;
      step *= wanted[axis];
      left /= wanted[axis];
    }
  }
  return result;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int lead = longer.rank() - shorter.rank();
  for (int axis = 0; axis < shorter.rank(); ++axis) {
    const int64_t p = longer[lead + axis];
    const int64_t q = shorter[axis];
    check<ShapeError>(p == q || p == 1 || q == 1, op,
                      ": shapes must broadcast (aligned at the end: equal, or one of them 1), got ",
                      a, " and ", b);
    out[lead + axis] = p == 1 ? q : p;
  }
  return out;
}

int normalize_axis(std::string_view op, int64_t axis, int rank) {
  check<ShapeError>(axis >= -rank && axis < rank, op, ": axis must be in [", -rank, ", ", rank,
                    "), got ", axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Axes::Axes(std::initializer_list<int64_t> axes) : Axes(std::span(axes.begin(), axes.size())) {}

Axes::Axes(std::span<const int64_t> axes) {
  check<ShapeError>(axes.size() <= kMaxRank, "axes: at most ", kMaxRank, ", got ", axes.size());
  std::copy(axes.begin(), axes.end(), axes_.begin());
  count_ = static_cast<int>(axes.size());
}

std::array<bool, kMaxRank> Axes::resolve(std::string_view op, int rank) const {
  std::array<bool, kMaxRank> flags{};
  if (count_ < 0) {
    std::fill_n(flags.begin(), rank, true);
    return flags;
  }
  for (int64_t axis : std::span(axes_).first(static_cast<size_t>(count_))) {
    bool& flag = flags[static_cast<size_t>(normalize_axis(op, axis, rank))];
    check<ShapeError>(!flag, op, ": axes must differ, got axis ", axis, " twice");
    flag = true;
  }
  return flags;
}

Shape reduced_shape(const Shape& shape, const std::array<bool, kMaxRank>& axes, bool keepdim) {
  Shape out;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool reduced = axes[static_cast<size_t>(axis)];
    if (!reduced || keepdim) out.append(reduced ? 1 : shape[axis]);
  }
  return out;
}

}  // namespace attograd

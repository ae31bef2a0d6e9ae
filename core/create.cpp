#include <algorithm>
#include <utility>

#include <attograd/core/create.h>

namespace attograd {
namespace {

template <class T, class V>
Tensor from_vector(const Shape& shape, const std::vector<V>& values) {
  check<ShapeError>(shape.numel() == static_cast<int64_t>(values.size()), "from_values: ", shape,
                    " needs ", shape.numel(), " values, got ", values.size());
  Array array(shape, kDTypeOf<T>);
  std::transform(values.begin(), values.end(), array.mutable_data<T>(),
                 [](V v) { return static_cast<T>(v); });
  return Tensor(std::move(array));
}

}  // namespace

Tensor from_values(const Shape& shape, const std::vector<double>& values, DType dtype) {
  return dispatch<Floating>("from_values", dtype,
                            [&]<class T>() { return from_vector<T>(shape, values); });
}
Tensor from_values(const Shape& shape, const std::vector<int64_t>& values) {
  return from_vector<int64_t>(shape, values);
}
Tensor from_values(const Shape& shape, const std::vector<bool>& values) {
  return from_vector<bool>(shape, values);
}

Tensor tensor(double value, DType dtype) { return full({}, value, dtype); }

Tensor tensor(std::initializer_list<double> values, DType dtype) {
  return from_values({static_cast<int64_t>(values.size())}, std::vector<double>(values), dtype);
}

Tensor tensor(std::initializer_list<std::initializer_list<double>> rows, DType dtype) {
  const size_t columns = rows.size() ? rows.begin()->size() : 0;
  std::vector<double> values;
  for (const auto& row : rows) {
    check<ShapeError>(row.size() == columns, "tensor: rows must have one length, got ", columns,
                      " and ", row.size());
    values.insert(values.end(), row.begin(), row.end());
  }
  return from_values({static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)}, values,
                     dtype);
}

Tensor full(const Shape& shape, double value, DType dtype) {
  return Tensor(Array::filled(shape, dtype, value));
}
Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }

Tensor arange(int64_t begin, int64_t end, int64_t step) {
  check<ValueError>(step != 0, "arange: step must not be 0");
  // Unsigned arithmetic, in which the distance of any two int64_t exists.
  const auto first = static_cast<uint64_t>(begin);
  const auto stride = static_cast<uint64_t>(step);
  uint64_t count = 0;
  if (step > 0 && begin < end) count = (static_cast<uint64_t>(end) - first - 1) / stride + 1;
  if (step < 0 && begin > end) count = (first - static_cast<uint64_t>(end) - 1) / (0 - stride) + 1;
  Array y({static_cast<int64_t>(std::min(count, uint64_t{1} << 62))}, DType::i64);
  auto* values = y.mutable_data<int64_t>();
  for (uint64_t i = 0; i < count; ++i) values[i] = static_cast<int64_t>(first + i * stride);
  return Tensor(std::move(y));
}

Tensor eye(int64_t n, DType dtype) {
  Tensor y = zeros({n, n}, dtype);
  dispatch<Floating>("eye", dtype, [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) y.mutable_data<T>()[i * (n + 1)] = 1;
  });
  return y;
}

}  // namespace attograd

#pragma once

#include <initializer_list>
#include <vector>

#include <attograd/core/tensor.h>

namespace attograd {

// New constants. dtype defaults to f32; set_requires_grad() makes a leaf of one.

/// From values in row-major order. Throws ShapeError if their number is not the shape's.
Tensor from_values(const Shape& shape, const std::vector<double>& values, DType dtype = DType::f32);
Tensor from_values(const Shape& shape, const std::vector<int64_t>& values);
Tensor from_values(const Shape& shape, const std::vector<bool>& values);

/// tensor(1.5) is a scalar, tensor({1, 2, 3}) a vector, tensor({{1, 2}, {3, 4}}) a matrix.
Tensor tensor(double value, DType dtype = DType::f32);
Tensor tensor(std::initializer_list<double> values, DType dtype = DType::f32);
Tensor tensor(std::initializer_list<std::initializer_list<double>> rows, DType dtype = DType::f32);

Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
Tensor zeros(const Shape& shape, DType dtype = DType::f32);
Tensor ones(const Shape& shape, DType dtype = DType::f32);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
/// begin, begin + step, ... below end.
Tensor arange(int64_t begin, int64_t end, int64_t step = 1);
/// The n x n identity matrix.
Tensor eye(int64_t n, DType dtype = DType::f32);

}  // namespace attograd

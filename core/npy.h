#pragma once

#include <filesystem>

#include <attograd/core/tensor.h>

namespace attograd {

/// Reads one array of NumPy's .npy format, versions 1.0, 2.0 and 3.0
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), row-major whatever its
/// order in the file. Elements: f4 -> f32, f8 -> f64, i8 -> i64, b1 -> bool, and the smaller
/// integers i1, i2, i4, u1, u2, u4 -> i64, which holds all of theirs. Lengths and sizes are checked
/// against the file before memory is taken, and the file has to end with the array.
/// Throws    FileError if it cannot be read; FormatError if it is malformed, truncated or too long;
///           DTypeError naming any other type (big-endian, objects, structures, f2, u8 ...);
///           ShapeError for more than 8 axes
Tensor load_npy(const std::filesystem::path& path);

/// Writes the numbers, whatever their strides, in row-major order, for numpy.load: version 1.0,
/// f32 -> f4, f64 -> f8, i64 -> i8, bool -> b1. The file is replaced in one step (see
/// replace_file).
/// Throws    FileError if it cannot be written; ValueError for an undefined tensor
void save_npy(const std::filesystem::path& path, const Tensor& x);

}  // namespace attograd

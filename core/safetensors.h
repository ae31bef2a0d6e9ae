#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <attograd/core/tensor.h>

namespace attograd {

/// What a safetensors file holds: named tensors, and texts about them.
struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a file of the safetensors format (https://github.com/huggingface/safetensors), as Python
/// writes it too. Every rule of the format is checked before a byte is used, and the file is taken
/// as a whole or not at all. If the metadata hold the checksum that save_safetensors writes, the
/// numbers are checked against it; it is left out of the result.
/// Throws    FileError if it cannot be read; FormatError if it is malformed, truncated or damaged;
///           DTypeError for element types other than F32, F64, I64 and BOOL; ShapeError for more
///           than 8 axes
SafetensorsFile load_safetensors(const std::filesystem::path& path);

/// Writes the tensors, whatever their strides, in row-major order, with a checksum of all data (the
/// metadata `attograd.checksum`: FNV-1a, 64 bits). The file is replaced in one step: it holds the
/// old content or the new at any moment, and the old one after an error (see replace_file).
/// Throws    FileError if it cannot be written; ValueError for an undefined tensor, the name
///           "__metadata__", and texts that are not UTF-8
void save_safetensors(const std::filesystem::path& path,
                      const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace attograd

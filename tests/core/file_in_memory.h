#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <attograd/core/safetensors.h>

namespace attograd {

inline std::string length_field(uint64_t n) {
  std::string bytes(8, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(n);
    n >>= 8;
  }
  return bytes;
}

/// A file of these bytes, in memory: there are thousands below.
class FileInMemory {
 public:
  explicit FileInMemory(std::string_view bytes) : descriptor_(memfd_create("t", 0)) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    REQUIRE(written == static_cast<ssize_t>(bytes.size()));
  }
  ~FileInMemory() { close(descriptor_); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  SafetensorsFile load() const { return load_safetensors(path()); }

 private:
  int descriptor_;
};

inline FileInMemory with_header(std::string_view header, std::string_view data) {
  return FileInMemory(length_field(header.size()) + std::string(header) + std::string(data));
}

/// A tensor "a" with this description over this many bytes of zeros.
inline FileInMemory with_tensor(std::string_view description, size_t bytes = 4) {
  return with_header(R"({"a":)" + std::string(description) + '}', std::string(bytes, '\0'));
}

}  // namespace attograd

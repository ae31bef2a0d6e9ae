#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace attograd {

/// A regular file, open for reading from front to back.
class InputFile {
 public:
  /// Throws FileError with the system's reason, and for folders, pipes and devices.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes in the file when it was opened.
  uint64_t size() const { return size_; }
  /// The next `bytes` bytes. Throws FileError if they are not to be had.
  void read(void* to, size_t bytes);

 private:
  std::filesystem::path path_;
  int descriptor_;
  uint64_t size_ = 0;
};

/// A text of a file as an error shows it: in quotes, without control characters, not too long.
struct Quoted {
  const std::string& text;
  size_t most = 100;  // bytes
  friend std::ostream& operator<<(std::ostream& out, const Quoted& q);
};
/// A path as an error shows it: the same, but whole.
inline Quoted shown(const std::filesystem::path& path) {
  return {path.native(), path.native().size()};
}

/// All bytes of a regular file. Throws FileError.
std::string read_file(const std::filesystem::path& path);

/// Writes the parts, one after another, as the new content of the file. At any moment, also if the
/// process is killed or the power fails, the file holds all of the old content or all of the new:
/// this is written to a new file beside it (`<name>.<number>.tmp`, of a long name the beginning),
/// which reaches the disk before it takes the old one's place and with it its permissions. Where
/// the path is a link, this happens to what the link leads to, whether that is there or not yet.
/// Throws    FileError with the system's reason; then the file is as it was and nothing is left
///           beside it. Folders, pipes, devices and write-protected files are refused.
void replace_file(const std::filesystem::path& path, std::span<const std::string_view> parts);

}  // namespace attograd

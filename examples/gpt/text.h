#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpt {

/// The code points of UTF-8 text. Throws FormatError naming `source` and the first wrong byte: an
/// overlong or truncated sequence, a surrogate, a value above U+10FFFF, or a NUL, which text has
/// not.
std::u32string decode_utf8(std::string_view bytes, std::string_view source);
std::string encode_utf8(std::u32string_view text);

/// The whole file as text. Throws FileError if it cannot be read or is a folder, FormatError if it
/// is empty or not UTF-8.
std::u32string read_text(const std::string& path);

/// The distinct characters of a text in order, and their ids 0, 1, ...
class Vocabulary {
 public:
  explicit Vocabulary(std::u32string_view text);

  int64_t size() const { return static_cast<int64_t>(characters_.size()); }
  const std::u32string& characters() const { return characters_; }
  /// Throws ValueError for a character outside the vocabulary, naming `source`.
  std::vector<int64_t> encode(std::u32string_view text, std::string_view source) const;
  std::string decode(const std::vector<int64_t>& ids) const;

 private:
  std::u32string characters_;  // sorted
};

}  // namespace gpt

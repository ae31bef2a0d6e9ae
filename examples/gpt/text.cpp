#include "examples/gpt/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <attograd/core/error.h>

namespace gpt {

using attograd::check;
using attograd::fail;
using attograd::FileError;
using attograd::FormatError;
using attograd::ValueError;

namespace {

/// Of a sequence of n bytes: what marks its first, and the smallest code point that needs n.
struct Sequence {
  unsigned char mask;
  unsigned char lead;
  char32_t smallest;
};
constexpr std::array<Sequence, 4> kSequences = {
    {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};

bool is_text(char32_t c, char32_t smallest) {
  return c != 0 && c >= smallest && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes, std::string_view source) {
  std::u32string text;
  text.reserve(bytes.size());
  size_t at = 0;
  while (at < bytes.size()) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    size_t extra = 0;
    while (extra < kSequences.size() && (first & kSequences[extra].mask) != kSequences[extra].lead)
      ++extra;
    bool good = extra < kSequences.size() && at + extra < bytes.size();
    if (good) {
      char32_t c = first & static_cast<unsigned char>(~kSequences[extra].mask);
      for (size_t i = 1; i <= extra; ++i) {
        const auto next = static_cast<unsigned char>(bytes[at + i]);
        good &= (next & 0xC0) == 0x80;
        c = (c << 6) | (next & 0x3F);
      }
      good &= is_text(c, kSequences[extra].smallest);
      text.push_back(c);
    }
    check<FormatError>(
        good, "text: ", source, " is not UTF-8 text: byte ", at,
        " does not begin a character; convert it with iconv, or choose another file");
    at += extra + 1;
  }
  return text;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  for (char32_t c : text) {
    size_t extra = 0;
    while (extra + 1 < kSequences.size() && c >= kSequences[extra + 1].smallest) ++extra;
    bytes.push_back(static_cast<char>(kSequences[extra].lead | (c >> (6 * extra))));
    for (size_t i = extra; i-- > 0;)
      bytes.push_back(static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F)));
  }
  return bytes;
}

std::u32string read_text(const std::string& path) {
  check<FileError>(!std::filesystem::is_directory(path), "text: ", path,
                   " is a folder; name a file");
  check<FileError>(!std::filesystem::exists(path) || std::filesystem::is_regular_file(path),
                   "text: ", path, " is no regular file; name a UTF-8 text file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  check<FileError>(file.is_open(), "text: cannot open ", path, ": ", std::strerror(errno),
                   "; name a UTF-8 text file");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  check<FileError>(!file.bad(), "text: cannot read ", path, ": ", std::strerror(errno));
  check<FormatError>(!bytes.empty(), "text: ", path, " is empty; name a file with text in it");
  return decode_utf8(bytes, path);
}

Vocabulary::Vocabulary(std::u32string_view text) : characters_(text) {
  std::sort(characters_.begin(), characters_.end());
  characters_.erase(std::unique(characters_.begin(), characters_.end()), characters_.end());
}

std::vector<int64_t> Vocabulary::encode(std::u32string_view text, std::string_view source) const {
  std::vector<int64_t> ids;
  ids.reserve(text.size());
  for (char32_t c : text) {
    const auto place = std::lower_bound(characters_.begin(), characters_.end(), c);
    check<ValueError>(place != characters_.end() && *place == c, source, ": the character \"",
                      encode_utf8({&c, 1}), "\" (code point ", static_cast<uint32_t>(c),
                      ") is not in the text that the model learned; leave it out");
    ids.push_back(place - characters_.begin());
  }
  return ids;
}

std::string Vocabulary::decode(const std::vector<int64_t>& ids) const {
  std::u32string text;
  for (int64_t id : ids) text.push_back(characters_[static_cast<size_t>(id)]);
  return encode_utf8(text);
}

}  // namespace gpt

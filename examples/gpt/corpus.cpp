#include "examples/gpt/corpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include <attograd/core/error.h>

namespace gpt {

namespace fs = std::filesystem;
using attograd::check;
using attograd::ValueError;

namespace {

/// The King James Bible, a verse a line without its number; empty where it is not installed.
std::string king_james_bible() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("bible -f 'gen1:1-rev22:21' </dev/null 2>/dev/null", "r"), pclose);
  std::string output;
  std::array<char, 65536> buffer{};
  while (const size_t n = pipe ? fread(buffer.data(), 1, buffer.size(), pipe.get()) : 0)
    output.append(buffer.data(), n);
  std::string text;
  size_t begin = 0;
  while (begin < output.size()) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    const size_t space = output.find(' ', begin);
    if (space < end) text.append(output, space + 1, end - space - 1) += '\n';
    begin = end + 1;
  }
  return text;
}

/// The project's sources and documents, in the order of their names.
std::string own_sources() {
  std::vector<fs::path> files;
  const fs::path root = ATTOGRAD_SOURCE_DIR;
  for (const char* document : {"README.md", "CONTRIBUTING.md"})
    if (fs::exists(root / document)) files.push_back(root / document);
  for (const char* folder : {"core", "nn", "optim", "examples"}) {
    std::error_code missing;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder, missing))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) text += encode_utf8(read_text(file));
  check<attograd::FileError>(
      !text.empty(),
      "text: neither the King James Bible nor attograd's sources are here; name a "
      "file with --text");
  return text;
}

uint64_t fnv1a(std::string_view bytes) {
  uint64_t hash = 14695981039346656037ULL;
  for (char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  return hash;
}

}  // namespace

Corpus Corpus::from_text(const std::string& name, const std::u32string& text, int64_t context) {
  Vocabulary vocabulary(text);
  check<ValueError>(vocabulary.size() > 1, "text: ", name,
                    " repeats one character, so there is nothing to learn; "
                    "choose another file");
  const std::vector<int64_t> ids = vocabulary.encode(text, name);
  const auto size = static_cast<int64_t>(ids.size());
  const auto split = ids.begin() + size * 9 / 10;
  check<ValueError>(size - size * 9 / 10 > context, "text: ", name, " has ", size,
                    " characters, a tenth of which must be longer than the context of ", context,
                    "; choose a longer text or a smaller --context");
  return {name,
          fnv1a(encode_utf8(text)),
          std::move(vocabulary),
          {ids.begin(), split},
          {split, ids.end()}};
}

Corpus Corpus::with_vocabulary(const Vocabulary& other) const {
  const auto translated = [&](const std::vector<int64_t>& ids) {
    return other.encode(decode_utf8(vocabulary.decode(ids), name), name);
  };
  return {name, fingerprint, other, translated(training), translated(validation)};
}

Corpus Corpus::load(const std::string& path, int64_t context) {
  if (!path.empty()) return from_text(path, read_text(path), context);
  if (const std::string bible = king_james_bible(); !bible.empty())
    return from_text("King James Bible", decode_utf8(bible, "King James Bible"), context);
  return from_text("attograd's sources", decode_utf8(own_sources(), "attograd's sources"), context);
}

double uniform_loss(const Vocabulary& vocabulary) {
  return std::log(static_cast<double>(vocabulary.size()));
}

double bigram_loss(const Corpus& corpus) {
  const int64_t v = corpus.vocabulary.size();
  std::vector<double> singles(static_cast<size_t>(v));
  std::unordered_map<int64_t, double> pairs;  // most of the v² never occur
  for (size_t i = 0; i + 1 < corpus.training.size(); ++i) {
    ++singles[static_cast<size_t>(corpus.training[i])];
    ++pairs[corpus.training[i] * v + corpus.training[i + 1]];
  }
  double total = 0;
  for (size_t i = 0; i + 1 < corpus.validation.size(); ++i) {
    const int64_t a = corpus.validation[i];
    const auto found = pairs.find(a * v + corpus.validation[i + 1]);
    const double count = found == pairs.end() ? 0 : found->second;
    total -= std::log((count + 1) / (singles[static_cast<size_t>(a)] + static_cast<double>(v)));
  }
  return total / static_cast<double>(corpus.validation.size() - 1);
}

}  // namespace gpt

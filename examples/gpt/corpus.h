#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/gpt/text.h"

namespace gpt {

/// A text to learn: the first 90 % of it for training, the rest to see what was learned.
struct Corpus {
  std::string name;
  uint64_t fingerprint;  // of the text: FNV-1a
  Vocabulary vocabulary;
  std::vector<int64_t> training;
  std::vector<int64_t> validation;

  /// From a file; without a path the King James Bible where Debian's `bible` program is installed,
  /// otherwise the project's own sources.
  /// Throws FileError or FormatError as read_text does; ValueError for a text of one distinct
  ///         character, or too short for windows of `context` characters in both parts.
  static Corpus load(const std::string& path, int64_t context);
  static Corpus from_text(const std::string& name, const std::u32string& text, int64_t context);

  /// The same text in the ids of another vocabulary. Throws ValueError if that lacks a character.
  Corpus with_vocabulary(const Vocabulary& other) const;
};

/// Nats per character of guessing without context: ln V.
double uniform_loss(const Vocabulary& vocabulary);

/// Nats per character on the validation part of guessing from the one character before, by counts
/// of the training part plus one: p(b | a) = (n(ab) + 1) / (n(a) + V).
double bigram_loss(const Corpus& corpus);

}  // namespace gpt

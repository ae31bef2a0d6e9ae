#include <cmath>
#include <filesystem>

#include <doctest/doctest.h>

#include "examples/gpt/corpus.h"
#include "examples/gpt/data.h"
#include <attograd/core/error.h>

using namespace gpt;
using attograd::FileError;
using attograd::FormatError;
using attograd::ValueError;

TEST_CASE("UTF-8 of every length decodes and encodes back") {
  const std::string bytes = "a\xC3\xA9\xE6\x98\xA5\xF0\x9F\x8C\xB8";  // a, e acute, spring, blossom
  const std::u32string text = decode_utf8(bytes, "test");
  CHECK(text == std::u32string{U'a', 0xE9, 0x6625, 0x1F338});
  CHECK(encode_utf8(text) == bytes);
  for (char32_t c : {char32_t{0x7F}, char32_t{0x80}, U'\U000007FF', U'\U00000800', U'\U0000D7FF',
                     U'\U0000E000', U'\U0000FFFF', U'\U00010000', U'\U0010FFFF'})
    CHECK(decode_utf8(encode_utf8({&c, 1}), "test") == std::u32string(1, c));
}

TEST_CASE("what is not UTF-8 text is refused and the message says where") {
  const auto refused = [](std::string_view bytes) {
    CHECK_THROWS_AS(decode_utf8(bytes, "test"), FormatError);
  };
  refused("\x80");                       // a continuation byte alone
  refused("\xC3");                       // cut short
  refused("\xC3\x28");                   // no continuation byte
  refused("\xC0\x80");                   // overlong NUL
  refused("\xC1\xBF");                   // overlong
  refused("\xE0\x9F\xBF");               // overlong
  refused("\xED\xA0\x80");               // a surrogate
  refused("\xF4\x90\x80\x80");           // above U+10FFFF
  refused("\xF8\x88\x80\x80\x80");       // five bytes
  refused(std::string_view("a\0b", 3));  // binary
  CHECK_THROWS_WITH_AS(
      decode_utf8("abc\xFF", "x.txt"),
      "text: x.txt is not UTF-8 text: byte 3 does not begin a character; convert it with iconv, or "
      "choose another file",
      FormatError);
}

TEST_CASE("a vocabulary numbers the distinct characters in order") {
  const Vocabulary vocabulary(U"banana\u6625");
  CHECK(vocabulary.characters() == U"abn\u6625");
  CHECK(vocabulary.encode(U"nab\u6625", "test") == std::vector<int64_t>{2, 0, 1, 3});
  CHECK(vocabulary.decode({2, 0, 1, 3}) == "nab\xE6\x98\xA5");
  CHECK_THROWS_AS(vocabulary.encode(U"x", "test"), ValueError);
}

TEST_CASE("a corpus is nine tenths training and one tenth validation") {
  std::u32string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char32_t>('a' + i % 7);
  const Corpus corpus = Corpus::from_text("test", text, 9);
  CHECK(corpus.training.size() == 90);
  CHECK(corpus.validation.size() == 10);
  CHECK(corpus.vocabulary.size() == 7);
  CHECK_THROWS_AS(Corpus::from_text("test", text, 10),
                  ValueError);  // 10 characters hold no window of 10 and a target
  CHECK_THROWS_AS(Corpus::from_text("test", std::u32string(100, U'a'), 4), ValueError);
}

TEST_CASE("the bigram baseline is add-one counting") {
  // Training "aabaabaab", validation "aab": n(aa) = 3, n(ab) = 3, n(a) = 6 of the pairs, V = 2.
  Corpus corpus = Corpus::from_text("test", U"aabaabaab aab aab aab aab aab aab", 1);
  corpus.vocabulary = Vocabulary(U"ab");
  corpus.training = corpus.vocabulary.encode(U"aabaabaab", "test");
  corpus.validation = corpus.vocabulary.encode(U"aab", "test");
  CHECK(bigram_loss(corpus) == doctest::Approx(-std::log(4.0 / 8)));
  CHECK(uniform_loss(corpus.vocabulary) == doctest::Approx(std::log(2.0)));
}

TEST_CASE("windows hold each character and its successor and reach both ends of the text") {
  const std::vector<int64_t> ids = {5, 6, 7, 8, 9};
  const Batch batch = windows_at(ids, {0, 2}, 2);
  CHECK(batch.inputs.to_vector<int64_t>() == std::vector<int64_t>{5, 6, 7, 8});
  CHECK(batch.targets.to_vector<int64_t>() == std::vector<int64_t>{6, 7, 8, 9});
  attograd::Rng rng(1);
  bool first = false;
  bool last = false;
  for (int i = 0; i < 100; ++i) {
    const int64_t begin = random_windows(ids, 1, 3, rng).inputs.to_vector<int64_t>()[0];
    first |= begin == 5;
    last |= begin == 6;
    CHECK((begin == 5 || begin == 6));
  }
  CHECK((first && last));
  CHECK(random_windows(ids, 1, 4, rng).inputs.to_vector<int64_t>() ==
        std::vector<int64_t>{5, 6, 7, 8});
  CHECK_THROWS_AS(random_windows(ids, 1, 5, rng), ValueError);
}

TEST_CASE("files that hold no text are refused by name") {
  CHECK_THROWS_AS(read_text("/nonexistent/file.txt"), FileError);
  CHECK_THROWS_AS(read_text(std::filesystem::temp_directory_path()), FileError);
}

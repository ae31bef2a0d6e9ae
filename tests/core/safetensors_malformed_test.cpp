#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/core/file_in_memory.h"
#include "tests/temporary_folder.h"
#include <attograd/core/create.h>
#include <attograd/core/file.h>
#include <attograd/core/random.h>
#include <attograd/core/safetensors.h>

namespace attograd {
namespace {

TEST_CASE("a header length beyond the file is refused") {
  CHECK_THROWS_WITH_AS(FileInMemory("1234567").load(), doctest::Contains("at least 8 bytes, got 7"),
                       FormatError);
  CHECK_THROWS_AS(FileInMemory("").load(), FormatError);
  CHECK_THROWS_AS(FileInMemory(length_field(2)).load(), FormatError);
  const std::string follows = "{}" + std::string(18, ' ');
  for (uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{21}, uint64_t{100}, uint64_t{1} << 40,
                          uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{7}}) {
    CAPTURE(length);
    CHECK_THROWS_AS(FileInMemory(length_field(length) + follows).load(), FormatError);
  }
  CHECK(FileInMemory(length_field(20) + follows).load().tensors.empty());
  CHECK_THROWS_WITH_AS(FileInMemory("PK\3\4" + std::string(60, '\0')).load(),
                       doctest::Contains("no safetensors file"), FormatError);
}

TEST_CASE("offsets that do not fit shape and file are refused") {
  CHECK(with_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})").load().tensors.size() ==
        1);
  for (const char* rest : {
           R"("shape":[1000,1000],"data_offsets":[0,4])",
           R"("shape":[1],"data_offsets":[4,0])",
           R"("shape":[1],"data_offsets":[-4,0])",
           R"("shape":[1],"data_offsets":[0,5])",
           R"("shape":[2],"data_offsets":[0,8])",
           R"("shape":[1],"data_offsets":[0.0,4.0])",
           R"("shape":[1],"data_offsets":[4])",
           R"("shape":[1],"data_offsets":[0,4,4])",
           R"("shape":[1],"data_offsets":["0","4"])",
           R"("shape":[1],"data_offsets":[0,4e0])",
           R"("shape":[1],"data_offsets":[-0,4])",
           R"("shape":[1],"data_offsets":[18446744073709551612,18446744073709551616])",
           R"("shape":[1],"data_offsets":[18446744073709551612,0])",
           R"("shape":[1],"data_offsets":[0,18446744073709551620])",
           R"("shape":[1],"data_offsets":{"0":0,"1":4})",
           R"("shape":[1],"data_offsets":null)",
           R"("shape":[1],"data_offsets":[0,1e999])",
           R"("shape":[1])",
           R"("shape":[-1],"data_offsets":[0,4])",
           R"("shape":[1.0],"data_offsets":[0,4])",
           R"("shape":["1"],"data_offsets":[0,4])",
           R"("shape":[[1]],"data_offsets":[0,4])",
           R"("shape":[true],"data_offsets":[0,4])",
           R"("shape":1,"data_offsets":[0,4])",
           R"("data_offsets":[0,4])",
           // products that overflow 64 bits to something that fits
           R"("shape":[4611686018427387905],"data_offsets":[0,4])",
           R"("shape":[4294967296,4294967296],"data_offsets":[0,0])",
           R"("shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,4])",
           R"("shape":[0,9223372036854775807,9223372036854775807],"data_offsets":[0,0])",
           R"("shape":[9223372036854775808],"data_offsets":[0,4])",
       }) {
    CAPTURE(rest);
    CHECK_THROWS_AS(with_tensor(R"({"dtype":"F32",)" + std::string(rest) + '}').load(),
                    FormatError);
  }
}

TEST_CASE("tensors that leave gaps or overlap or do not fill the file are refused") {
  const auto two = [](std::string_view a, std::string_view b, size_t bytes) {
    const auto range = [](std::string_view offsets) {
      return R"({"dtype":"F32","shape":[1],"data_offsets":)" + std::string(offsets) + '}';
    };
    return with_header(R"({"a":)" + range(a) + R"(,"b":)" + range(b) + '}',
                       std::string(bytes, '\0'));
  };
  CHECK(two("[0,4]", "[4,8]", 8).load().tensors.size() == 2);
  CHECK(two("[4,8]", "[0,4]", 8).load().tensors.size() == 2);
  const FileInMemory empty_last =
      with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                  R"("b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                  std::string(4, '\0'));
  CHECK(empty_last.load().tensors.at("b").numel() == 0);
  CHECK_THROWS_AS(two("[0,4]", "[8,12]", 12).load(), FormatError);
  CHECK_THROWS_AS(two("[0,4]", "[2,6]", 6).load(), FormatError);
  CHECK_THROWS_AS(two("[0,4]", "[0,4]", 4).load(), FormatError);
  CHECK_THROWS_AS(two("[4,8]", "[8,12]", 12).load(), FormatError);
  CHECK_THROWS_AS(two("[0,4]", "[4,8]", 9).load(), FormatError);
  CHECK_THROWS_AS(two("[0,4]", "[4,8]", 7).load(), FormatError);
}

TEST_CASE("unsupported is another error than malformed") {
  for (const char* dtype : {"BF16", "F16", "U8", "I32", "F99", "f32", "", "F32 "}) {
    const std::string text =
        R"({"dtype":")" + std::string(dtype) + R"(","shape":[1],"data_offsets":[0,4]})";
    CHECK_THROWS_WITH_AS(
        with_tensor(text).load(),
        doctest::Contains(
            (R"("a" has the unsupported dtype ")" + std::string(dtype) + '"').c_str()),
        DTypeError);
  }
  CHECK_THROWS_WITH_AS(
      with_tensor(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})").load(),
      doctest::Contains("\"a\" has 9 axes; at most 8 are supported"), ShapeError);
  CHECK_THROWS_AS(with_tensor(R"({"shape":[1],"data_offsets":[0,4]})").load(), FormatError);
  CHECK_THROWS_AS(with_tensor(R"({"dtype":32,"shape":[1],"data_offsets":[0,4]})").load(),
                  FormatError);
  CHECK_THROWS_AS(with_tensor("[]", 0).load(), FormatError);
  CHECK_THROWS_AS(with_tensor("null", 0).load(), FormatError);
}

TEST_CASE("headers that are not the JSON of the format are refused") {
  const std::string a = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  const std::string nested(200000, '[');
  const std::string nested_objects = [] {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += R"({"a":)";
    return text;
  }();
  const std::vector<std::string> headers = {
      "",
      "[]",
      "null",
      " {}",
      "{",
      "{}}",
      "{} x",
      "{,}",
      "\xef\xbb\xbf{}",
      std::string("{}\0\0", 4),
      std::string("{}\0{}", 5),
      nested,
      nested_objects,
      R"({"a":)" + nested,
      "{\"\xff\":" + a + '}',
      R"({"\ud800":)" + a + '}',
      R"({"a":)" + a + R"(,"a":)" + a + '}',
      R"({"a":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
      R"({"__metadata__":{"k":"1","k":"2"}})",
      R"({"__metadata__":{"k":1}})",
      R"({"__metadata__":{"k":null}})",
      R"({"__metadata__":["k"]})",
      R"({"__metadata__":null})",
      R"({"__metadata__":{},"__metadata__":{}})",
  };
  for (const std::string& header : headers) {
    CAPTURE(header.substr(0, 80));
    CHECK_THROWS_AS(with_header(header, "").load(), FormatError);
  }
}

TEST_CASE("deep nesting is refused before it costs memory") {
  CHECK_THROWS_WITH_AS(with_header(R"({"__metadata__":{"k":[[0]]}})", "").load(),
                       doctest::Contains("nests too deeply"), FormatError);
}

TEST_CASE("names in errors are short and without control characters") {
  const std::string name = R"(\u001b[31m)" + std::string(100000, 'x');
  try {
    with_header(R"({")" + name + R"(":1})", "").load();
    FAIL("was read");
  } catch (const FormatError& error) {
    const std::string_view message = error.what();
    CHECK(message.size() < 300);
    CHECK(message.find('\x1b') == std::string_view::npos);
  }
}

TEST_CASE("a BOOL that is neither 0 nor 1 is refused") {
  const char* header = R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  CHECK(with_header(header, std::string("\1\0", 2)).load().tensors.at("a").to_vector<bool>() ==
        std::vector<bool>{true, false});
  CHECK_THROWS_AS(with_header(header, std::string("\1\2", 2)).load(), FormatError);
  CHECK_THROWS_AS(with_header(header, std::string("\xff\0", 2)).load(), FormatError);
}

TEST_CASE("truncated and lengthened files are refused") {
  const TemporaryFolder folder;
  Rng rng(3);
  save_safetensors(folder / "t", {{"weight", randn({3, 4}, rng)}, {"bias", zeros({3})}},
                   {{"k", "v"}});
  const std::string whole = read_file(folder / "t");
  REQUIRE(whole.size() > 250);
  for (size_t n = 0; n < whole.size(); ++n)
    CHECK_THROWS_AS(FileInMemory(whole.substr(0, n)).load(), FormatError);
  CHECK_THROWS_AS(FileInMemory(whole + '\0').load(), FormatError);
}

TEST_CASE("any change of a header byte is an error or another valid file") {
  const TemporaryFolder folder;
  Rng rng(4);
  save_safetensors(folder / "t", {{"w", randn({3, 4}, rng)}, {"b", zeros({3}, DType::f64)}});
  const std::string whole = read_file(folder / "t");
  const size_t data = 12 * 4 + 3 * 8;
  int refused = 0, read = 0;
  for (size_t i = 0; i < whole.size() - data; ++i) {
    std::string replacements = {'\0', '"', '{', '}', '[', ']', ',', '0', '9', '-', ' ', '\\'};
    for (int bit = 0; bit < 8; ++bit) replacements += static_cast<char>(whole[i] ^ (1 << bit));
    for (char replacement : replacements) {
      if (replacement == whole[i]) continue;
      std::string changed = whole;
      changed[i] = replacement;
      try {
        for (const auto& [name, t] : FileInMemory(changed).load().tensors) CHECK(t.numel() <= 12);
        ++read;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 10 * read);
  CHECK(read > 0);  // a changed name
}

}  // namespace
}  // namespace attograd

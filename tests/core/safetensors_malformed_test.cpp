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

}  // namespace
}  // namespace attograd

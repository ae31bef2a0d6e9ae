#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/core/file_in_memory.h"
#include "tests/exact.h"
#include "tests/temporary_folder.h"
#include <attograd/core/create.h>
#include <attograd/core/file.h>
#include <attograd/core/npy.h>
#include <attograd/core/ops.h>

namespace attograd {
namespace {

using namespace std::string_literals;

std::string bytes(const std::vector<int>& numbers) {
  std::string text;
  for (int n : numbers) text += static_cast<char>(n);
  return text;
}

/// A file of version 1.0, or of a later one, with this header and these data.
std::string npy(const std::string& header, const std::string& data = "", int version = 1) {
  const std::string length = length_field(header.size());
  return "\x93NUMPY" + bytes({version, 0}) + length.substr(0, version == 1 ? 2 : 4) + header + data;
}
std::string with(const std::string& descr, const std::string& shape, const std::string& data,
                 const std::string& fortran_order = "False") {
  return npy("{'descr': '" + descr + "', 'fortran_order': " + fortran_order +
                 ", 'shape': " + shape + ", }\n",
             data);
}

Tensor load(const std::string& file) { return load_npy(FileInMemory(file).path()); }

template <class E = FormatError>
std::string refusal(const std::string& file) {
  std::string message = message_of<E>([&] { load(file); });
  const size_t start = message.find("\": ");  // after the path
  return start == std::string::npos ? message : message.substr(start + 3);
}

const std::string kOne = bytes({0, 0, 128, 63});   // 1 as f4
const std::string kTwo = bytes({0, 0, 0, 64});     // 2
const std::string kThree = bytes({0, 0, 64, 64});  // 3
const std::string kFour = bytes({0, 0, 128, 64});  // 4
const std::string kFive = bytes({0, 0, 160, 64});  // 5
const std::string kSix = bytes({0, 0, 192, 64});   // 6

// numpy.save of numpy.array([[1.5, -2], [0, 3.25]], '<f4'), byte by byte.
const std::string kByNumpy = bytes({147, 78, 85, 77, 80, 89, 1, 0, 118, 0}) +
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" +
                             std::string(58, ' ') + "\n" +
                             bytes({0, 0, 192, 63, 0, 0, 0, 192, 0, 0, 0, 0, 0, 0, 80, 64});

TEST_CASE("a file that NumPy wrote is read and written again byte by byte") {
  REQUIRE(kByNumpy.size() == 128 + 16);
  const Tensor x = load(kByNumpy);
  CHECK(x.dtype() == DType::f32);
  CHECK(x.shape() == Shape{2, 2});
  CHECK(x.to_vector<float>() == std::vector<float>{1.5, -2, 0, 3.25});
  const TemporaryFolder folder;
  save_npy(folder / "x.npy", x);
  CHECK(read_file(folder / "x.npy") == kByNumpy);
  CHECK(folder.names().size() == 1);
}

TEST_CASE("every element type is read as the one that holds it") {
  CHECK(
      load(with("<f8", "(2,)", bytes({0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0xff})))
          .to_vector<double>() ==
      std::vector<double>{1.5, -std::numeric_limits<double>::infinity()});
  CHECK(load(with("<i8", "(2,)", bytes({1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128})))
            .to_vector<int64_t>() ==
        std::vector<int64_t>{513, std::numeric_limits<int64_t>::min()});
  CHECK(load(with("|b1", "(3,)", bytes({1, 0, 1}))).to_vector<bool>() ==
        std::vector<bool>{true, false, true});
  const auto integers = [](const std::string& descr, const std::string& data) {
    const Tensor x = load(with(descr, "(2,)", data));
    return x.to_vector<int64_t>();
  };
  using Integers = std::vector<int64_t>;
  CHECK(integers("|i1", bytes({127, 128})) == Integers{127, -128});
  CHECK(integers("|u1", bytes({127, 255})) == Integers{127, 255});
  CHECK(integers("<i2", bytes({1, 2, 0, 128})) == Integers{513, -32768});
  CHECK(integers("<u2", bytes({1, 2, 0, 128})) == Integers{513, 32768});
  CHECK(integers("<i4", bytes({1, 2, 0, 0, 0, 0, 0, 128})) == Integers{513, -2147483648LL});
  CHECK(integers("<u4", bytes({1, 2, 0, 0, 0, 0, 0, 128})) == Integers{513, 2147483648LL});
}

TEST_CASE("shapes of any rank from scalars to 8 axes and with zeros are read") {
  CHECK(load(with("<f4", "()", kTwo)).shape() == Shape{});
  CHECK(load(with("<f4", "()", kTwo)).item() == 2);
  CHECK(load(with("<f4", "(1,)", kTwo)).shape() == Shape{1});
  CHECK(load(with("<f4", "(0,)", "")).shape() == Shape{0});
  CHECK(load(with("<f4", "(3, 0, 2)", "")).shape() == Shape{3, 0, 2});
  CHECK(load(with("<f4", "(3, 0, 2)", "", "True")).shape() == Shape{3, 0, 2});
  CHECK(load(with("<f4", "(1, 2, 1, 1, 1, 1, 1, 1)", kOne + kTwo)).shape() ==
        Shape{1, 2, 1, 1, 1, 1, 1, 1});
  CHECK(refusal<ShapeError>(with("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", kOne)) ==
        "at most 8 axes are supported, got more");
}

TEST_CASE("Fortran order is read column by column") {
  const std::string data = kOne + kTwo + kThree + kFour + kFive + kSix;
  const auto values = [](const Tensor& x) {
    CHECK(x.array().is_contiguous());
    return x.to_vector<float>();
  };
  CHECK(values(load(with("<f4", "(2, 3)", data))) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(values(load(with("<f4", "(2, 3)", data, "True"))) == std::vector<float>{1, 3, 5, 2, 4, 6});
  CHECK(values(load(with("<f4", "(3, 1, 2)", data, "True"))) ==
        std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(load(with("<f4", "()", kTwo, "True")).item() == 2);
}

TEST_CASE("headers of all versions and as Python may write them are read") {
  const std::string usual = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  for (int version : {1, 2, 3})
    CHECK(load(npy(usual, kOne + kTwo, version)).to_vector<float>() == std::vector<float>{1, 2});
  for (const char* header : {
           "{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
           "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
           " { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , ) , } \t\r\n ",
           "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2,)}",
       }) {
    CAPTURE(header);
    CHECK(load(npy(header, kOne + kTwo)).to_vector<float>() == std::vector<float>{1, 2});
  }
}

TEST_CASE("tensors come back from a file bit for bit") {
  const TemporaryFolder folder;
  const auto path = folder / "x.npy";
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{2, 0, 3}, Shape{5}, Shape{3, 4},
                               Shape{2, 1, 3, 1, 2, 1, 1, 2}}) {
      Tensor x = cast(random_integers(shape, 1), dtype == DType::boolean ? DType::i64 : dtype);
      if (dtype == DType::boolean) x = x > 0;
      save_npy(path, x);
      CHECK(read_file(path).size() == 128 + static_cast<size_t>(x.numel()) * size_of(dtype));
      const Tensor y = load_npy(path);
      CHECK(y.dtype() == dtype);
      CHECK(y.shape() == shape);
      CHECK(bytes_of(y.array()) == bytes_of(x.array()));
    }
  const Tensor special =
      tensor({-0., std::numeric_limits<double>::quiet_NaN(), 1e-310}, DType::f64);
  save_npy(path, special);
  CHECK(bytes_of(load_npy(path).array()) == bytes_of(special.array()));
}

TEST_CASE("strided tensors are written in row-major order") {
  const TemporaryFolder folder;
  save_npy(folder / "x.npy", transpose(counted({2, 3})));
  CHECK(load_npy(folder / "x.npy").to_vector<double>() == std::vector<double>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("types without a counterpart are refused by name") {
  for (const char* descr : {"<f2", "<c8", "<u8", "|V8", "<U5", "|S3", "<M8[ns]", "<f16", "f4",
                            "=f4", "float32", "<f4 ", ""}) {
    CAPTURE(descr);
    CHECK(refusal<DTypeError>(with(descr, "(1,)", kOne)) ==
          "the elements are of the unsupported type \""s + descr +
              "\"; convert with astype('<f8'), '<f4', '<i8' or '?'");
  }
  CHECK(refusal<DTypeError>(with(">f4", "(1,)", kOne)).find("\">f4\" (big-endian)") !=
        std::string::npos);
  CHECK(refusal<DTypeError>(with("|O", "(1,)", kOne)).find("\"|O\" (Python objects)") !=
        std::string::npos);
  CHECK(refusal<DTypeError>(
            npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", kOne)) ==
        "structures of several fields are not supported");
}

TEST_CASE("data of another length than the shape says are refused with both lengths") {
  CHECK(refusal(with("<f4", "(2, 2)", kOne)) ==
        "[2, 2] elements <f4 have 16 bytes, got 4 in the file; it was truncated or something was "
        "added");
  CHECK(refusal(with("<f4", "()", "")).find("have 4 bytes, got 0") != std::string::npos);
  CHECK(refusal(with("<f4", "(0,)", kOne)).find("have 0 bytes, got 4") != std::string::npos);
  CHECK(refusal(kByNumpy + "x").find("have 16 bytes, got 17") != std::string::npos);
  // what would take more memory than there is, or overflows to something that fits
  CHECK(refusal(with("<f8", "(1000000000000,)", kOne)).find("8000000000000 bytes, got 4") !=
        std::string::npos);
  for (const char* shape :
       {"(4611686018427387905,)", "(2305843009213693953, 2)", "(4294967296, 4294967296)"}) {
    CAPTURE(shape);
    CHECK(refusal(with("<f4", shape, kOne)).find("more bytes than 63 bits") != std::string::npos);
    CHECK(refusal(with("<f4", shape, "", "True")).find("more bytes than") != std::string::npos);
  }
  // a size of 0 leaves no bytes, and strides that have to fit
  CHECK(load(with("<f8", "(0, 4611686018427387904)", "")).shape() == Shape{0, int64_t{1} << 62});
  CHECK(load(with("<f8", "(0, 4611686018427387904)", "", "True")).numel() == 0);
  CHECK(refusal(with("<f4", "(0, 9223372036854775807, 9223372036854775807)", "")) ==
        "the shape [0, 9223372036854775807, 9223372036854775807] has strides that do not fit in 63 "
        "bits");
}

TEST_CASE("the path in an error has no control characters") {
  const TemporaryFolder folder;
  replace_file(folder / "a\x1b[31m", {});
  const std::string message = message_of<FormatError>([&] { load_npy(folder / "a\x1b[31m"); });
  CHECK(message.find("a\\u001b[31m\": ") != std::string::npos);
}

TEST_CASE("what is no npy file or of another version is refused") {
  CHECK(refusal("") == "a file must begin with \\x93NUMPY and a version, got \"\"");
  CHECK(refusal("PK\3\4 a zip archive of arrays").find("got \"PK") != std::string::npos);
  CHECK(refusal("\x93NUMPY\4"s + std::string(100, '\0')) ==
        "the version must be 1.0, 2.0 or 3.0, got 4.0");
  CHECK(refusal("\x93NUMPY\1\1"s + std::string(100, '\0')) ==
        "the version must be 1.0, 2.0 or 3.0, got 1.1");
  CHECK(refusal("\x93NUMPY\2\0\xff\xff\xff\xff"s + "{}") ==
        "the header must lie in the file, got a length of 4294967295 with 2 bytes left; it was "
        "truncated");
  const TemporaryFolder folder;
  CHECK_THROWS_AS(load_npy(folder / "absent.npy"), FileError);
  CHECK_THROWS_AS(load_npy(folder.path()), FileError);
}

TEST_CASE("headers that are not the dictionary of the format are refused") {
  const std::string rest = "'fortran_order': False, 'shape': (1,)}";
  for (const std::string& header : std::vector<std::string>{
           "",
           "{",
           "}",
           "{}",
           "{,}",
           "[]",
           "None",
           "{'descr'}",
           "{'descr': }",
           "{'descr': <f4, " + rest,
           "{'descr': '<f4, " + rest,
           "{'descr': 4, " + rest,
           "{'descr': None, " + rest,
           "{'descr': '<f4' " + rest,
           "{'descr': '<f4',, " + rest,
           "{descr: '<f4', " + rest,
           "{'descr': '<f4', 'descr': '<f4', " + rest,
           "{'descr': '<f4', 'more': 1, " + rest,
           "{'Descr': '<f4', " + rest,
           "{'descr': '<f4', " + rest + "}",
           "{'descr': '<f4', " + rest + " x",
           "{'descr': '<f4', " + rest + "\0"s,
           "{" + rest,
           "{'descr': '<f4', 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': 'False', 'shape': (1,)}",
       }) {
    CAPTURE(header);
    CHECK_THROWS_AS(load(npy(header, kOne)), FormatError);
  }
  for (const char* shape : {"1",
                            "(1)",
                            "[1]",
                            "(,)",
                            "(1,,)",
                            "(1 1)",
                            "(-1,)",
                            "(+1,)",
                            "(1.0,)",
                            "(01,)",
                            "(0x1,)",
                            "(1e0,)",
                            "('1',)",
                            "((1,),)",
                            "(1,",
                            "(1",
                            "(",
                            "None",
                            "(None,)",
                            "(True,)",
                            "(9223372036854775808,)",
                            "(18446744073709551617,)",
                            "(1_0,)",
                            "(1,)(1,)"}) {
    CAPTURE(shape);
    CHECK_THROWS_AS(load(with("<f4", shape, kOne)), FormatError);
  }
  CHECK(refusal(with("<f4", "(-1,)", kOne)) ==
        "the header must have a shape like (), (3,) or (3, 4), of sizes from 0 to 2^63 - 1, got "
        "\"-1,), }\\n\"");
  CHECK(refusal(npy("{'descr': '<f4', 'extra': 1, " + rest)) ==
        "the header must have descr, fortran_order and shape once each, got another \"extra\"");
}

TEST_CASE("texts of a file are short and without control characters in errors") {
  const std::string message = refusal(npy("{'\x1b[31m" + std::string(60000, 'x') + "': 1}"));
  CHECK(message.size() < 300);
  CHECK(message.find('\x1b') == std::string::npos);
}

TEST_CASE("a bool that is neither 0 nor 1 is refused") {
  CHECK(refusal(with("|b1", "(2,)", bytes({1, 2}))) == "elements of |b1 must be bytes 0 and 1");
}

TEST_CASE("a file cut anywhere is refused") {
  for (size_t n = 0; n < kByNumpy.size(); ++n)
    CHECK_THROWS_AS(load(kByNumpy.substr(0, n)), FormatError);
}

TEST_CASE("any change of a header byte is an error or another valid file") {
  int refused = 0, read = 0;
  for (size_t i = 0; i < 128; ++i) {
    std::string replacements = "\0\"'{}(),:0129- <>|fib"s;
    for (int bit = 0; bit < 8; ++bit) replacements += static_cast<char>(kByNumpy[i] ^ (1 << bit));
    for (char replacement : replacements) {
      if (replacement == kByNumpy[i]) continue;
      std::string changed = kByNumpy;
      changed[i] = replacement;
      try {
        const Tensor x = load(changed);
        CHECK(x.numel() <= 16);
        ++read;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 10 * read);
  CHECK(read > 0);  // another whitespace
}

TEST_CASE("an undefined tensor is not written") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(save_npy(folder / "x.npy", Tensor()), ValueError);
  CHECK(folder.names().empty());
  CHECK_THROWS_AS(save_npy(folder / "absent/x.npy", zeros({1})), FileError);
}

}  // namespace
}  // namespace attograd

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tests/core/file_in_memory.h"
#include "tests/temporary_folder.h"
#include <attograd/core/create.h>
#include <attograd/core/file.h>
#include <attograd/core/ops.h>
#include <attograd/core/random.h>
#include <attograd/core/safetensors.h>

namespace attograd {
namespace {

/// Bit for bit: NaN equals itself, and -0 is not 0.
void check_same(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  REQUIRE(a.dtype() == b.dtype());
  dispatch("test", a.dtype(), [&]<class T>() {
    const auto bytes = [](const Array& x) {
      return std::string_view(reinterpret_cast<const char*>(x.data<T>()),
                              static_cast<size_t>(x.numel()) * sizeof(T));
    };
    CHECK(bytes(a.array().contiguous()) == bytes(b.array().contiguous()));
  });
}

TEST_CASE("tensors of every dtype and shape come back bit for bit") {
  const TemporaryFolder folder;
  Rng rng(1);
  const double inf = std::numeric_limits<double>::infinity();
  const std::map<std::string, Tensor> tensors = {
      {"f32", randn({3, 5}, rng)},
      {"f64", from_values({5}, {inf, -inf, std::nan(""), -0.0, 0x1p-1074}, DType::f64)},
      {"i64", from_values({3}, std::vector<int64_t>{std::numeric_limits<int64_t>::min(), 0,
                                                    std::numeric_limits<int64_t>::max()})},
      {"bool", from_values({2, 2}, std::vector<bool>{true, false, false, true})},
      {"0-d", tensor(1.5)},
      {"0-d i64", from_values({}, std::vector<int64_t>{7})},
      {"empty", zeros({2, 0, 3})},
      {"empty f64", zeros({0}, DType::f64)},
      {"rank 8", randn({1, 2, 1, 2, 1, 1, 1, 2}, rng, DType::f64)},
      {"", ones({1})},
      {"名\"\n\\", ones({2})},
  };
  const std::map<std::string, std::string> metadata = {{"step", "20"}, {"文", "\"\t"}, {"", ""}};
  save_safetensors(folder / "t", tensors, metadata);
  const SafetensorsFile loaded = load_safetensors(folder / "t");
  CHECK(loaded.metadata == metadata);
  REQUIRE(loaded.tensors.size() == tensors.size());
  for (const auto& item : tensors) {
    INFO(item.first);
    const Tensor& got = loaded.tensors.at(item.first);
    check_same(got, item.second);
    CHECK_FALSE(got.requires_grad());
  }
  CHECK(folder.names() == std::vector<std::string>{"t"});
}

TEST_CASE("a file may hold nothing at all") {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {});
  CHECK(load_safetensors(folder / "t").tensors.empty());
  CHECK(load_safetensors(folder / "t").metadata.empty());
  CHECK(with_header("{}", "").load().tensors.empty());
}

TEST_CASE("a size of 0 leaves no bytes however large the others are") {
  const TemporaryFolder folder;
  const Shape shape{0, int64_t{1} << 62};
  save_safetensors(folder / "f", {{"a", zeros(shape, DType::f64)}});
  CHECK(load_safetensors(folder / "f").tensors.at("a").shape() == shape);
}

TEST_CASE("strided tensors are written in row-major order") {
  const TemporaryFolder folder;
  const Array x = tensor({{1, 2, 3}, {4, 5, 6}}).array();
  save_safetensors(folder / "t", {{"transposed", Tensor(x.view({3, 2}, {1, 3}))},
                                  {"expanded", Tensor(x.view({2, 2}, {0, 1}, 4))},
                                  {"reversed", Tensor(x.view({3}, {-1}, 5))}});
  const SafetensorsFile file = load_safetensors(folder / "t");
  check_same(file.tensors.at("transposed"), tensor({{1, 4}, {2, 5}, {3, 6}}));
  check_same(file.tensors.at("expanded"), tensor({{5, 6}, {5, 6}}));
  check_same(file.tensors.at("reversed"), tensor({6, 5, 4}));
}

TEST_CASE("the bytes are those of the format") {
  const TemporaryFolder folder;
  save_safetensors(
      folder / "t",
      {{"b", from_values({1}, std::vector<bool>{true})}, {"d", tensor({-2}, DType::f64)}},
      {{"k", "v"}});
  const std::string header =
      R"({"__metadata__":{"attograd.checksum":"fnv1a64:e52b013a23d75dcc","k":"v"},)"
      R"("b":{"data_offsets":[8,9],"dtype":"BOOL","shape":[1]},)"
      R"("d":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  CHECK(read_file(folder / "t") == length_field(header.size() + padding.size()) + header + padding +
                                       std::string("\0\0\0\0\0\0\0\xc0\1", 9));
}

TEST_CASE("files of other writers are read") {
  const FileInMemory other =
      with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                  R"("b":{"shape":[],"data_offsets":[0,8],"dtype":"I64","more":1}})",
                  std::string("\x05\0\0\0\0\0\0\0\0\0\x80\x3f", 12));
  CHECK(other.load().tensors.at("a").item() == 1);
  CHECK(other.load().tensors.at("b").item() == 5);
}

TEST_CASE("a changed byte in the data is found by the checksum") {
  const TemporaryFolder folder;
  Rng rng(2);
  save_safetensors(folder / "t", {{"a", randn({4}, rng)},
                                  {"b", from_values({2}, std::vector<bool>{true, false})}});
  const std::string whole = read_file(folder / "t");
  for (size_t i = whole.size() - 18; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      CHECK_THROWS_AS(FileInMemory(damaged).load(), FormatError);
    }
  }
}

TEST_CASE("what cannot be saved is refused before anything is written") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(save_safetensors(folder / "t", {{"a", Tensor()}}), ValueError);
  CHECK_THROWS_AS(save_safetensors(folder / "t", {{"__metadata__", ones({1})}}), ValueError);
  CHECK_THROWS_WITH_AS(save_safetensors(folder / "t", {{"\xff", ones({1})}}),
                       "save_safetensors: names and metadata must be UTF-8", ValueError);
  CHECK_THROWS_AS(save_safetensors(folder / "t", {}, {{"k", "\xc3"}}), ValueError);
  CHECK_THROWS_AS(save_safetensors(folder / "none/t", {}), FileError);
  CHECK_THROWS_AS(load_safetensors(folder / "t"), FileError);
  CHECK(folder.names().empty());
}

}  // namespace
}  // namespace attograd

// Tensor files: hostile, truncated, of other types. tests/cases/files holds the malformed ones.

#include <fstream>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <tests/core/file_in_memory.h>
#include <tests/exact.h>
#include <tests/temporary_folder.h>

#include <attograd/core/file.h>
#include <attograd/core/named_tensors.h>
#include <attograd/nn/files.h>
#include <attograd/nn/linear.h>

namespace attograd {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = ATTOGRAD_SOURCE_DIR "/tests/cases/files";

/// What tests/cases/files/manifest.txt says of each file: "accept" or "error".
std::vector<std::pair<std::string, std::string>> manifest() {
  std::ifstream lines(kFolder / "manifest.txt");
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::string file, id, must; lines >> file >> id >> must;) entries.emplace_back(file, must);
  return entries;
}

/// The most kilobytes of addresses that this process has used so far.
int64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmPeak:")) return std::stoll(line.substr(7));
  return 0;
}

// The first test: memory that an earlier one freed would hide what this one takes.
TEST_CASE("CKP-01 no memory is taken because a file says so") {
  const pid_t reader = fork();  // whose peak begins anew
  REQUIRE(reader >= 0);
  if (reader == 0) {
    const int64_t before = peak_kilobytes();
    int64_t refused = 0;
    for (const auto& [name, must] : manifest()) {
      try {
        load_safetensors(kFolder / name);
      } catch (const Error&) {
        ++refused;
      }
    }
    const bool small = before > 0 && peak_kilobytes() - before < 4096;
    _exit(small && refused == 23 ? 0 : 1);
  }
  int status = 0;
  waitpid(reader, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("CKP-01 and CKP-02 and CKP-07 files are read or refused as their manifest says") {
  const auto entries = manifest();
  CHECK(entries.size() == 24);
  for (const auto& entry : entries) {
    const std::string &name = entry.first, &must = entry.second;
    CAPTURE(name);
    const fs::path path = kFolder / name;
    if (must == "accept") {
      CHECK(load_safetensors(path).tensors.size() == 1);
    } else if (name.starts_with("json_dtype")) {  // well-formed and not supported
      CHECK_THROWS_WITH_AS(load_safetensors(path), doctest::Contains("has the unsupported dtype"),
                           DTypeError);
    } else {
      CHECK_THROWS_WITH_AS(load_safetensors(path), doctest::Contains(name.c_str()), FormatError);
    }
  }
}

TEST_CASE("CKP-01 a header length beyond the file is refused") {
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

TEST_CASE("CKP-02 offsets that do not fit shape and file are refused") {
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

TEST_CASE("CKP-05 a small file is refused at every other length and survives every changed byte") {
  const std::string whole = read_file(kFolder / "ok_one.safetensors");
  for (size_t n = 0; n < whole.size(); ++n)
    CHECK_THROWS_AS(FileInMemory(whole.substr(0, n)).load(), FormatError);
  CHECK_THROWS_AS(FileInMemory(whole + '\0').load(), FormatError);
  int64_t read = 0, refused = 0;
  for (size_t i = 0; i < whole.size() - 4; ++i)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[i] = static_cast<char>(byte);
      try {
        const SafetensorsFile file = FileInMemory(changed).load();
        CHECK(file.tensors.size() == 1);
        for (const auto& [name, x] : file.tensors) CHECK(x.numel() * 4 == 4);
        ++read;
      } catch (const Error&) {
        ++refused;
      }
    }
  CHECK(refused > 10 * read);
  CHECK(read > 90);  // the name may be any other letter
}

TEST_CASE("CKP-05 truncated and lengthened files are refused") {
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

TEST_CASE("CKP-05 any change of a header byte is an error or another valid file") {
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

TEST_CASE("CKP-05 a changed byte of the data is found by the checksum") {
  const TemporaryFolder folder;
  save_safetensors(folder / "t", {{"w", zeros({3})}});
  const std::string whole = read_file(folder / "t");
  for (size_t i = whole.size() - 12; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_THROWS_WITH_AS(FileInMemory(changed).load(), doctest::Contains("damaged"), FormatError);
  }
}

nn::Linear linear(uint64_t seed) {
  Rng rng(seed);
  return nn::Linear(2, 3, rng);
}

TEST_CASE("CKP-05 a truncated checkpoint leaves the model as it was") {
  const TemporaryFolder folder;
  const nn::Linear model = linear(1), other = linear(2);
  nn::save(model, folder / "m");
  const std::string whole = read_file(folder / "m");
  const std::vector<float> before = other.weight.to_vector<float>();
  for (size_t n = 0; n < whole.size(); n += 7) {
    std::ofstream(folder / "m", std::ios::binary) << whole.substr(0, n);
    CHECK_THROWS_AS(nn::load(other, folder / "m"), FormatError);
    CHECK(other.weight.to_vector<float>() == before);
  }
}

TEST_CASE("CKP-07 unsupported is another error than malformed") {
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

TEST_CASE("CKP-07 F64 is converted to a float32 parameter and I64 is refused by name and types") {
  const TemporaryFolder folder;
  const nn::Linear model = linear(1);
  const Tensor bias = zeros({3}, DType::f64);
  save_safetensors(folder / "f64",
                   {{"weight", full({3, 2}, 0.1, DType::f64)}, {"bias", zeros({3}, DType::f64)}});
  nn::load(model, folder / "f64");
  CHECK(model.weight.to_vector<float>() == std::vector<float>(6, 0.1F));
  save_safetensors(folder / "i64", {{"weight", zeros({3, 2}, DType::i64)}, {"bias", zeros({3})}});
  CHECK_THROWS_WITH_AS(nn::load(model, folder / "i64"),
                       doctest::Contains("weight (i64[3, 2] for f32[3, 2])"), FormatError);
  CHECK(model.weight.to_vector<float>() == std::vector<float>(6, 0.1F));
}

}  // namespace
}  // namespace attograd

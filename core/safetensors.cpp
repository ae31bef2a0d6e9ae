#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <span>
#include <tuple>

#include <attograd/core/file.h>
#include <attograd/core/safetensors.h>
#include <nlohmann/json.hpp>

namespace attograd {
namespace {

// A file is: N (8 bytes, little endian), N bytes of JSON, the numbers. The JSON is
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//    "__metadata__": {"text": "text", ...}}
// and the ranges [begin, end) fill what follows it without gaps or overlaps.

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "numbers are stored as they lie in memory");

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLargestHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "attograd.checksum";

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName kTypeNames[] = {
    {DType::f32, "F32"}, {DType::f64, "F64"}, {DType::i64, "I64"}, {DType::boolean, "BOOL"}};

std::string_view type_name(DType dtype) {
  return std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                      [&](const TypeName& t) { return t.dtype == dtype; })
      ->name;
}

/// FNV-1a. A change of one byte always changes it: each step maps states one to one.
class Checksum {
 public:
  void add(std::string_view bytes) {
    for (char byte : bytes) state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  std::string text() const {
    std::ostringstream out;
    out << "fnv1a64:" << std::hex << state_;
    return out.str();
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

// ---- reading ----

/// Where a tensor lies in the data.
struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  int64_t begin, end;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), file_(path) {}

  SafetensorsFile read() {
    const json header = parse(header_text());
    SafetensorsFile out;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata)
        out.metadata = metadata(value);
      else
        entries.push_back(entry(name, value));
    }
    check_ranges(entries);
    Checksum checksum;
    for (const Entry& e : entries) out.tensors.emplace(e.name, Tensor(numbers(e, checksum)));
    const auto expected = out.metadata.find(kChecksum);
    if (expected != out.metadata.end()) {
      require(expected->second == checksum.text(), "the data must match ", kChecksum,
              ", so they were damaged, or changed by a program that kept the checksum");
      out.metadata.erase(expected);
    }
    return out;
  }

 private:
  template <class... Parts>
  [[noreturn]] void malformed(const Parts&... parts) const {
    fail<FormatError>("load_safetensors: ", shown(path_), ": ", parts...);
  }
  template <class... Parts>
  void require(bool ok, const Parts&... parts) const {
    if (!ok) malformed(parts...);
  }

  std::string header_text() {
    require(file_.size() >= kLengthBytes, "a file has at least 8 bytes, got ", file_.size());
    uint64_t length = 0;
    file_.read(&length, kLengthBytes);
    require(length <= kLargestHeader && length <= file_.size() - kLengthBytes,
            "the header must lie in the file and have at most 100000000 bytes, got ", length,
            " in a file of ", file_.size(), "; it was truncated or is no safetensors file");
    data_size_ = static_cast<int64_t>(file_.size() - kLengthBytes - length);
    std::string text(length, '\0');
    file_.read(text.data(), length);
    require(text.starts_with('{'), "the header must begin with '{'");
    // The parser takes a zero byte for the end of the text.
    require(text.find('\0') == std::string::npos, "the header holds a zero byte");
    return text;
  }

  /// Objects in objects and lists in those: nothing lies deeper. Of equal keys the parser would
  /// keep the last.
  json parse(const std::string& text) const {
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
      require(depth <= 3, "the header nests too deeply");
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key) {
        const auto [key, is_new] = keys.back().insert(value.get<std::string>());
        require(is_new, "the header has the key ", Quoted{*key}, " twice");
      }
      return true;
    };
    try {
      return json::parse(text, watch);
    } catch (const json::parse_error& error) {
      malformed("the header must be JSON, got something else at its byte ", error.byte);
    } catch (const json::out_of_range&) {
      malformed("the header holds a number beyond all range");
    }
  }

  std::map<std::string, std::string> metadata(const json& value) const {
    require(value.is_object(), kMetadata, " must be an object");
    std::map<std::string, std::string> out;
    for (const auto& [key, text] : value.items()) {
      require(text.is_string(), kMetadata, ": ", Quoted{key}, " must be a text");
      out.emplace(key, text.get<std::string>());
    }
    return out;
  }

  Entry entry(const std::string& name, const json& value) const {
    const Quoted tensor{name};
    const auto member = [&](const char* key) -> const json& {
      require(value.contains(key), tensor, " must have a ", key);
      return value[key];
    };
    const json &type = member("dtype"), &sizes = member("shape"), &range = member("data_offsets");
    require(type.is_string() && sizes.is_array() && range.is_array() && range.size() == 2, tensor,
            " must have a dtype (a text), a shape (a list) and data_offsets (a list of two)");

    const auto found = type.get<std::string>();
    const auto* known = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                     [&](const TypeName& t) { return t.name == found; });
    check<DTypeError>(known != std::end(kTypeNames), "load_safetensors: ", shown(path_), ": ",
                      tensor, " has the unsupported dtype ", Quoted{found},
                      "; F32, F64, I64 and BOOL are supported");
    check<ShapeError>(sizes.size() <= kMaxRank, "load_safetensors: ", shown(path_), ": ", tensor,
                      " has ", sizes.size(), " axes; at most ", kMaxRank, " are supported");
    Entry out{name, known->dtype, {}, natural(tensor, range[0]), natural(tensor, range[1])};
    const auto fits = [&](bool ok) {
      require(ok, tensor, " has sizes whose product does not fit in 63 bits");
    };
    int64_t bytes = 1;
    bool empty = false;
    for (const json& element : sizes) {
      const int64_t size = natural(tensor, element);
      out.shape.append(size);
      empty |= size == 0;
      fits(!__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes));
    }
    if (empty) bytes = 0;
    fits(!__builtin_mul_overflow(bytes, size_of(out.dtype), &bytes));
    require(out.end - out.begin == bytes, tensor, " has ", bytes, " bytes as ", found, out.shape,
            ", got the data_offsets [", out.begin, ", ", out.end, "]");
    return out;
  }

  int64_t natural(const Quoted& tensor, const json& number) const {
    constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
    require(number.is_number_unsigned() && number.get<uint64_t>() <= kLargest, tensor,
            " must have sizes and offsets that are integers from 0 to 2^63 - 1");
    return number.get<int64_t>();
  }

  /// Sorts them by their place.
  void check_ranges(std::vector<Entry>& entries) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    int64_t place = 0;
    for (const Entry& e : entries) {
      require(e.begin == place, "tensors must follow each other without gap or overlap, got ",
              Quoted{e.name}, " at ", e.begin, " where ", place, " bytes are taken");
      place = e.end;
    }
    require(place == data_size_, "the tensors have ", place, " bytes, got ", data_size_,
            " in the file; it was truncated or something was added");
  }

  Array numbers(const Entry& entry, Checksum& checksum) {
    Array array(entry.shape, entry.dtype);
    dispatch("load_safetensors", entry.dtype, [&]<class T>() {
      file_.read(array.mutable_data<T>(), static_cast<size_t>(entry.end - entry.begin));
    });
    const std::string_view bytes = bytes_of(array);
    checksum.add(bytes);
    // Any other byte in a bool is undefined behaviour.
    require(entry.dtype != DType::boolean ||
                std::all_of(bytes.begin(), bytes.end(), [](char b) { return b == 0 || b == 1; }),
            Quoted{entry.name}, " must hold bytes 0 and 1, as BOOL");
    return array;
  }

  std::filesystem::path path_;
  InputFile file_;
  int64_t data_size_ = 0;
};

}  // namespace

SafetensorsFile load_safetensors(const std::filesystem::path& path) { return Reader(path).read(); }

// ---- writing ----

void save_safetensors(const std::filesystem::path& path,
                      const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<std::string, Array>> items;
  for (const auto& [name, tensor] : tensors) {
    check<ValueError>(tensor.defined() && name != kMetadata, "save_safetensors: the name ",
                      Quoted{name}, " has no tensor, or is reserved");
    items.emplace_back(name, tensor.array().contiguous());
  }
  // Wide elements first: then all lie at multiples of their size, as some readers require.
  std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
    return size_of(a.second.dtype()) > size_of(b.second.dtype());
  });

  json header = json::object();
  Checksum checksum;
  std::vector<std::string_view> parts(2);
  uint64_t place = 0;
  for (const auto& [name, array] : items) {
    const std::string_view bytes = bytes_of(array);
    header[name] = {{"dtype", type_name(array.dtype())},
                    {"shape", std::vector<int64_t>(array.shape().begin(), array.shape().end())},
                    {"data_offsets", {place, place + bytes.size()}}};
    place += bytes.size();
    checksum.add(bytes);
    parts.push_back(bytes);
  }
  header[kMetadata] = metadata;
  header[kMetadata][kChecksum] = checksum.text();

  std::string text;
  try {
    text = header.dump();
  } catch (const json::type_error&) {
    fail<ValueError>("save_safetensors: names and metadata must be UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data begin at a multiple of 8
  check<ValueError>(text.size() <= kLargestHeader,
                    "save_safetensors: the header must have at most ", kLargestHeader,
                    " bytes, got ", text.size());
  const uint64_t length = text.size();
  parts[0] = {reinterpret_cast<const char*>(&length), kLengthBytes};
  parts[1] = text;
  replace_file(path, parts);
}

}  // namespace attograd

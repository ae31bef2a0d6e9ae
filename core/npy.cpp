#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <type_traits>
#include <vector>

#include <attograd/core/file.h>
#include <attograd/core/npy.h>

namespace attograd {
namespace {

// A file is: the magic text, the version (major, minor: a byte each), the header's length (2 bytes,
// from version 2.0 on 4; little endian), the header, the numbers. The header is a Python dictionary
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// followed by spaces and a newline, so that the numbers begin at a multiple of 64.

static_assert(std::endian::native == std::endian::little,
              "numbers are stored as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefix = kMagic.size() + 2;  // with the version
constexpr size_t kAlignment = 64;

/// The next elements of a file, which it has.
template <class Stored, class T>
Array read_as(InputFile& file, const Shape& shape) {
  Array array(shape, kDTypeOf<T>);
  T* to = array.mutable_data<T>();
  const auto count = static_cast<size_t>(array.numel());
  if constexpr (std::is_same_v<Stored, T>) {
    file.read(to, count * sizeof(T));
  } else {
    std::vector<Stored> stored(count);
    file.read(stored.data(), count * sizeof(Stored));
    std::copy(stored.begin(), stored.end(), to);
  }
  return array;
}

/// The element types that are read, and of those the ones that are written.
struct Element {
  std::string_view descr;
  size_t size;  // bytes in the file
  Array (*read)(InputFile&, const Shape&);
  std::optional<DType> written_from = std::nullopt;
};
constexpr Element kElements[] = {
    {"<f4", 4, read_as<float, float>, DType::f32},
    {"<f8", 8, read_as<double, double>, DType::f64},
    {"<i8", 8, read_as<int64_t, int64_t>, DType::i64},
    {"|b1", 1, read_as<bool, bool>, DType::boolean},
    {"|i1", 1, read_as<int8_t, int64_t>},
    {"<i2", 2, read_as<int16_t, int64_t>},
    {"<i4", 4, read_as<int32_t, int64_t>},
    {"|u1", 1, read_as<uint8_t, int64_t>},
    {"<u2", 2, read_as<uint16_t, int64_t>},
    {"<u4", 4, read_as<uint32_t, int64_t>},
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), file_(path) {}

  Tensor read() {
    text_ = header_text();
    rest_ = text_;
    parse();
    const Element& element = element_of(*descr_);
    check_size(element);
    if (!*fortran_order_) return Tensor(numbers(element, *shape_));
    // The first axis is the innermost one: a row-major array of the axes in reverse.
    Shape reversed = *shape_;
    std::reverse_copy(shape_->begin(), shape_->end(), &reversed[0]);
    const Array array = numbers(element, reversed);
    Strides strides = *shape_;
    std::reverse_copy(array.strides().begin(), array.strides().end(), &strides[0]);
    return Tensor(array.view(*shape_, strides).contiguous());
  }

 private:
  template <class... Parts>
  void require(bool ok, const Parts&... parts) const {
    check<FormatError>(ok, "load_npy: ", shown(path_), ": ", parts...);
  }

  std::string header_text() {
    const uint64_t size = file_.size();
    std::string prefix(std::min<uint64_t>(kPrefix, size), '\0');
    file_.read(prefix.data(), prefix.size());
    require(prefix.size() == kPrefix && prefix.starts_with(kMagic),
            "a file must begin with \\x93NUMPY and a version, got ", Quoted{prefix});
    const int major = static_cast<unsigned char>(prefix[kPrefix - 2]);
    const int minor = static_cast<unsigned char>(prefix[kPrefix - 1]);
    require(major >= 1 && major <= 3 && minor == 0, "the version must be 1.0, 2.0 or 3.0, got ",
            major, ".", minor);
    const size_t field = major == 1 ? 2 : 4;
    require(size >= kPrefix + field, "the length of the header is missing, got ", size, " bytes");
    uint32_t length = 0;
    file_.read(&length, field);
    const uint64_t left = size - kPrefix - field;
    require(length <= left, "the header must lie in the file, got a length of ", length, " with ",
            left, " bytes left; it was truncated");
    data_size_ = left - length;
    std::string text(length, '\0');
    file_.read(text.data(), length);
    return text;
  }

  // ---- the dictionary, from front to back ----

  [[noreturn]] void malformed(std::string_view rule) const {
    fail<FormatError>("load_npy: ", shown(path_), ": the header must have ", rule, ", got ",
                      Quoted{std::string(rest_)});
  }

  /// Passes over spaces, and over this text if it comes next.
  bool take(std::string_view text) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text, std::string_view rule) {
    if (!take(text)) malformed(rule);
  }

  void parse() {
    expect("{", "a dictionary");
    while (!take("}")) {
      const std::string key = quoted("a key in quotes");
      expect(":", "a value after each key");
      if (key == "descr" && !descr_) {
        check<DTypeError>(!take("["), "load_npy: ", shown(path_),
                          ": structures of several fields are not supported");
        descr_ = quoted("a descr in quotes");
      } else if (key == "fortran_order" && !fortran_order_) {
        fortran_order_ = take("True");
        if (!*fortran_order_) expect("False", "a fortran_order that is True or False");
      } else if (key == "shape" && !shape_) {
        shape_ = shape();
      } else {
        require(false,
                "the header must have descr, fortran_order and shape once each, got another ",
                Quoted{key});
      }
      if (take(",")) continue;
      expect("}", "a comma or an end after each value");
      break;
    }
    take("");
    if (!rest_.empty()) malformed("nothing after the dictionary");
    require(descr_ && fortran_order_ && shape_,
            "the header must have descr, fortran_order and shape, got ", Quoted{text_});
  }

  std::string quoted(std::string_view rule) {
    const char mark = take("'") ? '\'' : take("\"") ? '"' : '\0';
    const size_t end = mark ? rest_.find(mark) : std::string_view::npos;
    if (end == std::string_view::npos) malformed(rule);
    const std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  Shape shape() {
    constexpr const char* kRule = "a shape like (), (3,) or (3, 4), of sizes from 0 to 2^63 - 1";
    Shape sizes;
    expect("(", kRule);
    while (!take(")")) {
      const std::string_view digits =
          rest_.substr(0, std::min(rest_.find_first_not_of("0123456789"), rest_.size()));
      int64_t size = 0;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), size);
      if (error != std::errc() || (digits.size() > 1 && digits[0] == '0')) malformed(kRule);
      check<ShapeError>(sizes.rank() < kMaxRank, "load_npy: ", shown(path_), ": at most ", kMaxRank,
                        " axes are supported, got more");
      sizes.append(size);
      rest_.remove_prefix(digits.size());
      if (take(",")) continue;
      if (sizes.rank() == 1) malformed(kRule);  // (3) is a number
      expect(")", kRule);
      break;
    }
    return sizes;
  }

  // ---- what it describes ----

  const Element& element_of(const std::string& descr) const {
    const auto* found = std::find_if(std::begin(kElements), std::end(kElements),
                                     [&](const Element& e) { return e.descr == descr; });
    const char* why = descr.starts_with('>')    ? " (big-endian)"
                      : descr.starts_with("|O") ? " (Python objects)"
                                                : "";
    check<DTypeError>(found != std::end(kElements), "load_npy: ", shown(path_),
                      ": the elements are of the unsupported type ", Quoted{descr}, why,
                      "; convert with astype('<f8'), '<f4', '<i8' or '?'");
    return *found;
  }

  void check_size(const Element& element) const {
    // A shape with a 0 has no bytes, but strides: the products of its other sizes.
    const bool empty = std::find(shape_->begin(), shape_->end(), 0) != shape_->end();
    auto bytes = static_cast<int64_t>(empty ? 1 : element.size);
    for (int64_t size : *shape_)
      require(!__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes), "the shape ",
              *shape_,
              empty ? " has strides that do not fit in 63 bits"
                    : " has more bytes than 63 bits can count");
    if (empty) bytes = 0;
    require(static_cast<uint64_t>(bytes) == data_size_, *shape_, " elements ", *descr_, " have ",
            bytes, " bytes, got ", data_size_,
            " in the file; it was truncated or something was added");
  }

  Array numbers(const Element& element, const Shape& shape) {
    const Array array = element.read(file_, shape);
    // Any other byte in a bool is undefined behaviour.
    const std::string_view bytes = bytes_of(array);
    require(array.dtype() != DType::boolean ||
                std::all_of(bytes.begin(), bytes.end(), [](char b) { return b == 0 || b == 1; }),
            "elements of |b1 must be bytes 0 and 1");
    return array;
  }

  std::filesystem::path path_;
  InputFile file_;
  uint64_t data_size_ = 0;
  std::string text_;       // of the header
  std::string_view rest_;  // of it
  std::optional<std::string> descr_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

Tensor load_npy(const std::filesystem::path& path) { return Reader(path).read(); }

void save_npy(const std::filesystem::path& path, const Tensor& x) {
  check<ValueError>(x.defined(), "save_npy: ", shown(path), ": the tensor is undefined");
  const auto* element = std::find_if(std::begin(kElements), std::end(kElements),
                                     [&](const Element& e) { return e.written_from == x.dtype(); });
  std::ostringstream text;
  text << "{'descr': '" << element->descr << "', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < x.rank(); ++axis) text << (axis ? ", " : "") << x.shape()[axis];
  text << (x.rank() == 1 ? ",), }" : "), }");
  std::string header = text.str();
  const size_t before = kPrefix + 2;
  header.resize((before + header.size()) / kAlignment * kAlignment + kAlignment - before, ' ');
  header.back() = '\n';

  const auto length = static_cast<uint16_t>(header.size());
  std::string prefix(kMagic);
  prefix += {'\x01', '\x00'};
  prefix.append(reinterpret_cast<const char*>(&length), sizeof length);
  const Array row_major = x.array().contiguous();
  replace_file(path, std::vector<std::string_view>{prefix, header, bytes_of(row_major)});
}

}  // namespace attograd

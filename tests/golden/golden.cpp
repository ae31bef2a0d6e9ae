#include <charconv>

#include <tests/golden/golden.h>

#include <attograd/core/error.h>

namespace attograd::golden {
namespace {

template <class T>
T parsed(const std::string& name, const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  check<FormatError>(error == std::errc() && stop == end, "option ", name,
                     " must be a number, got ", text);
  return value;
}

}  // namespace

std::string Options::text(const std::string& name) {
  const auto found = texts_.find(name);
  check<FormatError>(found != texts_.end(), "option ", name, " is missing");
  read_.insert(name);
  return found->second;
}

int64_t Options::integer(const std::string& name) { return parsed<int64_t>(name, text(name)); }

double Options::number(const std::string& name) { return parsed<double>(name, text(name)); }

bool Options::flag(const std::string& name) {
  const std::string value = text(name);
  check<FormatError>(value == "True" || value == "False", "option ", name,
                     " must be True or False, got ", value);
  return value == "True";
}

std::optional<double> Options::fill() {
  if (!has("mask")) return std::nullopt;
  check<FormatError>(text("mask") == "true keeps", "option mask: only true keeps is known, got ",
                     text("mask"));
  if (text("fill") == "zero row") return std::nullopt;
  return number("fill");
}

void Options::check_all_read() const {
  for (const auto& [name, value] : texts_)
    check<FormatError>(read_.contains(name), "option ", name, " = ", value, " is not known");
}

}  // namespace attograd::golden

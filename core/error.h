#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace attograd {

/// Everything the library throws derives from Error. The text reads `op: rule, got evidence; hint`.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ShapeError : Error {  // sizes, ranks and axes that do not fit
  using Error::Error;
};
struct DTypeError : Error {  // an element type that the operation does not take
  using Error::Error;
};
struct IndexError : Error {  // an index, id or label outside its range
  using Error::Error;
};
struct ValueError : Error {  // an option or number outside its domain
  using Error::Error;
};
struct GraphError : Error {  // misuse of the graph: freed, not scalar, nothing to differentiate
  using Error::Error;
};
struct NumericError : Error {  // NaN or infinity where training cannot go on
  using Error::Error;
};
struct FormatError : Error {  // a malformed file, or one that does not match the model
  using Error::Error;
};
struct FileError : Error {  // the operating system refused to open, read or write
  using Error::Error;
};

template <class E, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw E(text.str());
}

/// Throws E when `ok` is false. The parts are only formatted then, so a passing check costs a
/// branch.
template <class E, class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail<E>(parts...);
}

}  // namespace attograd

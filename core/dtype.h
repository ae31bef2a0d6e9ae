#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

#include <attograd/core/error.h>

namespace attograd {

/// Element types: f32 (the default) and f64 carry gradients; i64 holds indices, boolean holds
/// masks.
enum class DType : uint8_t { f32, f64, i64, boolean };

template <class T>
inline constexpr DType kDTypeOf = [] {
  static_assert(sizeof(T) == 0, "elements are float, double, int64_t or bool");
  return DType::f32;
}();
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::i64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::boolean;

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i64:
      return "i64";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

constexpr bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// The element types that an operation takes.
template <class... T>
struct Types {};
using Floating = Types<float, double>;
using Numeric = Types<float, double, int64_t>;
using AnyType = Types<float, double, int64_t, bool>;

template <class First, class... Rest>
std::ostream& operator<<(std::ostream& out, Types<First, Rest...>) {
  return ((out << kDTypeOf<First>) << ... << (out << " or ", kDTypeOf<Rest>));
}

/// Calls f.operator()<T>() with the C++ type of `dtype`. Throws DTypeError naming `op` if it is not
/// on the list.
template <class List = AnyType, class Left = List, class F>
decltype(auto) dispatch(std::string_view op, DType dtype, F&& f) {
  return [&]<class First, class... Rest>(Types<First, Rest...>) -> decltype(auto) {
    using Result = decltype(f.template operator()<First>());
    if constexpr (sizeof...(Rest) > 0) {
      if (dtype != kDTypeOf<First>) return dispatch<List, Types<Rest...>>(op, dtype, f);
    } else if (dtype != kDTypeOf<First>) {
      fail<DTypeError>(op, ": takes ", List{}, ", got ", dtype, "; convert with cast");
    }
    return static_cast<Result>(f.template operator()<First>());
  }(Left{});
}

/// Throws DTypeError naming `op` if the dtype is not on the list.
template <class List>
void check_dtype(std::string_view op, DType dtype) {
  dispatch<List>(op, dtype, []<class T>() {});
}

inline size_t size_of(DType dtype) {
  return dispatch("size_of", dtype, []<class T>() { return sizeof(T); });
}

}  // namespace attograd

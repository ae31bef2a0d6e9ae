#pragma once

#include <cstdint>
#include <type_traits>

namespace attograd::kernels {

/// f, where int64_t wraps around on overflow: C++ leaves overflow of signed integers undefined.
template <class F>
constexpr auto wrapping(F f) {
  return [f]<class T, class... Rest>(T first, Rest... rest) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<int64_t>(f(static_cast<uint64_t>(first), static_cast<uint64_t>(rest)...));
    } else {
      return f(first, rest...);
    }
  };
}

/// The larger number; NaN if either is.
inline constexpr auto larger = [](auto a, auto b) { return a > b || a != a ? a : b; };

/// The smaller number; NaN if either is.
inline constexpr auto smaller = [](auto a, auto b) { return a < b || a != a ? a : b; };

}  // namespace attograd::kernels

#pragma once

namespace attograd::kernels {

/// The widest vectors this CPU has that a kernel may be compiled for: 0 none beyond the build's
/// own, 1 AVX2 and FMA (x86-64-v3), 2 AVX-512 (x86-64-v4). A binary for plain x86-64 so runs at
/// full speed on any machine.
inline int vector_level() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  static const int level = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2"))
      return 0;
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? 2 : 1;
  }();
  return level;
#else
  return 0;
#endif
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

template <class F>
[[gnu::target("arch=x86-64-v3"), gnu::flatten]] void run_at_v3(const F& f) {
  f();
}

template <class F>
[[gnu::target("arch=x86-64-v4"), gnu::flatten]] void run_at_v4(const F& f) {
  f();
}

/// Runs f(), compiled once for each vector_level() with everything it calls inlined:
/// `vectorized([&] { loop; })`. It does by a call what `target_clones` does by an attribute, which
/// clang refuses on templates and whose resolver crashes under ThreadSanitizer. Lambdas and inline
/// functions that f calls in a loop should be small or marked
/// [[gnu::always_inline]]: clang flattens one level only. Call it once per row or chunk, not once
/// per element.
template <class F>
void vectorized(const F& f) {
  switch (vector_level()) {
    case 2:
      return run_at_v4(f);
    case 1:
      return run_at_v3(f);
    default:
      return f();
  }
}

#else

template <class F>
void vectorized(const F& f) {
  f();
}

#endif

}  // namespace attograd::kernels

#pragma once

#include <algorithm>
#include <cstdint>

namespace attograd::kernels {

/// Threads that kernels may use, the calling one included. Starts as OpenMP's own default
/// (OMP_NUM_THREADS, else the cores; 1 in a build without OpenMP).
int thread_count();

/// Sets thread_count() for the whole process; values below 1 count as 1.
void set_thread_count(int n);

/// Whether the caller already runs inside a parallel region, so that parallel_for would run
/// serially.
bool in_parallel_region();

/// Calls run(context, 0) ... run(context, chunks - 1), each once, on as many threads.
void run_chunks(int64_t chunks, void (*run)(void* context, int64_t chunk), void* context);

/// Elements of an ordinary loop, at a fraction of a nanosecond each, that are worth a thread of
/// their own; and the rows that hold as many.
inline constexpr int64_t kThreadWork = 16384;
constexpr int64_t row_grain(int64_t cols) { return kThreadWork / std::max<int64_t>(cols, 1) + 1; }

/// Calls f(begin, end) on contiguous parts of [0, n), one for each thread and none smaller than
/// about `grain`; the parts depend on n, grain and thread_count() alone. Serial, as f(0, n), if n
/// <= grain, if there is one thread or inside another parallel region. f must not throw.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  const int64_t chunks =
      std::min<int64_t>(thread_count(), (n - 1) / std::max<int64_t>(grain, 1) + 1);
  if (chunks <= 1 || in_parallel_region()) {
    f(int64_t{0}, n);
    return;
  }
  auto run_chunk = [&f, n, chunks](int64_t chunk) {
    const int64_t size = n / chunks, longer = n % chunks;  // the first `longer` parts have one more
    const int64_t begin = chunk * size + std::min(chunk, longer);
    f(begin, begin + size + (chunk < longer ? 1 : 0));
  };
  using Run = decltype(run_chunk);
  run_chunks(
      chunks, [](void* context, int64_t chunk) { (*static_cast<Run*>(context))(chunk); },
      &run_chunk);
}

}  // namespace attograd::kernels

#include <atomic>
#include <thread>
#include <vector>

#include <attograd/core/kernels/parallel.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace attograd::kernels {
namespace {

int default_thread_count() {
#if defined(_OPENMP)
  return std::max(1, omp_get_max_threads());
#else
  return 1;  // without a pool every region would start its threads anew
#endif
}

std::atomic<int>& threads() {
  static std::atomic<int> count{default_thread_count()};
  return count;
}

thread_local bool inside_region = false;

void run_inside(void (*run)(void*, int64_t), void* context, int64_t chunk) {
  inside_region = true;
  run(context, chunk);
  inside_region = false;
}

}  // namespace

int thread_count() { return threads().load(std::memory_order_relaxed); }

void set_thread_count(int n) { threads().store(std::max(1, n), std::memory_order_relaxed); }

bool in_parallel_region() {
#if defined(_OPENMP)
  if (omp_in_parallel()) return true;  // the user's own region
#endif
  return inside_region;
}

void run_chunks(int64_t chunks, void (*run)(void* context, int64_t chunk), void* context) {
#if defined(_OPENMP)
  // A loop over the chunks, so that a team smaller than asked for still runs them all.
#pragma omp parallel for num_threads(static_cast <int>(chunks)) schedule(static, 1)
  for (int64_t chunk = 0; chunk < chunks; ++chunk) run_inside(run, context, chunk);
#else
  std::vector<std::thread> others;
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    others.emplace_back(run_inside, run, context, chunk);
  }
  run_inside(run, context, 0);
  for (std::thread& other : others) other.join();
#endif
}

}  // namespace attograd::kernels

#include <algorithm>
#include <array>

#include <attograd/core/kernels/clones.h>
#include <attograd/core/kernels/dropout.h>
#include <attograd/core/kernels/parallel.h>
#include <attograd/core/kernels/philox.h>

namespace attograd::kernels {
namespace {

constexpr size_t kBlocks = 32;  // Philox blocks computed at once, one on each vector lane,
constexpr int64_t kElements = 4 * kBlocks;  // and the elements they decide on

/// The random words of elements [kElements group, kElements (group + 1)).
[[gnu::always_inline]] inline std::array<std::array<uint32_t, kBlocks>, 4> random_words(
    uint64_t seed, uint64_t counter, int64_t group) {
  std::array<std::array<uint32_t, kBlocks>, 4> words;
  for (size_t l = 0; l < kBlocks; ++l) {
    const uint64_t block = static_cast<uint64_t>(group) * kBlocks + l;
    words[0][l] = static_cast<uint32_t>(counter);
    words[1][l] = static_cast<uint32_t>(counter >> 32);
    words[2][l] = static_cast<uint32_t>(block);
    words[3][l] = static_cast<uint32_t>(block >> 32);
  }
  philox4x32(words, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return words;
}

}  // namespace

template <class T>
void dropout(int64_t n, double p, uint64_t seed, uint64_t counter, const T* x, T* y) {
  if (p >= 1) {
    std::fill(y, y + n, T{0});
    return;
  }
  const auto limit =
      static_cast<uint32_t>(p * 4294967296.0);  // a word is below it with probability p
  const T scale = static_cast<T>(1 / (1 - p));
  parallel_for((n + kElements - 1) / kElements, kThreadWork / 4 / kElements,
               [=](int64_t begin, int64_t end) {
                 vectorized([&] {
                   for (int64_t group = begin; group < end; ++group) {
                     const auto words = random_words(seed, counter, group);
                     const uint32_t* word = words[0].data();
                     const int64_t first = group * kElements,
                                   count = std::min(kElements, n - first);
#pragma omp simd
                     for (int64_t i = 0; i < count; ++i) {
                       y[first + i] = word[i] >= limit ? x[first + i] * scale : T{0};
                     }
                   }
                 });
               });
}

template void dropout(int64_t, double, uint64_t, uint64_t, const float*, float*);
template void dropout(int64_t, double, uint64_t, uint64_t, const double*, double*);

}  // namespace attograd::kernels

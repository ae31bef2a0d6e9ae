#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace attograd::kernels {

/// Philox4x32-10 (Salmon et al. 2011, section 3.3) on N counters at once: counter[w][l] is word w
/// of the l-th. Turns each into four random words that are a pure function of counter and key, so
/// that any element of a stream is had without those before it, on any machine and in any order.
template <size_t N>
constexpr void philox4x32(std::array<std::array<uint32_t, N>, 4>& counter,
                          std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    for (size_t l = 0; l < N; ++l) {
      const uint64_t product0 = uint64_t{0xD2511F53} * counter[0][l];
      const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2][l];
      counter[0][l] = static_cast<uint32_t>(product1 >> 32) ^ counter[1][l] ^ key[0];
      counter[1][l] = static_cast<uint32_t>(product1);
      counter[2][l] = static_cast<uint32_t>(product0 >> 32) ^ counter[3][l] ^ key[1];
      counter[3][l] = static_cast<uint32_t>(product0);
    }
    key[0] += 0x9E3779B9;  // the golden ratio
    key[1] += 0xBB67AE85;  // sqrt(3) - 1
  }
}

/// The same for one counter.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                             std::array<uint32_t, 2> key) {
  std::array<std::array<uint32_t, 1>, 4> one = {
      {{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}}};
  philox4x32(one, key);
  return {one[0][0], one[1][0], one[2][0], one[3][0]};
}

}  // namespace attograd::kernels

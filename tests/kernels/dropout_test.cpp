#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/dropout.h>
#include <attograd/core/kernels/philox.h>

namespace attograd::kernels {
namespace {

constexpr uint64_t kSeed = 0x123456789abcdef0, kCounter = 0x0fedcba987654321;

/// The word that decides on element i, one Philox block at a time.
uint32_t word(uint64_t i) {
  const uint64_t block = 32 * (i / 128) + i % 32;
  return philox4x32({static_cast<uint32_t>(kCounter), static_cast<uint32_t>(kCounter >> 32),
                     static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32)},
                    {static_cast<uint32_t>(kSeed), static_cast<uint32_t>(kSeed >> 32)})[i / 32 % 4];
}

TEST_CASE_TEMPLATE("dropout keeps what its words say and scales it", T, float, double) {
  for (const int64_t n : {0, 1, 7, 31, 32, 33, 127, 128, 129, 1000}) {
    for (const double p : {0.0, 0.25, 0.9}) {
      const Doubles x = normals(n, 1);
      std::vector<T> y(x.size(), 7), wanted;
      dropout(n, p, kSeed, kCounter, as<T>(x).data(), y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const bool keep = static_cast<double>(word(i)) >= p * 0x1p32;
        wanted.push_back(keep ? static_cast<T>(x[i]) * static_cast<T>(1 / (1 - p)) : 0);
      }
      CHECK(y == wanted);
    }
  }
}

TEST_CASE_TEMPLATE("p 1 gives zeros for anything and p 0 nothing but x", T, float, double) {
  const auto x = as<T>({2, -3, kInfinity, kNaN});
  std::vector<T> y(4, 7);
  dropout(4, 1, kSeed, kCounter, x.data(), y.data());
  CHECK(doubles(y) == Doubles{0, 0, 0, 0});
  dropout(4, 0, kSeed, kCounter, x.data(), y.data());
  CHECK(std::equal(x.begin(), x.begin() + 3, y.begin()));
  CHECK(std::isnan(y[3]));
}

TEST_CASE("a dropped value leaves nothing behind") {
  const std::vector<float> x(1000, static_cast<float>(kNaN));
  std::vector<float> y(1000);
  dropout(1000, 0.5, kSeed, kCounter, x.data(), y.data());
  const auto zeros = std::count(y.begin(), y.end(), 0.0f);
  CHECK(zeros > 400);
  CHECK(zeros < 600);
}

TEST_CASE("the share of dropped elements is p") {
  // 10^6 draws: five standard deviations are 5 sqrt(p (1 - p) / 10^6) = 0.0015.
  const std::vector<float> x(1000000, 1.0f);
  std::vector<float> y(x.size());
  dropout(1000000, 0.1, kSeed, kCounter, x.data(), y.data());
  const auto zeros = static_cast<double>(std::count(y.begin(), y.end(), 0.0f));
  CHECK(std::fabs(zeros / 1e6 - 0.1) < 0.0015);
  std::vector<float> other(x.size());
  dropout(1000000, 0.1, kSeed, kCounter + 1, x.data(), other.data());
  CHECK(other != y);
}

}  // namespace
}  // namespace attograd::kernels

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/kernels/philox.h>
#include <attograd/core/random.h>

namespace attograd {
namespace {

using Words = std::array<uint32_t, 4>;

template <class Draw>
auto draws(size_t n, Draw draw) {
  std::vector<decltype(draw())> out(n);
  std::generate(out.begin(), out.end(), draw);
  return out;
}

TEST_CASE("philox gives the known answers of its authors") {
  // kat_vectors of Random123 (Salmon et al. 2011): counter and key all 0; all 1; digits of pi
  CHECK(kernels::philox4x32({0, 0, 0, 0}, {0, 0}) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t kOnes = 0xffffffff;
  CHECK(kernels::philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(kernels::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                            {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// The numbers below come from a second implementation, in Python with 50-digit logarithms.

TEST_CASE("words are those of the blocks under the seed") {
  Rng zero(0);
  CHECK(draws(4, [&] { return zero.next_u32(); }) ==
        std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  Rng wide(0x0123456789abcdef);
  CHECK(draws(6, [&] { return wide.next_u32(); }) == std::vector<uint32_t>{0xb850222e, 0xc58cb04b,
                                                                           0x14a7a020, 0x7a84fff9,
                                                                           0xfa9dff5e, 0x6c10844b});
  Rng one(1);
  CHECK(draws(4, [&] { return one.next_u64(); }) ==
        std::vector<uint64_t>{0xe50a0ebce3e80670, 0xb615aa2795f222c0, 0x428264b607071c12,
                              0x6da2bda23909104b});
}

TEST_CASE("uniform and below have the expected values") {
  Rng uniform(1);
  CHECK(draws(4, [&] { return uniform.uniform(); }) ==
        std::vector<double>{0x1.ca141d79c7d00p-1, 0x1.6c2b544f2be44p-1, 0x1.0a0992d81c1c6p-2,
                            0x1.b68af688e4244p-2});
  Rng below(1);
  CHECK(draws(12, [&] { return below.below(10); }) ==
        std::vector<int64_t>{8, 4, 8, 9, 9, 6, 9, 3, 4, 5, 0, 4});
  CHECK(draws(4, [&] { return below.below(int64_t{3} << 61); }) ==
        std::vector<int64_t>{502348335689151467, 1884169297977967965, 5825870812139542577,
                             2360350304448719173});
}

TEST_CASE("normal numbers are right and on every platform the same bits") {
  Rng rng(1);
  const std::vector<double> z = draws(6, [&] { return rng.normal(); });
  const double exact[] = {0x1.2c2afef5767e0p-1,  -0x1.97a3ba87e0d14p+0, 0x1.eb44fbe8f563fp-5,
                          -0x1.3e99c32c1a3e0p-1, 0x1.fa676236d5744p-1,  0x1.86bc2d1090545p+0};
  // The logarithm, a quotient, a root and a product: a few roundings of 2^-53 each.
  for (size_t i = 0; i < z.size(); ++i) CHECK(std::abs(z[i] / exact[i] - 1) < 1e-15);
  CHECK(z == std::vector<double>{0x1.2c2afef5767e1p-1, -0x1.97a3ba87e0d14p+0, 0x1.eb44fbe8f563fp-5,
                                 -0x1.3e99c32c1a3e0p-1, 0x1.fa676236d5744p-1,
                                 0x1.86bc2d1090545p+0});
  CHECK(rng.state().position == 28);
}

TEST_CASE("normal numbers agree with the logarithm of the standard library") {
  Rng rng(9);
  Rng twin = rng;
  for (int i = 0; i < 10000; ++i) {
    double u = 0, s = 0;
    while (s == 0 || s >= 1) {
      u = 2 * twin.uniform() - 1;
      const double v = 2 * twin.uniform() - 1;
      s = u * u + v * v;
    }
    CHECK(std::abs(rng.normal() / (u * std::sqrt(-2 * std::log(s) / s)) - 1) < 1e-15);
  }
}

TEST_CASE("uniform numbers fill the unit interval evenly") {
  Rng rng(2);
  constexpr int kDraws = 100000, kBins = 20;
  std::vector<int> counts(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    ++counts[static_cast<size_t>(u * kBins)];
  }
  // Binomial: standard deviation sqrt(n p (1 - p)) = 69; 5 of them.
  for (int count : counts) CHECK(std::abs(count - kDraws / kBins) < 345);
}

TEST_CASE("normal numbers have the moments and the tails of the normal distribution") {
  Rng rng(3);
  constexpr int kDraws = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  int beyond_2 = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = rng.normal();
    m1 += z / kDraws;
    m2 += z * z / kDraws;
    m3 += z * z * z / kDraws;
    m4 += z * z * z * z / kDraws;
    beyond_2 += std::abs(z) > 2;
  }
  // Var z^k = E z^2k - (E z^k)^2 = 1, 2, 15, 96; 5 standard deviations of the mean of n.
  const double unit = 5 / std::sqrt(kDraws);
  CHECK(std::abs(m1) < unit);
  CHECK(std::abs(m2 - 1) < unit * std::sqrt(2));
  CHECK(std::abs(m3) < unit * std::sqrt(15));
  CHECK(std::abs(m4 - 3) < unit * std::sqrt(96));
  const double p = std::erfc(std::sqrt(2));
  CHECK(std::abs(beyond_2 / double{kDraws} - p) < unit * std::sqrt(p * (1 - p)));
}

TEST_CASE("below favours no number even where 2^64 is no multiple of n") {
  Rng rng(4);
  // Remainders of all 64-bit words would lie in the lower half with probability 0.5625.
  constexpr int64_t kRange = int64_t{3} << 61;
  constexpr int kDraws = 20000;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += rng.below(kRange) < kRange / 2;
  CHECK(std::abs(low / double{kDraws} - 0.5) < 5 * 0.5 / std::sqrt(kDraws));

  std::vector<int> counts(7);
  for (int i = 0; i < 7 * kDraws; ++i) ++counts[static_cast<size_t>(rng.below(7))];
  for (int count : counts) CHECK(std::abs(count - kDraws) < 5 * std::sqrt(kDraws));

  CHECK(rng.below(1) == 0);
  CHECK_THROWS_WITH_AS(rng.below(0), "below: n must be >= 1, got 0", ValueError);
  CHECK_THROWS_AS(rng.below(-3), ValueError);
}

TEST_CASE("a state that was saved anywhere continues with the same numbers") {
  for (int before = 0; before < 9; ++before) {
    Rng rng(5);
    for (int i = 0; i < before; ++i) rng.next_u32();
    rng.next_stream();
    const RngState saved = rng.state();
    const auto expected = draws(10, [&] { return rng.next_u32(); });
    const double normal = rng.normal();
    const uint64_t stream = rng.next_stream().counter;

    Rng other(99);
    other.next_u32();
    other.set_state(saved);
    CHECK(other.state() == saved);
    CHECK(draws(10, [&] { return other.next_u32(); }) == expected);
    CHECK(other.normal() == normal);
    CHECK(other.next_stream().counter == stream);
    CHECK(other.state() == rng.state());
  }
}

TEST_CASE("streams differ from each other and leave the draws of the generator alone") {
  Rng rng(6), untouched(6);
  std::set<uint64_t> counters = {0};  // the generator's own
  for (int i = 0; i < 5; ++i) {
    const RandomStream stream = rng.next_stream();
    CHECK(stream.seed == 6);
    CHECK(counters.insert(stream.counter).second);
  }
  CHECK(rng.next_u64() == untouched.next_u64());
}

TEST_CASE("randn and rand draw one element after the other whatever the shapes") {
  Rng whole(7), parts(7), numbers(7);
  const auto all = randn({2, 3}, whole, DType::f64).to_vector<double>();
  auto pieces = randn({2}, parts, DType::f64).to_vector<double>();
  const auto rest = randn({4, 1}, parts, DType::f64).to_vector<double>();
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  CHECK(pieces == all);
  CHECK(draws(6, [&] { return numbers.normal(); }) == all);
  CHECK(rand({3}, whole, DType::f64).to_vector<double>() ==
        draws(3, [&] { return numbers.uniform(); }));
  CHECK(randn({0, 3}, whole).numel() == 0);
  CHECK(randn({}, whole).shape() == Shape{});
  CHECK_FALSE(randn({2}, whole).requires_grad());
  CHECK_THROWS_AS(randn({2}, whole, DType::i64), DTypeError);
  CHECK_THROWS_AS(rand({2}, whole, DType::boolean), DTypeError);
}

TEST_CASE("f32 numbers are the f64 numbers and uniform ones stay below 1") {
  Rng single(8), twice(8);
  const auto z32 = randn({100}, single).to_vector<float>();
  const auto z64 = randn({100}, twice, DType::f64).to_vector<double>();
  for (size_t i = 0; i < z32.size(); ++i) CHECK(z32[i] == static_cast<float>(z64[i]));
  const auto u32 = rand({100}, single).to_vector<float>();
  const auto u64 = rand({100}, twice, DType::f64).to_vector<double>();
  for (size_t i = 0; i < u32.size(); ++i) {
    CHECK(u32[i] <= u64[i]);
    CHECK(u64[i] - double{u32[i]} < 0x1p-24);
  }
  CHECK(single.state() == twice.state());

  // A draw so near to 1 that rounding it to the nearest f32 gives 1.
  constexpr RngState kNearOne{.seed = 1, .position = 1622660};
  single.set_state(kNearOne);
  REQUIRE(static_cast<float>(single.uniform()) == 1);
  single.set_state(kNearOne);
  CHECK(rand({}, single).item() == 1 - 0x1p-24);
}

}  // namespace
}  // namespace attograd

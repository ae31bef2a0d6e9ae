#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attograd::kernels {

// Elementary functions without branches or calls, so that loops over them vectorise. Each is right
// at infinities, NaN, zeros and denormals; the error is stated in units of the last place (ULP) of
// the result, the largest over all floats. The polynomials are minimax fits in relative error with
// coefficients rounded one after the other. The double versions are the standard library's: double
// is for checking, not for speed.

/// yes ? a : b, as bits: from a conditional the compiler may make branches with a copy of what
/// follows in each.
[[gnu::always_inline]] inline float select(bool yes, float a, float b) {
  const uint32_t mask = -static_cast<uint32_t>(yes);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(a) & mask) |
                              (std::bit_cast<uint32_t>(b) & ~mask));
}

/// x = n ln 2 + r with |r| <= ln(2) / 2, and e^r. n is in the low bits of shifted, whose value
/// is 1.5 2^23 + n.
struct ReducedExp {
  float shifted, exp_r;
};

[[gnu::always_inline]] inline ReducedExp reduced_exp(float x, float low) {
  constexpr float kShift = 12582912;  // 1.5 2^23: adding it rounds to an integer
  constexpr float kLog2e = 1.44269504f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // n kLn2High is exact
  const float shifted = x * kLog2e + kShift;
  const float n = shifted - kShift;
  const float r = x - n * kLn2High - n * kLn2Low + low;
  float p = 0.00138189388f;
  p = p * r + 0.00836870354f;
  p = p * r + 0.0416682884f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  return {shifted, 1 + (r + r * r * p)};
}

/// e^x. At most 1 ULP.
[[gnu::always_inline]] inline float exp(float x) {
  const auto [shifted, exp_r] = reduced_exp(select(x < -105, -105, select(x > 89, 89, x)), 0);
  // 2^n in two factors: one alone reaches neither the denormals nor overflow.
  const auto n = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - 0x4B400000u);
  const auto power = [](int32_t e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return exp_r * power(n >> 1) * power(n - (n >> 1));
}

/// e^(x + low) for x <= 0 and |low| < 0.01, where denormal results count as 0: what a softmax
/// needs, a third faster. At most 1 ULP. The low part carries what rounding took from a computed
/// exponent.
[[gnu::always_inline]] inline float exp_weight(float x, float low = 0) {
  const auto [shifted, exp_r] = reduced_exp(x, low);
  const auto power = std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) << 23) + (127u << 23));
  return select(x < -87.3f, 0, exp_r * power);
}

/// Natural logarithm; log(0) = -inf, NaN below. At most 1 ULP.
[[gnu::always_inline]] inline float log(float x) {
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kSmallest = std::numeric_limits<float>::min();
  const bool denormal = x < kSmallest;
  const auto bits = std::bit_cast<uint32_t>(denormal ? x * 8388608.0f : x);  // 2^23
  const int32_t exponent =
      static_cast<int32_t>(bits - 0x3F3504F3u) >> 23;  // x = 2^exponent (1 + f),
  const float f = std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23)) -
                  1;  // sqrt(1/2) <= 1 + f
  const float n = static_cast<float>(exponent) - (denormal ? 23.0f : 0.0f);
  float p = 0.0674917474f;
  p = p * f - 0.116700158f;
  p = p * f + 0.118835382f;
  p = p * f - 0.124062404f;
  p = p * f + 0.142203599f;
  p = p * f - 0.166679889f;
  p = p * f + 0.200020716f;
  p = p * f - 0.250000089f;
  p = p * f + 0.333333135f;
  const float tail = f * f * (f * p - 0.5f) + n * kLn2Low;
  const float y = n * kLn2High + (f + tail);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special = x == 0 ? -kInfinity : x > 0 ? x : std::numeric_limits<float>::quiet_NaN();
  return x > 0 && x < kInfinity ? y : special;
}

/// 1 / (1 + e^-x). At most 3 ULP.
[[gnu::always_inline]] inline float sigmoid(float x) {
  const float e = exp(-std::fabs(x));  // of the negative side, where nothing overflows
  return select(x < 0, e, 1) / (1 + e);
}

/// At most 2 ULP.
[[gnu::always_inline]] inline float tanh(float x) {
  const float a = std::fabs(x);
  const float s = a * a;
  float p = -0.00569229666f;
  p = p * s + 0.0206281673f;
  p = p * s - 0.0537365153f;
  p = p * s + 0.133314058f;
  p = p * s - 0.333332807f;
  const float small = a + a * s * p;
  const float large = 1 - 2 / (exp(2 * a) + 1);
  return std::copysign(select(a < 0.625f, small, large), x);
}

/// e^(z^2) erfc(z) for 0 <= z. At most 6 ULP up to z = 10.
[[gnu::always_inline]] inline float scaled_erfc(float z) {
  const float t = 1 / (1 + 0.46f * z);
  float p = -0.0255856011f;
  p = p * t + 0.0958615616f;
  p = p * t - 0.065816544f;
  p = p * t - 0.154909521f;
  p = p * t + 0.181652069f;
  p = p * t + 0.0172280762f;
  p = p * t + 0.205339834f;
  p = p * t + 0.22662504f;
  p = p * t + 0.260103613f;
  p = p * t + 0.259501457f;
  return p * t;
}

/// At most 2 ULP.
[[gnu::always_inline]] inline float erf(float x) {
  const float a = std::fabs(x);
  const float s = a * a;
  float p = -0.000494693464f;
  p = p * s + 0.00480334274f;
  p = p * s - 0.0266454574f;
  p = p * s + 0.112786494f;
  p = p * s - 0.376122028f;
  p = p * s + 0.12837911f;
  const float small = a + a * p;
  const float large = 1 - exp_weight(-s) * scaled_erfc(a);
  return std::copysign(select(a < 0.85f, small, large), x);
}

/// x, or the lowest number there is for -inf: times 0, that is 0. NaN stays.
template <class T>
[[gnu::always_inline]] inline T bounded_below(T x) {
  constexpr T kLargest = std::numeric_limits<T>::max();
  return x < -kLargest ? -kLargest : x;
}

/// The same on both sides.
template <class T>
[[gnu::always_inline]] inline T bounded(T x) {
  constexpr T kLargest = std::numeric_limits<T>::max();
  return x > kLargest ? kLargest : bounded_below(x);
}

inline double exp(double x) { return std::exp(x); }
inline double exp_weight(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1 + e);
}

}  // namespace attograd::kernels

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

/// e^(x + low), |low| <= 2^-8 |x| + 2^-8. At most 1 ULP. The low part carries what rounding took
/// from a computed exponent, whose error would be multiplied by its size.
[[gnu::always_inline]] inline float exp(float x, float low = 0) {
  constexpr float kShift =
      12582912;  // 1.5 2^23: adding it rounds to an integer, kept in the low bits
  constexpr float kLog2e = 1.44269504f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // n kLn2High is exact
  const float c = x < -105.0f ? -105.0f : x > 89.0f ? 89.0f : x;       // 0 and inf from there on
  const float shifted = c * kLog2e + kShift;
  const float n = shifted - kShift;
  const float r = c - n * kLn2High - n * kLn2Low + low;
  float p = 0.00138189388f;
  p = p * r + 0.00836870354f;
  p = p * r + 0.0416682884f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  p = 1 + (r + r * r * p);
  // 2^n in two factors: one alone cannot reach the denormals.
  const auto exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - 0x4B400000u);
  const int32_t half = exponent >> 1;
  const auto power = [](int32_t e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return p * power(half) * power(exponent - half);
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
  return (x < 0 ? e : 1.0f) / (1 + e);
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
  return std::copysign(a < 0.625f ? small : large, x);
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
  const float large = 1 - exp(-s) * scaled_erfc(a);
  return std::copysign(a < 0.85f ? small : large, x);
}

inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1 + e);
}

}  // namespace attograd::kernels

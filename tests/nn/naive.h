#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include <tests/op_cases/op_cases.h>

#include <attograd/nn/attention.h>
#include <attograd/nn/feed_forward.h>
#include <attograd/nn/layer_norm.h>

// Modules once more, as plain loops over numbers, from the formulas alone.
namespace attograd::nn::naive {

using op_cases::Numbers;
using op_cases::numbers;

/// x [B, T, in] -> [B, T, out]
inline Numbers linear(const Numbers& x, const Linear& map) {
  const Numbers w = numbers(map.weight);
  Numbers y({x.shape[0], x.shape[1], w.shape[0]});
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t t = 0; t < x.shape[1]; ++t)
      for (int64_t o = 0; o < w.shape[0]; ++o) {
        if (map.bias.defined()) y(b, t, o) = numbers(map.bias)(o);
        for (int64_t i = 0; i < w.shape[1]; ++i) y(b, t, o) += w(o, i) * x(b, t, i);
      }
  return y;
}

/// x [B, T, C] -> [B, T, C]
inline Numbers layer_norm(const Numbers& x, const LayerNorm& norm) {
  const int64_t width = x.shape[2];
  Numbers y(x.shape);
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t t = 0; t < x.shape[1]; ++t) {
      double mean = 0;
      double variance = 0;
      for (int64_t c = 0; c < width; ++c) mean += x(b, t, c) / static_cast<double>(width);
      for (int64_t c = 0; c < width; ++c)
        variance += (x(b, t, c) - mean) * (x(b, t, c) - mean) / static_cast<double>(width);
      for (int64_t c = 0; c < width; ++c) {
        y(b, t, c) = (x(b, t, c) - mean) / std::sqrt(variance + norm.eps) * numbers(norm.weight)(c);
        if (norm.bias.defined()) y(b, t, c) += numbers(norm.bias)(c);
      }
    }
  return y;
}

inline double activate(double x, Activation f) {
  switch (f) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return x * (1 + std::erf(x / std::numbers::sqrt2)) / 2;
    case Activation::gelu_tanh:
      return x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))) / 2;
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// x [B, T, C] -> [B, T, C]
inline Numbers feed_forward(const Numbers& x, const FeedForward& module) {
  Numbers h = linear(x, module.up);
  const Numbers gate = module.gate ? linear(x, *module.gate) : h;
  for (size_t i = 0; i < h.values.size(); ++i) {
    const double f = activate(gate.values[i], module.options.activation);
    h.values[i] = module.gate ? f * h.values[i] : f;
  }
  return linear(h, module.down);
}

/// Whether query t of sequence b may see key s.
using Sees = std::function<bool(int64_t b, int64_t t, int64_t s)>;
inline bool sees_all(int64_t, int64_t, int64_t) { return true; }

struct Attended {
  Numbers y;        // [B, T, C]
  Numbers weights;  // [B, H, T, S]
};

/// query [B, T, C], key and value [B, S, .]; channel h D + d belongs to head h.
inline Attended attention(const Numbers& query, const Numbers& key, const Numbers& value,
                          const MultiHeadAttention& module, double temperature,
                          const Sees& sees = sees_all) {
  const Numbers q = linear(query, module.query);
  const Numbers k = linear(key, module.key);
  const Numbers v = linear(value, module.value);
  const int64_t heads = module.heads;
  const int64_t d_k = q.shape[2] / heads;
  const int64_t d_v = v.shape[2] / heads;
  Numbers weights({q.shape[0], heads, q.shape[1], k.shape[1]});
  Numbers mixed({q.shape[0], q.shape[1], heads * d_v});
  for (int64_t b = 0; b < q.shape[0]; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < q.shape[1]; ++t) {
        double sum = 0;
        for (int64_t s = 0; s < k.shape[1]; ++s) {
          double score = 0;
          for (int64_t d = 0; d < d_k; ++d) score += q(b, t, h * d_k + d) * k(b, s, h * d_k + d);
          weights(b, h, t, s) = sees(b, t, s) ? std::exp(score / temperature) : 0;
          sum += weights(b, h, t, s);
        }
        for (int64_t s = 0; s < k.shape[1]; ++s) {
          if (sum > 0) weights(b, h, t, s) /= sum;
          for (int64_t d = 0; d < d_v; ++d)
            mixed(b, t, h * d_v + d) += weights(b, h, t, s) * v(b, s, h * d_v + d);
        }
      }
  return {linear(mixed, module.output), weights};
}

/// The largest |a - b| over max(1, largest |b|); infinite for different shapes or NaN.
inline double distance(const Tensor& a, const Numbers& b) {
  if (a.shape() != b.shape) return std::numeric_limits<double>::infinity();
  const Numbers got = numbers(a);
  double largest = 0;
  double scale = 1;
  for (size_t i = 0; i < b.values.size(); ++i) {
    const double difference = std::abs(got.values[i] - b.values[i]);
    if (!(difference <= largest))
      largest = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    scale = std::max(scale, std::abs(b.values[i]));
  }
  return largest / scale;
}

}  // namespace attograd::nn::naive

#include <cmath>
#include <numbers>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/kernels/philox.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

// ---- linear ----

/// Over all vectors of x, whatever axes they come from.
Numbers naive_linear(const In& x) {
  const int64_t in = x[1].shape[1], out = x[1].shape[0];
  Shape shape = x[0].shape;
  shape[shape.rank() - 1] = out;
  Numbers y(shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / out, o = static_cast<int64_t>(i) % out;
    y.values[i] = x.size() == 3 ? x[2](o) : 0;
    for (int64_t k = 0; k < in; ++k)
      y.values[i] += x[0].values[static_cast<size_t>(row * in + k)] * x[1](o, k);
  }
  return y;
}

void add_linear(Table& t) {
  const auto call = [](const Tensors& x) {
    return linear(x[0], x[1], x.size() == 3 ? x[2] : Tensor());
  };
  const auto add = [&](std::string label, std::vector<Input> inputs) {
    t.cases.push_back({.op = "linear",
                       .label = std::move(label),
                       .inputs = std::move(inputs),
                       .call = call,
                       .naive = naive_linear});
  };
  add("", {normal({2, 3, 4}), normal({5, 4}), normal({5})});
  add("of one vector", {normal({4}), normal({5, 4}), normal({5})});
  add("without bias", {normal({3, 4}), normal({2, 4})});
  add("of no vectors", {normal({0, 4}), normal({2, 4}), normal({2})});
  add("of empty vectors", {normal({3, 0}), normal({2, 0}), normal({2})});
  add("square", {normal({3, 3}), normal({3, 3}), normal({3})});
  t.errors.push_back(refuses<ShapeError>(
      "linear",
      [] {
        linear(zeros({8, 64}), zeros({64, 32}), {});
      },
      "linear: x must be [..., in] and weight [out, in], got x = f32[8, 64], weight = f32[64, 32]; "
      "did you mean transpose(weight)?"));
  t.errors.push_back(refuses<ShapeError>(
      "linear",
      [] {
        linear(zeros({}), zeros({4, 2}), {});
      },
      "linear: x must be [..., in] and weight [out, in], got x = f32[], weight = f32[4, 2]"));
  t.errors.push_back(refuses<ShapeError>(
      "linear",
      [] {
        linear(zeros({3, 2}), zeros({4, 2}), zeros({2}));
      },
      "linear: bias must be [out] = [4], got bias = f32[2], weight = f32[4, 2]"));
  t.errors.push_back(refuses<DTypeError>(
      "linear",
      [] {
        linear(zeros({3, 2}), zeros({4, 2}, DType::f64), {});
      },
      "linear: x and weight must both be f32 or both f64, got x = f32[3, 2], weight = f64[4, 2]; "
      "convert with cast(x, DType::f32)"));
  t.errors.push_back(refuses<DTypeError>(
      "linear",
      [] {
        linear(zeros({3, 2}), zeros({4, 2}), zeros({4}, DType::f64));
      },
      "linear: bias must have the dtype of x, got bias = f64[4], x = f32[3, 2]; convert with "
      "cast(bias, DType::f32)"));
}

// ---- normalization ----

/// (x - centre) / sqrt(mean((x - centre)^2) + eps) for every vector, the centre being its mean or
/// 0; then, where there are more inputs, times weight, plus bias.
Naive naive_norm(bool centred, double eps) {
  return [centred, eps](const In& in) {
    Numbers y(in[0].shape);
    const auto c = static_cast<size_t>(y.shape[y.shape.rank() - 1]);
    for (size_t first = 0; first < y.values.size(); first += c) {
      double mean = 0, square = 0;
      for (size_t i = 0; i < c; ++i)
        mean += centred ? in[0].values[first + i] / static_cast<double>(c) : 0;
      for (size_t i = 0; i < c; ++i)
        square += std::pow(in[0].values[first + i] - mean, 2) / static_cast<double>(c);
      for (size_t i = 0; i < c; ++i) {
        const double n = (in[0].values[first + i] - mean) / std::sqrt(square + eps);
        y.values[first + i] = n * (in.size() > 1 ? in[1].values[i] : 1);
        if (in.size() > 2) y.values[first + i] += in[2].values[i];
      }
    }
    return y;
  };
}

void add_layer_norm(Table& t) {
  const auto add = [&](std::string label, std::vector<Input> inputs, double eps,
                       std::vector<Input> large = {}) {
    t.cases.push_back({.op = "layer_norm",
                       .label = std::move(label),
                       .inputs = std::move(inputs),
                       .call =
                           [eps](const Tensors& x) {
                             return layer_norm(x[0], x.size() > 1 ? x[1] : Tensor(),
                                               x.size() > 2 ? x[2] : Tensor(), eps);
                           },
                       .naive = naive_norm(true, eps),
                       .large = std::move(large)});
  };
  const Input w = normal({5}), b = normal({5});
  add("", {normal({3, 5}), w, b}, 1e-5, {normal({300, 301}), normal({301}), normal({301})});
  add("with a large eps", {normal({3, 5}), w, b}, 0.5);
  add("without bias", {normal({3, 5}), w}, 1e-5);
  add("without weight and bias", {normal({2, 3, 5})}, 1e-5);
  add("of one vector", {normal({5}), w, b}, 1e-5);
  add("of single numbers", {normal({3, 1}), normal({1}), normal({1})}, 0.1);
  add("of no vectors", {normal({0, 5}), w, b}, 1e-5);
  add("of empty vectors", {normal({2, 0}), normal({0}), normal({0})}, 1e-5);
  t.cases.push_back({.op = "layer_norm",
                     .label = "without weight",
                     .inputs = {normal({3, 5}), b},
                     .call = [](const Tensors& x) { return layer_norm(x[0], {}, x[1]); }});
  t.errors.push_back(refuses<ShapeError>(
      "layer_norm",
      [] {
        layer_norm(zeros({2, 3}), zeros({2}), {});
      },
      "layer_norm: weight must be [3], the last axis of x, got weight = f32[2], x = f32[2, 3]"));
  t.errors.push_back(refuses<DTypeError>(
      "layer_norm",
      [] {
        layer_norm(zeros({2, 3}), {}, zeros({3}, DType::f64));
      },
      "layer_norm: bias must have the dtype of x, got bias = f64[3], x = f32[2, 3]; convert with "
      "cast(bias, DType::f32)"));
  t.errors.push_back(refuses<ShapeError>(
      "layer_norm", [] { layer_norm(zeros({}), {}, {}); },
      "layer_norm: x must be [..., C], got x = f32[]"));
  t.errors.push_back(refuses<ValueError>(
      "layer_norm",
      [] {
        layer_norm(zeros({2, 3}), {}, {}, 0);
      },
      "layer_norm: eps must be > 0 and finite, got 0"));
}

void add_rms_norm(Table& t) {
  const auto add = [&](std::string label, std::vector<Input> inputs, double eps,
                       std::vector<Input> large = {}) {
    t.cases.push_back({.op = "rms_norm",
                       .label = std::move(label),
                       .inputs = std::move(inputs),
                       .call =
                           [eps](const Tensors& x) {
                             return rms_norm(x[0], x.size() > 1 ? x[1] : Tensor(), eps);
                           },
                       .naive = naive_norm(false, eps),
                       .large = std::move(large)});
  };
  add("", {normal({3, 5}), normal({5})}, 1e-5, {normal({300, 301}), normal({301})});
  add("with a large eps", {normal({3, 5}), normal({5})}, 0.5);
  add("without weight", {normal({2, 3, 5})}, 1e-5);
  add("of no vectors", {normal({0, 5}), normal({5})}, 1e-5);
  add("of empty vectors", {normal({2, 0}), normal({0})}, 1e-5);
  t.errors.push_back(refuses<DTypeError>(
      "rms_norm", [] { rms_norm(arange(0, 3), {}); },
      "rms_norm: x must be f32 or f64, got x = i64[3]"));
  t.errors.push_back(refuses<ValueError>(
      "rms_norm",
      [] {
        rms_norm(zeros({2, 3}), {}, -1);
      },
      "rms_norm: eps must be > 0 and finite, got -1"));
}

// ---- gelu and dropout ----

void add_gelu(Table& t) {
  t.cases.push_back(
      {.op = "gelu",
       .inputs = {normal({2, 3}, 2)},
       .call = [](const Tensors& x) { return gelu(x[0]); },
       .naive = each([](double v) { return v * std::erfc(-v / std::numbers::sqrt2) / 2; }),
       .elementwise = true});
  t.cases.push_back({.op = "gelu",
                     .label = "tanh",
                     .inputs = {normal({2, 3}, 2)},
                     .call = [](const Tensors& x) { return gelu(x[0], GeluForm::tanh); },
                     .naive = each([](double v) {
                       const double u =
                           std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v);
                       return v / (1 + std::exp(-2 * u));
                     }),
                     .elementwise = true});
  t.errors.push_back(refuses<DTypeError>(
      "gelu", [] { gelu(arange(0, 3)); }, "gelu: takes f32 or f64, got i64; convert with cast"));
  t.errors.push_back(refuses<ValueError>(
      "gelu", [] { gelu(zeros({2}), static_cast<GeluForm>(2)); }, "gelu: no such form, got 2"));
}

/// Element i is decided by word (i / 32) % 4 of the Philox block 32 (i / 128) + i % 32.
Numbers naive_dropout(const Numbers& x, double p, uint32_t seed, uint32_t stream) {
  Numbers y(x.shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    const auto block = static_cast<uint32_t>(32 * (i / 128) + i % 32);
    const uint32_t word = kernels::philox4x32({stream, 0, block, 0}, {seed, 0})[i / 32 % 4];
    y.values[i] = word / 4294967296.0 >= p ? x.values[i] / (1 - p) : 0;
  }
  return y;
}

void add_dropout(Table& t) {
  for (const double p : {0.3, 0.9}) {
    t.cases.push_back({.op = "dropout",
                       .label = p < 0.5 ? "" : "of most",
                       .inputs = {normal({10, 20})},
                       .call =
                           [p](const Tensors& x) {
                             Rng rng(7);
                             return dropout(x[0], p, &rng);
                           },
                       .naive = [p](const In& x) { return naive_dropout(x[0], p, 7, 1); },
                       .large = {normal({300, 301})}});
  }
  t.cases.push_back({.op = "dropout",
                     .label = "of all",
                     .inputs = {normal({2, 3})},
                     .call =
                         [](const Tensors& x) {
                           Rng rng(7);
                           return dropout(x[0], 1, &rng);
                         },
                     .naive = [](const In& x) { return Numbers(x[0].shape); }});
  t.errors.push_back(refuses<ValueError>(
      "dropout", [] { dropout(zeros({3}), 1.5, nullptr); },
      "dropout: the probability p must be in [0, 1], got 1.5"));
  t.errors.push_back(refuses<DTypeError>(
      "dropout", [] { dropout(arange(0, 3), 0.5, nullptr); },
      "dropout: x must be f32 or f64, got i64[3]"));
}

}  // namespace

void add_fused(Table& t) {
  add_linear(t);
  add_layer_norm(t);
  add_rms_norm(t);
  add_gelu(t);
  add_dropout(t);
}

}  // namespace attograd::op_cases

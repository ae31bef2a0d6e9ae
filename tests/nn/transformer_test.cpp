#include <cmath>

#include <doctest/doctest.h>
#include <tests/nn/naive.h>

#include <attograd/core/create.h>
#include <attograd/nn/module.h>
#include <attograd/nn/transformer.h>

namespace attograd::nn {
namespace {

constexpr double kTolerance = 1e-13;  // f64: some hundreds of roundings

Tensor random(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  return randn(shape, rng, DType::f64);
}

/// In f64, with every parameter off its start.
template <Module M, class Options>
M exact(const Options& options) {
  Rng rng(5);
  const M module = to(M(options, rng), DType::f64);
  for (Tensor w : parameters(module)) w.assign(w + 0.3 * randn(w.shape(), rng, DType::f64));
  return module;
}

naive::Numbers sum_of(naive::Numbers a, const naive::Numbers& b) {
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

using Branch = std::function<naive::Numbers(const naive::Numbers&)>;

naive::Numbers naive_branch(const naive::Numbers& x, const LayerNorm& norm, bool norm_first,
                            const Branch& f) {
  if (norm_first) return sum_of(x, f(naive::layer_norm(x, norm)));
  return naive::layer_norm(sum_of(x, f(x)), norm);
}

const double kTemperature = std::sqrt(3.0);  // 6 channels, 2 heads

naive::Numbers naive_layer(const TransformerEncoderLayer& m, naive::Numbers x,
                           const naive::Sees& sees) {
  x = naive_branch(x, m.self_attention_norm, m.norm_first, [&](const naive::Numbers& h) {
    return naive::attention(h, h, h, m.self_attention, kTemperature, sees).y;
  });
  return naive_branch(x, m.feed_forward_norm, m.norm_first, [&](const naive::Numbers& h) {
    return naive::feed_forward(h, m.feed_forward);
  });
}

naive::Numbers naive_layer(const TransformerDecoderLayer& m, naive::Numbers x,
                           const naive::Numbers& memory, const naive::Sees& sees,
                           const naive::Sees& sees_memory) {
  x = naive_branch(x, m.self_attention_norm, m.norm_first, [&](const naive::Numbers& h) {
    return naive::attention(h, h, h, m.self_attention, kTemperature, sees).y;
  });
  x = naive_branch(x, m.cross_attention_norm, m.norm_first, [&](const naive::Numbers& h) {
    return naive::attention(h, memory, memory, m.cross_attention, kTemperature, sees_memory).y;
  });
  return naive_branch(x, m.feed_forward_norm, m.norm_first, [&](const naive::Numbers& h) {
    return naive::feed_forward(h, m.feed_forward);
  });
}

/// Both kinds of norm, with every other option changed between them.
std::vector<TransformerLayerOptions> kinds() {
  return {{.d_model = 6, .heads = 2, .d_ff = 5},
          {.d_model = 6,
           .heads = 2,
           .activation = Activation::gelu,
           .eps = 0.1,
           .norm_first = true,
           .bias = false}};
}

const std::vector<int64_t> kLengths{4, 2};
bool is_no_padding(int64_t b, int64_t, int64_t s) { return s < kLengths[static_cast<size_t>(b)]; }
bool is_causal(int64_t, int64_t t, int64_t s) { return s <= t; }

TEST_CASE("layers of both kinds equal their loops") {
  const Tensor x = random({2, 4, 6}, 1), memory = random({2, 4, 6}, 2);
  for (const TransformerLayerOptions& options : kinds()) {
    const auto encoder = exact<TransformerEncoderLayer>(options);
    CHECK(naive::distance(encoder(x, {.mask = Mask::padding(kLengths)}),
                          naive_layer(encoder, op_cases::numbers(x), is_no_padding)) <= kTolerance);
    const auto decoder = exact<TransformerDecoderLayer>(options);
    CHECK(naive::distance(
              decoder(x, memory, {.mask = Mask::causal(), .memory_mask = Mask::padding(kLengths)}),
              naive_layer(decoder, op_cases::numbers(x), op_cases::numbers(memory), is_causal,
                          is_no_padding)) <= kTolerance);
  }
}

TEST_CASE("a transformer equals its loops and is causal unless told otherwise") {
  const Tensor source = random({2, 4, 6}, 1), target = random({2, 3, 6}, 2);
  for (const TransformerLayerOptions& options : kinds()) {
    const auto model = exact<Transformer>(
        TransformerOptions{.layer = options, .encoder_layers = 2, .decoder_layers = 2});
    for (const bool causal : {true, false}) {
      naive::Numbers memory = op_cases::numbers(source);
      for (const auto& layer : model.encoder.layers)
        memory = naive_layer(layer, memory, is_no_padding);
      memory = naive::layer_norm(memory, *model.encoder.norm);
      naive::Numbers y = op_cases::numbers(target);
      for (const auto& layer : model.decoder.layers)
        y = naive_layer(layer, y, memory, causal ? is_causal : naive::sees_all, is_no_padding);
      y = naive::layer_norm(y, *model.decoder.norm);
      TransformerCall call{.source_mask = Mask::padding(kLengths)};
      if (!causal) call.target_mask = Mask();
      CHECK(naive::distance(model(source, target, call), y) <= kTolerance);
    }
  }
}

TEST_CASE("what the padding hides changes nothing to the bit") {
  const auto model = exact<Transformer>(
      TransformerOptions{.layer = kinds()[0], .encoder_layers = 1, .decoder_layers = 1});
  const Tensor source = random({2, 4, 6}, 1), target = random({2, 3, 6}, 2);
  Tensor changed = Tensor(source.array().copy());
  for (int64_t i = 24 + 2 * 6; i < 48; ++i) changed.mutable_data<double>()[i] = 1e6;
  const TransformerCall call{.source_mask = Mask::padding(kLengths)};
  CHECK(model(changed, target, call).to_vector<double>() ==
        model(source, target, call).to_vector<double>());
  CHECK(model(changed, target).to_vector<double>() != model(source, target).to_vector<double>());
}

TEST_CASE("a source mask that depends on the query is refused") {
  const auto model = exact<Transformer>(
      TransformerOptions{.layer = kinds()[0], .encoder_layers = 1, .decoder_layers = 1});
  const Tensor source = random({2, 3, 6}, 1), target = random({2, 3, 6}, 2);
  CHECK_THROWS_WITH_AS(
      model(source, target, {.source_mask = Mask::causal()}),
      doctest::Contains("the same for every query and head, got for source = f64[2, 3, 6] "
                        "the mask: causal"),
      ShapeError);
  CHECK_THROWS_WITH_AS(
      model(source, target, {.source_mask = Mask::keep(full({3, 3}, 1, DType::boolean))}),
      doctest::Contains(
          "Transformer: the source mask must be of padding or [B or 1, 1, 1, S or 1]"),
      ShapeError);
  CHECK_THROWS_AS(model(source, target, {.source_mask = Mask::bias(zeros({2, 2, 1, 3}))}),
                  ShapeError);
  CHECK_THROWS_WITH_AS(model(random({3, 6}, 1), target),
                       doctest::Contains("source must be [B, S, C]"), ShapeError);
}

TEST_CASE("evaluation with dropout everywhere is that without to the bit") {
  TransformerOptions options{.layer = kinds()[0], .encoder_layers = 1, .decoder_layers = 1};
  const auto without = exact<Transformer>(options);
  options.layer.dropout = 0.5;
  const auto with = exact<Transformer>(options);
  const Tensor source = random({2, 4, 6}, 1), target = random({2, 3, 6}, 2);
  const std::vector<double> y = with(source, target).to_vector<double>();
  CHECK(with(source, target).to_vector<double>() == y);
  CHECK(without(source, target).to_vector<double>() == y);
  Rng rng(1);
  CHECK(without(source, target, {.rng = &rng}).to_vector<double>() == y);
  CHECK(rng.state() == Rng(1).state());
  CHECK(with(source, target, {.rng = &rng}).to_vector<double>() != y);
  // One stream for each attention's weights, each branch, and the hidden channels: 4 and 6.
  CHECK(rng.state().streams == 10);
}

TEST_CASE("every norm has the eps of the options") {
  Rng rng(5);
  const Transformer model(
      {.layer = {.d_model = 2, .eps = 0.1}, .encoder_layers = 1, .decoder_layers = 1}, rng);
  const TransformerEncoderLayer& e = model.encoder.layers[0];
  const TransformerDecoderLayer& d = model.decoder.layers[0];
  for (const LayerNorm* norm :
       {&e.self_attention_norm, &e.feed_forward_norm, &*model.encoder.norm, &d.self_attention_norm,
        &d.cross_attention_norm, &d.feed_forward_norm, &*model.decoder.norm})
    CHECK(norm->eps == 0.1);
}

TEST_CASE("options from which no transformer can be made are refused") {
  Rng rng(5);
  CHECK_THROWS_WITH_AS(TransformerEncoderLayer({.d_model = 10, .heads = 3}, rng),
                       doctest::Contains("d_model = 10 and heads = 3"), ValueError);
  CHECK_THROWS_AS(TransformerDecoderLayer({.d_model = 0}, rng), ValueError);
  CHECK_THROWS_AS(TransformerDecoderLayer({.d_model = 2, .dropout = 1.5}, rng), ValueError);
  CHECK_THROWS_WITH_AS(TransformerEncoder({.layer = {.d_model = 2}, .layers = -1}, rng),
                       "TransformerEncoder: the number of layers must be >= 0, got -1", ValueError);
}

}  // namespace
}  // namespace attograd::nn

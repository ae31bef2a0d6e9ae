#include "examples/gpt/training.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "examples/gpt/data.h"
#include <attograd/core/autograd.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/schedule.h>

namespace gpt {

using namespace attograd;

namespace {

nn::GptOptions model_options(const Config& config, int64_t vocabulary) {
  return {.vocabulary = vocabulary,
          .context = config.context,
          .layers = config.layers,
          .heads = config.heads,
          .width = config.width,
          .dropout = config.dropout,
          .bias = config.bias};
}

/// Only matrices decay: a norm's weights and biases have no scale to keep small.
std::vector<optim::AdamW::Group> parameter_groups(const nn::Gpt& model, const Config& config) {
  NamedTensors matrices;
  NamedTensors vectors;
  for (const auto& [name, tensor] : nn::named_parameters(model))
    (tensor.rank() >= 2 ? matrices : vectors).emplace_back(name, tensor);
  const optim::AdamWOptions options = {
      .lr = config.lr, .beta1 = config.beta1, .beta2 = config.beta2};
  optim::AdamWOptions decaying = options;
  decaying.weight_decay = config.weight_decay;
  optim::AdamWOptions plain = options;
  plain.weight_decay = 0;
  return {{matrices, decaying}, {vectors, plain}};
}

double learning_rate(const Config& config, int64_t step) {
  const int64_t last = config.decay_steps > 0 ? config.decay_steps : config.steps;
  return optim::Cosine{.peak = config.lr,
                       .minimum = std::min(config.min_lr, config.lr),
                       .warmup = config.warmup,
                       .total = std::max(last, config.warmup)}(step);
}

constexpr const char* kFormat = "attograd gpt 1";

using Metadata = std::map<std::string, std::string>;

const std::string& text_of(const Metadata& metadata, const char* name) {
  const auto found = metadata.find(name);
  check<FormatError>(found != metadata.end(), "checkpoint: it lacks \"", name, "\"");
  return found->second;
}

uint64_t number_of(const Metadata& metadata, const char* name) {
  const std::string& text = text_of(metadata, name);
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  check<FormatError>(error == std::errc() && stop == end, "checkpoint: \"", name,
                     "\" must be a number, got ", text);
  return number;
}

/// The tensors whose names begin with `prefix`, without it.
NamedTensors part_of(const std::map<std::string, Tensor>& tensors, const std::string& prefix) {
  NamedTensors part;
  for (const auto& [name, tensor] : tensors)
    if (name.starts_with(prefix)) part.emplace_back(name.substr(prefix.size()), tensor);
  return part;
}

}  // namespace

Training::Training(Config recipe, Vocabulary characters, uint64_t fingerprint)
    : config(std::move(recipe)),
      vocabulary(std::move(characters)),
      text_fingerprint(fingerprint),
      rng(static_cast<uint64_t>(config.seed)),
      model(model_options(config, vocabulary.size()), rng),
      adam(parameter_groups(model, config)) {}

void Training::configure(const Config& changed) {
  config = changed;
  const std::vector<optim::AdamW::Group> groups = parameter_groups(model, config);
  for (size_t i = 0; i < groups.size(); ++i) adam.options(i) = groups[i].options;
}

double Training::update(const std::vector<int64_t>& ids) {
  const Batch batch = random_windows(ids, config.batch, config.context, rng);
  adam.clear_gradients();
  const Tensor loss = cross_entropy(model(batch.inputs, &rng), batch.targets);
  const double value = loss.item();
  check<NumericError>(std::isfinite(value), "the loss is ", value);
  backward(loss);
  optim::clip_gradient_norm(nn::parameters(model), config.clip);
  adam.set_lr(learning_rate(config, step));
  adam.step();
  ++step;
  return value;
}

void Training::save(const std::string& path) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : nn::named_parameters(model)) {
    check<NumericError>(all_finite(tensor), name, " is not finite any more, so it is not saved");
    tensors["model." + name] = tensor;
  }
  for (const auto& [name, tensor] : adam.state()) tensors["adamw." + name] = tensor;
  save_safetensors(path, tensors,
                   {{"format", kFormat},
                    {"config", config.to_json()},
                    {"vocabulary", encode_utf8(vocabulary.characters())},
                    {"text_fingerprint", std::to_string(text_fingerprint)},
                    {"step", std::to_string(step)},
                    {"rng.seed", std::to_string(rng.state().seed)},
                    {"rng.position", std::to_string(rng.state().position)},
                    {"rng.streams", std::to_string(rng.state().streams)}});
}

Training Training::load(const std::string& path) {
  const auto [tensors, metadata] = load_safetensors(path);
  check<FormatError>(metadata.contains("format") && metadata.at("format") == kFormat,
                     "checkpoint: ", path,
                     " is not a checkpoint of gpt; name the folder of a run with --out");
  Training training(Config::from_json(text_of(metadata, "config")),
                    Vocabulary(decode_utf8(text_of(metadata, "vocabulary"), path)),
                    number_of(metadata, "text_fingerprint"));
  nn::load_state(training.model, part_of(tensors, "model."));
  training.adam.load_state(part_of(tensors, "adamw."));
  training.step = static_cast<int64_t>(number_of(metadata, "step"));
  training.rng.set_state({.seed = number_of(metadata, "rng.seed"),
                          .position = number_of(metadata, "rng.position"),
                          .streams = number_of(metadata, "rng.streams")});
  return training;
}

}  // namespace gpt

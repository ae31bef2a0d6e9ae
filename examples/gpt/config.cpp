#include "examples/gpt/config.h"

#include <cmath>

#include <attograd/core/error.h>
#include <nlohmann/json.hpp>

namespace gpt {

using attograd::check;
using attograd::FormatError;
using attograd::ValueError;

void Config::validate() const {
  const auto positive = [](const char* name, int64_t value) {
    constexpr int64_t kMost = 1'000'000'000;
    check<ValueError>(value > 0 && value <= kMost, "--", name, ": must be at least 1 and at most ",
                      kMost, ", got ", value);
  };
  constexpr int64_t kMostLayers = 1000;
  check<ValueError>(layers <= kMostLayers, "--layers: must be at most ", kMostLayers, ", got ",
                    layers);
  const auto within = [](const char* name, double value, double low, double high) {
    check<ValueError>(value >= low && value < high, "--", name, ": must be at least ", low,
                      " and below ", high, ", got ", value);
  };
  positive("context", context);
  positive("layers", layers);
  positive("heads", heads);
  positive("width", width);
  positive("steps", steps);
  positive("batch", batch);
  check<ValueError>(width % heads == 0, "--width: must be a multiple of --heads, got ", width,
                    " and ", heads);
  check<ValueError>(seed >= 0, "--seed: must be at least 0, got ", seed);
  check<ValueError>(warmup >= 0, "--warmup: must be at least 0, got ", warmup);
  check<ValueError>(decay_steps >= 0, "--decay-steps: must be at least 0, got ", decay_steps);
  within("dropout", dropout, 0, 1);
  within("beta1", beta1, 0, 1);
  within("beta2", beta2, 0, 1);
  constexpr double kLargest = 1e6;
  within("lr", lr, 0, kLargest);
  within("min-lr", min_lr, 0, kLargest);
  within("weight-decay", weight_decay, 0, kLargest);
  check<ValueError>(clip > 0, "--clip: must be above 0, got ", clip);
}

std::string Config::to_json() const {
  nlohmann::ordered_json json;
  Config copy = *this;  // visit serves reading and writing
  copy.visit([&](const char* name, const auto& value, Fixed, const char*) { json[name] = value; });
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Config Config::from_json(const std::string& json) {
  Config config;
  try {
    const auto parsed = nlohmann::json::parse(json);
    config.visit(
        [&](const char* name, auto& value, Fixed, const char*) { parsed.at(name).get_to(value); });
  } catch (const nlohmann::json::exception& e) {
    attograd::fail<FormatError>("checkpoint: its configuration cannot be read: ", e.what());
  }
  config.validate();
  return config;
}

}  // namespace gpt

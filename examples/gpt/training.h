#pragma once

#include <string>

#include "examples/gpt/config.h"
#include "examples/gpt/text.h"
#include <attograd/core/random.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/module.h>
#include <attograd/optim/adam.h>

namespace gpt {

/// A model in training, with everything that the next step depends on: what a checkpoint holds.
struct Training {
  Config config;
  Vocabulary vocabulary;
  uint64_t text_fingerprint;  // of the text it learns: a resumed run must go on with the same
  attograd::Rng rng;
  attograd::nn::Gpt model;
  attograd::optim::AdamW adam;
  int64_t step = 0;  // updates so far

  Training(Config recipe, Vocabulary characters, uint64_t fingerprint);

  /// Goes on with other options for the steps, the batches and the optimizer.
  void configure(const Config& changed);

  /// One update on random windows of `ids`; the loss before it.
  /// Throws NumericError, and changes no weight, if the loss or a gradient is not finite.
  double update(const std::vector<int64_t>& ids);

  /// Writes everything to a file, atomically. Throws NumericError, and leaves the file alone, if a
  /// weight is not finite.
  void save(const std::string& path);
  /// Throws FileError or FormatError unless the file is a whole checkpoint of this program.
  static Training load(const std::string& path);
};

}  // namespace gpt

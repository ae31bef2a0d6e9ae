#pragma once

#include <set>
#include <string>

#include "examples/gpt/config.h"

namespace gpt {

// The program's commands: each prints to standard output, gives the exit code, and throws an Error
// whose text is one line that says what to do.

struct TrainOptions {
  Config config;
  std::set<std::string> given;  // names of the options that the user gave
  std::string out;
  bool resume = false;
  bool overwrite = false;
  int64_t stop_at = 0;
  int64_t save_interval = 500;
  int threads = 0;
};
/// Trains until the last step or Ctrl-C, leaving a checkpoint and a log of JSON lines, the
/// configuration first.
int train(const TrainOptions& options);

struct SampleOptions {
  std::string out;
  std::string prompt = "\n";
  int64_t length = 400;
  int64_t count = 1;
  double temperature = 0.8;
  int64_t top_k = 0;
  int64_t seed = 1337;
};
int sample(const SampleOptions& options);

struct EvalOptions {
  std::string out;
  std::string text;
};
int evaluate(const EvalOptions& options);

}  // namespace gpt

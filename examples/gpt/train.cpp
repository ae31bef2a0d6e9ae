#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>

#include "examples/gpt/commands.h"
#include "examples/gpt/evaluate.h"
#include "examples/gpt/progress.h"
#include "examples/gpt/run_folder.h"
#include "examples/gpt/training.h"
#include <attograd/core/kernels/parallel.h>
#include <nlohmann/json.hpp>

namespace gpt {

using namespace attograd;

namespace {

volatile std::sig_atomic_t stop_requested = 0;

/// The first Ctrl-C asks the loop to save and stop; a second one ends the program as usual.
void request_stop(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);
}

/// The configuration of a resumed run: the checkpoint's, but for what the user gave now. A visit
/// yields one option at a time, so that the same option of `now` is found by its name.
Config merged(const Config& before, const TrainOptions& options) {
  Config config = before;
  Config now = options.config;
  config.visit([&](const std::string& name, auto& value, Fixed fixed, const char*) {
    if (!options.given.contains(name)) return;
    now.visit([&](const std::string& other, auto& wanted, Fixed, const char*) {
      if constexpr (std::is_same_v<decltype(value), decltype(wanted)>) {
        if (other != name) return;
        check<ValueError>(fixed == Fixed::no || value == wanted, "--", name,
                          ": the checkpoint was made with ", value, ", got ", wanted,
                          "; leave it out to go on, or start anew without --resume");
        value = wanted;
      }
    });
  });
  config.validate();
  return config;
}

void print_start(const Training& training, const Corpus& corpus) {
  std::cout << "text        " << corpus.name << ": "
            << corpus.training.size() + corpus.validation.size() << " characters, "
            << corpus.vocabulary.size() << " distinct\n"
            << "model       " << training.config.layers << " layers, " << training.config.heads
            << " heads, width " << training.config.width << ", context " << training.config.context
            << ": " << nn::count_parameters(training.model) << " weights\n"
            << std::flush;
}

std::string json_line(int64_t step, const char* what, double value) {
  return nlohmann::ordered_json{{"step", step}, {what, value}}.dump();
}

/// Runs steps until the last, --stop-at or Ctrl-C; whether it reached the last.
bool run_steps(Training& training, const TrainOptions& options, const Corpus& corpus,
               const RunFolder& folder, Log& log) {
  const Config& config = training.config;
  Progress progress(training.step, config.steps, config.batch * config.context);
  const int64_t end = options.stop_at > 0 ? std::min(options.stop_at, config.steps) : config.steps;
  int64_t saved = training.step, step = saved;
  try {
    while (training.step < end && !stop_requested) {
      ++step;
      const double loss = training.update(corpus.training);
      log.line(json_line(step, "loss", loss));
      progress.update(step, loss);
      if (step % options.save_interval != 0 || step == end) continue;
      training.save(folder.checkpoint());
      saved = step;
    }
    training.save(folder.checkpoint());
  } catch (const NumericError& e) {
    progress.say("");
    const std::string advice =
        saved > 0
            ? "the checkpoint of step " + std::to_string(saved) + " stays: go on with --resume and"
            : std::string("there is no checkpoint yet: start anew with");
    fail<NumericError>("step ", step, ": ", e.what(), "; ", advice, " a smaller --lr");
  }
  progress.say("");
  std::cout << "saved       " << folder.checkpoint().string() << " (step " << training.step
            << ")\n";
  return training.step == config.steps;
}

}  // namespace

int train(const TrainOptions& options) {
  check<ValueError>(options.save_interval >= 1, "--save-interval: must be at least 1, got ",
                    options.save_interval);
  constexpr int kMostThreads = 256;
  check<ValueError>(options.threads >= 0 && options.threads <= kMostThreads,
                    "--threads: must be at least 0 and at most ", kMostThreads, ", got ",
                    options.threads);
  check<ValueError>(options.stop_at >= 0, "--stop-at: must be at least 0, got ", options.stop_at);
  if (options.threads > 0) kernels::set_thread_count(options.threads);
  options.config.validate();
  RunFolder folder;
  std::optional<Training> training;
  if (options.resume) {
    folder = RunFolder::find(options.out);
    training = Training::load(folder.checkpoint());
  }
  const Config config = training ? merged(training->config, options) : options.config;
  const Corpus corpus = Corpus::load(config.text, config.context);
  if (training) {
    check<ValueError>(
        training->text_fingerprint == corpus.fingerprint, "--text: ", corpus.name,
        " is not the text that the checkpoint was trained on; name that one, or start anew without "
        "--resume");
    check<ValueError>(training->step <= config.steps, "--steps: the checkpoint has ",
                      training->step, " steps already, got ", config.steps);
    training->configure(config);
  } else {
    folder = RunFolder::create(options.out, options.overwrite);
    training.emplace(config, corpus.vocabulary, corpus.fingerprint);
  }
  Log log(folder.log(), options.resume);
  if (!options.resume) log.line(config.to_json());
  print_start(*training, corpus);
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  if (!run_steps(*training, options, corpus, folder, log)) {
    std::cout << "stopped     go on with: gpt train --resume --out " << folder.path.string()
              << '\n';
    constexpr int kInterrupted = 130;  // as a shell reports it
    return stop_requested ? kInterrupted : 0;
  }
  const Loss loss = loss_of_all(training->model, corpus.validation);
  log.line(json_line(training->step, "validation_loss", loss.mean));
  print_losses(corpus, loss);
  return 0;
}

}  // namespace gpt

// A character-level GPT: trains on a text, continues prompts, measures its loss.

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include "examples/gpt/commands.h"
#include <CLI/CLI.hpp>
#include <attograd/core/error.h>

namespace {

/// Adds an option for each field of the configuration.
void add_config(CLI::App& app, gpt::Config& config) {
  config.visit([&](const std::string& name, auto& value, gpt::Fixed, const char* help) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, bool>) {
      app.add_flag("--" + name, value, help);
    } else {
      app.add_option("--" + name, value, help)->capture_default_str();
    }
  });
}

/// The names of the options that the user gave.
std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) given.insert(option->get_single_name());
  return given;
}

int run(int argc, char** argv) {
  CLI::App app("A character-level GPT on attograd");
  app.require_subcommand(1);

  gpt::TrainOptions training;
  CLI::App* train = app.add_subcommand("train", "learn a text");
  add_config(*train, training.config);
  train->add_option("--out", training.out,
                    "folder of the checkpoint and the log (default: runs/N, the next free N)");
  train->add_flag("--resume", training.resume, "go on from the checkpoint in --out");
  train->add_flag("--overwrite", training.overwrite, "replace the run in --out");
  train->add_option("--stop-at", training.stop_at,
                    "stop after this step, as Ctrl-C would (0: at the last)");
  train->add_option("--save-interval", training.save_interval, "steps between checkpoints")
      ->capture_default_str();
  train->add_option("--threads", training.threads, "threads (0: all cores)");

  gpt::SampleOptions sampling;
  CLI::App* sample = app.add_subcommand("sample", "continue a prompt");
  sample->add_option("--out", sampling.out, "folder of a run (default: the latest in runs/)");
  sample->add_option("--prompt", sampling.prompt, "text to continue")->capture_default_str();
  sample->add_option("--length", sampling.length, "characters to write")->capture_default_str();
  sample->add_option("--count", sampling.count, "samples")->capture_default_str();
  sample
      ->add_option("--temperature", sampling.temperature,
                   "below 1 more likely, above 1 wilder, 0 the likeliest")
      ->capture_default_str();
  sample->add_option("--top-k", sampling.top_k, "choose among this many (0: all)")
      ->capture_default_str();
  sample->add_option("--seed", sampling.seed, "where the random numbers start")
      ->capture_default_str();

  gpt::EvalOptions evaluation;
  CLI::App* eval = app.add_subcommand("eval", "the loss on the validation part of a text");
  eval->add_option("--out", evaluation.out, "folder of a run (default: the latest in runs/)");
  eval->add_option("--text", evaluation.text, "another text than the run's own");

  CLI11_PARSE(app, argc, argv);
  training.given = given_options(*train);
  if (*train) return gpt::train(training);
  if (*sample) return gpt::sample(sampling);
  return gpt::evaluate(evaluation);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    std::cout.flush();
    if (std::cout && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::cerr << "gpt: cannot write to the standard output\n";
  } catch (const std::bad_alloc&) {  // a vector as large as memory, or larger than any
    std::cerr << "gpt: not enough memory; try a smaller --batch, --context or --width\n";
  } catch (const std::length_error&) {
    std::cerr << "gpt: not enough memory; try a smaller --batch, --context or --width\n";
  } catch (const std::exception& e) {
    std::cerr << "gpt: " << e.what() << '\n';
  }
  return 1;
}

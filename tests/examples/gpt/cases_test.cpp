// Inputs that hurt users of other libraries, where they meet a training program.

#include <limits>

#include <tests/examples/gpt/program.h>

#include "examples/gpt/data.h"
#include "examples/gpt/training.h"
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/core/safetensors.h>

using namespace attograd;

namespace gpt {
namespace {

/// The lines of a log that tell a loss.
std::string losses(const fs::path& run) {
  std::ifstream log(run / "log.jsonl");
  std::string text;
  for (std::string line; std::getline(log, line);)
    if (line.find("loss") != std::string::npos) text += line + '\n';
  return text;
}

TEST_CASE("RSM-01 20 steps are 10 steps and 10 after a resume to the bit") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  const std::string options = "train --text text.txt --steps 20 --warmup 5 --dropout 0.1" + kSmall;
  REQUIRE(run(folder.path(), options + "--out whole").code == 0);
  REQUIRE(run(folder.path(), options + "--out parts --stop-at 10").code == 0);
  const std::string half = bytes_of(folder / "parts/checkpoint.safetensors");
  REQUIRE(run(folder.path(), "train --resume --out parts").code == 0);
  const std::string parts = bytes_of(folder / "parts/checkpoint.safetensors");
  CHECK(parts == bytes_of(folder / "whole/checkpoint.safetensors"));
  CHECK(parts != half);
  const std::string all = losses(folder / "whole");
  CHECK(std::count(all.begin(), all.end(), '\n') == 21);  // and that of the validation
  CHECK(losses(folder / "parts") == all);
}

/// Whether every number of a checkpoint is finite.
bool is_good(const fs::path& checkpoint) {
  const auto tensors = load_safetensors(checkpoint).tensors;
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const auto& named) { return all_finite(named.second); });
}

TEST_CASE("TRN-01 training stops at a loss that is not finite and keeps the last good checkpoint") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  REQUIRE(run(folder.path(), "train --text text.txt --steps 4 --out run" + kSmall).code == 0);
  const fs::path checkpoint = folder / "run/checkpoint.safetensors";
  const std::string before = bytes_of(checkpoint);
  // A decay of lr * weight_decay >> 2 multiplies the weights at every step until they overflow.
  for (const int interval : {1000, 5, 1}) {
    CAPTURE(interval);
    write(checkpoint, before);
    const Outcome wild =
        run(folder.path(),
            "train --resume --out run --steps 400 --warmup 0 --lr 9e5 --min-lr 9e5 "
            "--save-interval " +
                std::to_string(interval));
    CAPTURE(wild.output);
    CHECK(wild.code == 1);
    CHECK(wild.output.find("gpt: step ") != std::string::npos);
    CHECK(wild.output.find("go on with --resume and a smaller --lr") != std::string::npos);
    const std::string step = load_safetensors(checkpoint).metadata.at("step");
    CHECK(wild.output.find("the checkpoint of step " + step + " stays") != std::string::npos);
    CHECK(is_good(checkpoint));
    CHECK((bytes_of(checkpoint) == before) == (interval == 1000));
  }
}

TEST_CASE("TRN-01 a weight that is not finite is never saved") {
  const TemporaryFolder folder;
  Config config;
  config.context = 8;
  config.layers = 1;
  config.heads = 1;
  config.width = 4;
  Training training(config, Vocabulary(U"ab"), 1);
  const std::string checkpoint = folder / "checkpoint";
  training.save(checkpoint);
  const std::string before = bytes_of(checkpoint);
  Tensor w = nn::parameters(training.model)[0];
  w.mutable_data<float>()[1] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH_AS(training.save(checkpoint),
                       "token_embedding.weight is not finite any more, so it is not saved",
                       NumericError);
  CHECK(bytes_of(checkpoint) == before);
}

TEST_CASE("CKP-10 a run that is killed at any moment goes on from a whole checkpoint") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  REQUIRE(run(folder.path(), "train --text text.txt --steps 1 --out run" + kSmall).code == 0);
  for (int kills = 0; kills < 8; ++kills) {
    const std::string moment = "0.0" + std::to_string(kills * 11 + 20);
    const Outcome killed =
        run(folder.path(), "train --resume --out run --steps 1000000 --save-interval 1", "true",
            "timeout -s KILL " + moment);
    CHECK(killed.code == 137);
    CHECK(is_good(folder / "run/checkpoint.safetensors"));
  }
  CHECK(run(folder.path(), "eval --out run").code == 0);
}

TEST_CASE("TRF-07 a text of one window gives that window and a shorter one is an error") {
  const auto text = [](int64_t length) { return arange(0, length).to_vector<int64_t>(); };
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const Batch batch = random_windows(text(9), 2, 8, rng);
    CHECK(batch.inputs.to_vector<int64_t>() ==
          std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(batch.targets.to_vector<int64_t>()[7] == 8);
  }
  CHECK_THROWS_WITH_AS(
      random_windows(text(8), 1, 8, rng),
      doctest::Contains("a context of 8 characters needs a text of at least 9, got 8"), ValueError);
}

}  // namespace
}  // namespace gpt

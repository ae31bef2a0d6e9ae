// The program as its users meet it: what it prints, its exit code, the files it leaves.

#include <tests/examples/gpt/program.h>

using attograd::TemporaryFolder;
using gpt::bytes_of;
using gpt::kSmall;
using gpt::Outcome;
using gpt::some_text;
using gpt::write;
namespace fs = std::filesystem;

namespace {

// One SIGINT and to gpt alone: without --foreground, timeout sends a second one to its whole group,
// which ends the program as a second Ctrl-C does.
const std::string kInterruptAfter3s = "timeout --foreground --preserve-status -s INT 3";

bool is_one_line(const std::string& text) { return text.find('\n') + 1 == text.size(); }

}  // namespace

TEST_CASE("train ends with the loss and leaves a log and a checkpoint that sample and eval read") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  const Outcome train = gpt::run(folder.path(), "train --text text.txt --steps 5" + kSmall);
  REQUIRE(train.code == 0);
  const size_t last = train.output.rfind('\n', train.output.size() - 2) + 1;
  const std::string line = train.output.substr(last);
  CHECK(line.starts_with("validation loss "));
  CHECK(line.find("(whole split, ") != std::string::npos);
  CHECK(train.output.find("uniform") != std::string::npos);
  CHECK(train.output.find('\r') == std::string::npos);
  CHECK(bytes_of(folder / "runs/1/log.jsonl").starts_with("{\"text\":\"text.txt\""));
  const Outcome eval = gpt::run(folder.path(), "eval");
  CHECK(eval.code == 0);
  CHECK(eval.output.find(line) != std::string::npos);
  const Outcome sample = gpt::run(folder.path(), "sample --prompt line --length 20");
  CHECK(sample.code == 0);
  CHECK(sample.output.starts_with("line"));
  CHECK(sample.output.size() == 25);
  CHECK(gpt::run(folder.path(), "sample --length 20").output ==
        gpt::run(folder.path(), "sample --length 20").output);
  CHECK(gpt::run(folder.path(), "train --text text.txt --steps 1" + kSmall).output.find("runs/2") !=
        std::string::npos);
}

TEST_CASE("Chinese characters are characters") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += "\xE6\x98\xA5\xE7\x9C\xA0\xE4\xB8\x8D\xE8\xA7\x89\xE6\x99\x93\n";
  write(folder / "poem.txt", text);
  const Outcome train = gpt::run(folder.path(), "train --text poem.txt --steps 3" + kSmall);
  CHECK(train.code == 0);
  CHECK(train.output.find("360 characters, 6 distinct") != std::string::npos);
  CHECK(gpt::run(folder.path(), "sample --prompt \xE6\x98\xA5 --length 3").code == 0);
}

TEST_CASE("texts that cannot be learned get one line and an exit code") {
  const TemporaryFolder folder;
  write(folder / "empty.txt", "");
  write(folder / "one.txt", "a");
  write(folder / "same.txt", std::string(1000, 'a'));
  write(folder / "binary.txt", std::string("ab\0cd", 5));
  write(folder / "latin1.txt", "caf\xE9 au lait");
  write(folder / "short.txt", "too short to learn");
  for (const char* name : {"missing.txt", ".", "empty.txt", "one.txt", "same.txt", "binary.txt",
                           "latin1.txt", "short.txt"}) {
    CAPTURE(name);
    const Outcome train = gpt::run(folder.path(), std::string("train --text ") + name);
    CHECK(train.code == 1);
    CHECK(is_one_line(train.output));
    CHECK(train.output.starts_with("gpt: text: "));
  }
  CHECK_FALSE(fs::exists(folder / "runs"));
}

TEST_CASE("options that make no sense get one line and an exit code") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  for (const char* options : {"--heads 3",
                              "--heads 0",
                              "--width 0",
                              "--layers -1",
                              "--context 0",
                              "--steps 0",
                              "--batch 0",
                              "--dropout 1",
                              "--dropout nan",
                              "--lr -1",
                              "--lr inf",
                              "--clip 0",
                              "--beta2 1",
                              "--seed -1",
                              "--threads -2",
                              "--threads 100000",
                              "--layers 1000000000",
                              "--batch 4611686018427387904",
                              "--save-interval 0",
                              "--warmup -1"}) {
    CAPTURE(options);
    const Outcome train = gpt::run(folder.path(), std::string("train --text text.txt ") + options);
    CHECK(train.code == 1);
    CHECK(is_one_line(train.output));
    CHECK(train.output.starts_with("gpt: --"));
  }
  for (const char* arguments : {"train --heads many", "train --no-such-option", "frobnicate", ""}) {
    CAPTURE(arguments);
    CHECK(gpt::run(folder.path(), arguments).code != 0);
  }
}

TEST_CASE("a run is never overwritten unasked") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  const std::string options = "train --text text.txt --steps 2 --out run" + kSmall;
  REQUIRE(gpt::run(folder.path(), options).code == 0);
  const std::string before = bytes_of(folder / "run/checkpoint.safetensors");
  const Outcome again = gpt::run(folder.path(), options + "--seed 2");
  CHECK(again.code == 1);
  CHECK(is_one_line(again.output));
  CHECK(bytes_of(folder / "run/checkpoint.safetensors") == before);
  CHECK(gpt::run(folder.path(), options + "--seed 2 --overwrite").code == 0);
  CHECK(bytes_of(folder / "run/checkpoint.safetensors") != before);
}

TEST_CASE("checkpoints that do not fit get one line and stay as they are") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  write(folder / "other.txt", some_text(150));
  REQUIRE(gpt::run(folder.path(), "train --text text.txt --steps 2 --out run" + kSmall).code == 0);
  const fs::path checkpoint = folder / "run/checkpoint.safetensors";
  const std::string good = bytes_of(checkpoint);
  const auto refused = [&](const std::string& arguments) {
    CAPTURE(arguments);
    const std::string before = bytes_of(checkpoint);
    const Outcome outcome = gpt::run(folder.path(), arguments);
    CHECK(outcome.code == 1);
    CHECK(is_one_line(outcome.output));
    CHECK(bytes_of(checkpoint) == before);
  };
  refused("train --resume --out run --width 16");
  refused("train --resume --out run --text other.txt");
  refused("train --resume --out run --steps 1");
  refused("train --resume --out nowhere");
  refused("train --resume");
  refused("sample --out run --prompt '#'");
  refused("sample --out run --temperature -1");
  refused("sample --out run --length -1");
  for (size_t size : {size_t{0}, size_t{7}, good.size() / 2, good.size() - 1}) {
    write(checkpoint, good.substr(0, size));
    refused("train --resume --out run");
    refused("sample --out run");
    refused("eval --out run");
  }
}

TEST_CASE("a folder that cannot be written and a full disk lose no file") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  const Outcome below_a_file =
      gpt::run(folder.path(), "train --text text.txt --steps 2 --out text.txt/run" + kSmall);
  CHECK(below_a_file.code == 1);
  CHECK(is_one_line(below_a_file.output));
  const Outcome a_file =
      gpt::run(folder.path(), "train --text text.txt --steps 2 --out text.txt" + kSmall);
  CHECK(a_file.code == 1);
  REQUIRE(gpt::run(folder.path(), "train --text text.txt --steps 2 --out run" + kSmall).code == 0);
  const std::string before = bytes_of(folder / "run/checkpoint.safetensors");
  // A limit on the size of files stands for a full disk: the log still fits, the checkpoint does
  // not.
  const Outcome full =
      gpt::run(folder.path(), "train --resume --steps 4 --out run", "trap '' XFSZ && ulimit -f 4");
  CHECK(full.code == 1);
  CHECK(bytes_of(folder / "run/checkpoint.safetensors") == before);
  for (const auto& entry : fs::directory_iterator(folder / "run"))
    CHECK((entry.path().filename() == "checkpoint.safetensors" ||
           entry.path().filename() == "log.jsonl"));
}

TEST_CASE("Ctrl-C saves and exits and the run goes on from there") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(2000));
  const Outcome stopped =
      gpt::run(folder.path(), "train --text text.txt --steps 10000000 --out run" + kSmall, "true",
               kInterruptAfter3s);
  CHECK(stopped.code == 130);
  CHECK(stopped.output.find("go on with: gpt train --resume --out run") != std::string::npos);
  const Outcome more =
      gpt::run(folder.path(), "train --resume --out run", "true", kInterruptAfter3s);
  CHECK(more.code == 130);
}

TEST_CASE("output that cannot be written is an error") {
  const TemporaryFolder folder;
  write(folder / "text.txt", some_text(200));
  REQUIRE(gpt::run(folder.path(), "train --text text.txt --steps 2 --out run" + kSmall).code == 0);
  CHECK(gpt::run(folder.path(), "sample --out run --length 9 >/dev/full").code == 1);
  CHECK(gpt::run(folder.path(), "eval --out run >/dev/full").code == 1);
}

// Checkpoints: of other models, of killed programs, of training that went wrong.

#include <cmath>
#include <csignal>
#include <limits>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tests/exact.h>
#include <tests/temporary_folder.h>
#include <unistd.h>

#include <attograd/core/file.h>
#include <attograd/core/random.h>
#include <attograd/nn/files.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/linear.h>
#include <attograd/optim/adam.h>

namespace attograd {
namespace {

using Values = std::vector<double>;

// ---- loading into a model ----

struct Model {
  Tensor a = zeros({2}, DType::f64), b = zeros({2, 3}, DType::f64), c = zeros({2}, DType::f64);

  void visit(auto&& v) {
    v("a", a);
    v("b", b);
    v("c", c);
  }
};

TEST_CASE("CKP-09 a strict load lists all that does not fit and changes nothing") {
  const TemporaryFolder folder;
  save_safetensors(folder / "f", {{"a", ones({2})}, {"b", ones({3, 2})}, {"d", ones({1})}});
  const Model model;
  CHECK(message_of<FormatError>([&] { nn::load(model, folder / "f"); }) ==
        "load: every tensor must have one of its name, shape and type, got\n"
        "  of another shape or type: b (f32[3, 2] for f64[2, 3])\n"
        "  missing: c\n"
        "  unexpected: d");
  for (const Tensor& x : {model.a, model.b, model.c})
    CHECK(values_of(x) == Values(static_cast<size_t>(x.numel()), 0));
}

TEST_CASE("CKP-09 a load that is not strict reports names and still refuses another shape") {
  const TemporaryFolder folder;
  const Model model;
  save_safetensors(folder / "f", {{"a", ones({2})}, {"b", ones({2, 3})}, {"d", ones({1})}});
  const LoadReport report = nn::load(model, folder / "f", {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"c"});
  CHECK(report.unexpected == std::vector<std::string>{"d"});
  CHECK(values_of(model.a) == Values{1, 1});
  CHECK(values_of(model.b) == Values(6, 1));
  CHECK(values_of(model.c) == Values{0, 0});
  save_safetensors(folder / "f", {{"a", full({2}, 5)}, {"b", ones({3, 2})}});
  CHECK_THROWS_WITH_AS(nn::load(model, folder / "f", {.strict = false}),
                       doctest::Contains("b (f32[3, 2] for f64[2, 3])"), FormatError);
  CHECK(values_of(model.a) == Values{1, 1});
}

struct Tied {
  Tensor in, out;
  void visit(auto&& v) {
    v("in", in);
    v("out", out);
  }
};

TEST_CASE("CKP-09 tied weights are one tensor before and after") {
  const TemporaryFolder folder;
  const auto tied = [](double value) {
    const Tensor w = full({2}, value);
    return Tied{w, w};
  };
  nn::save(tied(3), folder / "f");
  CHECK(load_safetensors(folder / "f").tensors.size() == 1);
  Tied model = tied(0);
  nn::load(model, folder / "f");
  CHECK(model.out.to_vector<float>() == std::vector<float>{3, 3});
  model.in.assign(ones({2}));
  CHECK(model.out.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(nn::count_parameters(model) == 2);
}

// ---- saving ----

constexpr int64_t kMegabyte = 1 << 18;  // floats

void save_number(const std::filesystem::path& path, double number) {
  save_safetensors(path, {{"w", full({kMegabyte}, number)}});
}

/// The number that a whole checkpoint of save_number holds.
double saved_number(const std::filesystem::path& path) {
  const Tensor w = load_safetensors(path).tensors.at("w");
  CHECK(w.numel() == kMegabyte);
  CHECK(min(w).item() == max(w).item());
  return max(w).item();
}

TEST_CASE("CKP-10 a checkpoint is whole whenever the program is killed") {
  const TemporaryFolder folder;
  save_number(folder / "f", 0);
  Rng rng(1);
  double newest = 0;
  for (int kills = 0; kills < 100; ++kills) {
    int started[2];  // a pipe that tells of the first save
    REQUIRE(pipe(started) == 0);
    const pid_t writer = fork();
    REQUIRE(writer >= 0);
    if (writer == 0) {
      for (int number = 1;; ++number) {
        save_number(folder / "f", number);
        if (write(started[1], "", 1) != 1) _exit(1);
      }
    }
    char first = 0;
    REQUIRE(read(started[0], &first, 1) == 1);
    usleep(static_cast<useconds_t>(rng.below(10'000)));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    close(started[0]);
    close(started[1]);
    newest = std::max(newest, saved_number(folder / "f"));
  }
  CHECK(newest > 1);
}

TEST_CASE("CKP-10 a save that fails is an error and leaves the old file alone") {
  const TemporaryFolder folder;
  save_number(folder / "f", 7);
  std::filesystem::create_directory(folder / "folder");
  CHECK_THROWS_WITH_AS(save_number(folder / "folder", 8), doctest::Contains("it is a folder"),
                       FileError);
  CHECK_THROWS_WITH_AS(save_number(folder / "none/f", 8), doctest::Contains("No such file"),
                       FileError);
  // No file may grow beyond a limit: what a full disk looks like to a program.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{1}, rlim_t{100'000}, rlim_t{4 * kMegabyte}}) {
    const rlimit limit{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text = message_of<FileError>([&] { save_number(folder / "f", 8); });
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(text.ends_with("File too large"));
    CHECK(saved_number(folder / "f") == 7);
    CHECK(folder.names().size() == 2);  // nothing is left beside it
  }
  std::signal(SIGXFSZ, handler);
}

// ---- training ----

TEST_CASE("TRN-01 training stops at a value that is not finite and keeps its good checkpoint") {
  const TemporaryFolder folder;
  Rng rng(1);
  const nn::Linear model(3, 1, rng);
  optim::AdamW adam(nn::named_parameters(model), {.lr = 0.1});
  double best = std::numeric_limits<double>::infinity();
  const auto update = [&](int64_t step) {
    Tensor x = randn({4, 3}, rng);
    if (step == 12) x.mutable_data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    adam.clear_gradients();
    const Tensor loss = mean(square(model(x) - sum(x, -1, true)));
    if (loss.item() < best) best = loss.item();
    backward(loss);
    adam.step();
    if (step % 5 == 0) nn::save(model, folder / "f", {{"step", std::to_string(step)}});
  };
  for (int64_t step = 1; step < 12; ++step) update(step);
  const std::vector<float> weights = model.weight.to_vector<float>();
  const std::string text = message_of<NumericError>([&] { update(12); });
  CHECK(text.find("weight") != std::string::npos);
  CHECK(model.weight.to_vector<float>() == weights);
  CHECK(std::isfinite(best));
  const SafetensorsFile file = load_safetensors(folder / "f");
  CHECK(file.metadata.at("step") == "10");
  for (const auto& [name, w] : file.tensors) CHECK(all_finite(w));
  for (int64_t step = 13; step <= 20; ++step) update(step);  // a user may skip the step and go on
  CHECK(load_safetensors(folder / "f").metadata.at("step") == "20");
  CHECK(all_finite(model.weight));
}

}  // namespace
}  // namespace attograd

#include <array>
#include <cstdio>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>

namespace {

struct Run {
  int exit_code;
  std::string output;
};

Run gradcheck(const std::string& arguments) {
  const std::string command = std::string(ATTOGRAD_BIN_DIR) + "/gradcheck " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Run run{};
  std::array<char, 4096> buffer{};
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    run.output.append(buffer.data(), n);
  run.exit_code = WEXITSTATUS(pclose(pipe));
  return run;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("gradcheck checks one operation or several or all") {
  const Run one = gradcheck("--op tanh");
  CAPTURE(one.output);
  CHECK(one.exit_code == 0);
  CHECK(contains(one.output, "1 operations"));
  const Run two = gradcheck("--op mul --op add --seed 3");
  CHECK(two.exit_code == 0);
  CHECK(contains(two.output, "2 operations"));
  const Run all = gradcheck("--all");
  CAPTURE(all.output);
  CHECK(all.exit_code == 0);
}

TEST_CASE("gradcheck lists what there is") {
  const Run list = gradcheck("--list");
  CHECK(list.exit_code == 0);
  CHECK(contains(list.output, "\nsoftmax"));
  CHECK_FALSE(contains(list.output, "PASS"));
}

TEST_CASE("wrong usage says what is right") {
  const Run unknown = gradcheck("--op sotfmax");
  CHECK(unknown.exit_code == 3);
  CHECK(contains(unknown.output, "there is no operation sotfmax; --list shows them all"));
  CHECK(gradcheck("--all --op exp").exit_code == 3);
  CHECK(gradcheck("--frobnicate").exit_code == 3);
  CHECK(gradcheck("--seed minus").exit_code == 3);
  CHECK(gradcheck("--help").exit_code == 0);
}

// gradcheck: compares the derivatives of the library's operations with differences.
#include <algorithm>
#include <exception>
#include <iostream>

#include <examples/gradcheck/check_rows.h>

#include <CLI/CLI.hpp>
#include <attograd/core/op_list.h>

using namespace attograd;
using op_cases::OpCase;

namespace {

enum ExitCode { kPass = 0, kFail = 1, kInconclusive = 2, kUsage = 3 };

std::string check_operation(const std::string& name) {
  if (std::find(kOps.begin(), kOps.end(), name) != kOps.end()) return "";
  return "there is no operation " + name + "; --list shows them all";
}

std::vector<OpCase> rows_of(const std::vector<std::string>& operations) {
  std::vector<OpCase> rows;
  std::copy_if(op_cases::table().cases.begin(), op_cases::table().cases.end(),
               std::back_inserter(rows), [&](const OpCase& row) {
                 return operations.empty() ||
                        std::find(operations.begin(), operations.end(), row.op) != operations.end();
               });
  return rows;
}

int run(int argc, char** argv) {
  CLI::App app("Compares first and second derivatives of attograd's operations with differences.");
  app.footer("Exit code: 0 pass, 1 fail, 2 inconclusive (a kink or noise), 3 wrong usage.");
  bool all = false;
  bool list = false;
  std::vector<std::string> operations;
  uint64_t seed = 1;
  auto* all_flag = app.add_flag("--all", all, "check every operation (the default)");
  app.add_option("--op", operations, "check this operation; may be repeated")
      ->check(check_operation)
      ->excludes(all_flag);
  app.add_option("--seed", seed, "of the inputs and cotangents")->capture_default_str();
  app.add_flag("--list", list, "show the operations and their rows, and check nothing");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kPass : kUsage;
  }

  const std::vector<OpCase> rows = rows_of(operations);
  if (list) {
    for (const OpCase& row : rows) std::cout << row.name() << '\n';
    return kPass;
  }
  switch (gradcheck_program::check_rows(rows, seed, std::cout)) {
    case Verdict::pass:
      return kPass;
    case Verdict::inconclusive:
      return kInconclusive;
    case Verdict::fail:
      return kFail;
  }
  return kFail;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "gradcheck: " << e.what() << '\n';
    return kUsage;
  }
}

#include <array>
#include <chrono>
#include <iomanip>
#include <set>
#include <sstream>

#include <examples/gradcheck/check_rows.h>

namespace attograd::gradcheck_program {
namespace {

using op_cases::OpCase;

struct Outcome {
  Verdict verdict = Verdict::pass;
  int64_t entries = 0;  // derivatives compared
  std::string report;   // empty if all is well
};

Tensors make_inputs(const OpCase& row, uint64_t seed) {
  Tensors x;
  for (const op_cases::Input& input : row.inputs) {
    x.push_back(input.make(input.shape, seed++));
    if (input.is_floating) x.back().set_requires_grad();
  }
  return x;
}

void add(Outcome& outcome, const GradcheckReport& report) {
  outcome.verdict = std::max(outcome.verdict, report.verdict());
  for (const GradcheckInput& input : report.inputs)
    outcome.entries += static_cast<int64_t>(input.entries.size());
  if (report.ok()) return;
  std::ostringstream text;
  text << report << '\n';
  outcome.report += text.str();
}

Outcome check_row(const OpCase& row, uint64_t seed) {
  Outcome outcome;
  const GradcheckOptions options = {.name = row.name(), .seed = seed, .allow_unused = true};
  try {
    const Tensors x = make_inputs(row, seed);
    add(outcome, gradcheck(row.call, x, options));
    add(outcome, gradgradcheck(row.call, x, options));
  } catch (const Error& error) {
    outcome.verdict = Verdict::fail;
    outcome.report += std::string(error.what()) + '\n';
  }
  return outcome;
}

bool has_derivatives(const OpCase& row) {
  bool any = false;
  for (const op_cases::Input& input : row.inputs) any |= input.is_floating;
  return any && row.differentiable && row.measurable;
}

}  // namespace

Verdict check_rows(const std::vector<OpCase>& rows, uint64_t seed, std::ostream& out) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  const auto line = [&](const auto& verdict, const OpCase& row) -> std::ostream& {
    std::ostringstream name;
    name << verdict;
    return out << std::left << std::setw(14) << name.str() << std::setw(44) << row.name();
  };
  out << std::fixed << std::setprecision(1);
  std::array<int, 3> counts{};
  int64_t entries = 0;
  std::set<std::string> operations;
  Verdict worst = Verdict::pass;
  for (const OpCase& row : rows) {
    if (!has_derivatives(row)) {
      line("-", row) << " no derivative to compare\n";
      continue;
    }
    const auto begin = Clock::now();
    const Outcome outcome = check_row(row, seed);
    line(outcome.verdict, row) << std::right << std::setw(6) << outcome.entries << " derivatives"
                               << std::setw(9) << since(begin) << " ms\n"
                               << outcome.report;
    ++counts[static_cast<size_t>(outcome.verdict)];
    worst = std::max(worst, outcome.verdict);
    entries += outcome.entries;
    operations.insert(row.op);
  }
  out << '\n' << operations.size() << " operations, " << entries << " derivatives: ";
  for (const Verdict verdict : {Verdict::pass, Verdict::fail, Verdict::inconclusive})
    out << counts[static_cast<size_t>(verdict)] << ' ' << verdict
        << (verdict == Verdict::inconclusive ? "" : ", ");
  out << " in " << since(start) / 1000 << " s\n";
  return worst;
}

}  // namespace attograd::gradcheck_program

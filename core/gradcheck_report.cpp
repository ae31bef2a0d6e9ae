#include <algorithm>
#include <cmath>

#include <attograd/core/gradcheck.h>

namespace attograd {

int64_t GradcheckInput::count(Verdict verdict) const {
  return std::count_if(entries.begin(), entries.end(),
                       [&](const GradcheckEntry& entry) { return entry.verdict == verdict; });
}

const GradcheckEntry* GradcheckInput::worst() const {
  const auto badness = [](const GradcheckEntry& entry) {
    const double excess = std::abs(entry.analytic - entry.numeric) / entry.tolerance;
    return std::pair(entry.verdict, std::isnan(excess) ? HUGE_VAL : excess);
  };
  const auto found = std::max_element(
      entries.begin(), entries.end(),
      [&](const GradcheckEntry& a, const GradcheckEntry& b) { return badness(a) < badness(b); });
  return found == entries.end() ? nullptr : &*found;
}

Verdict GradcheckReport::verdict() const {
  Verdict worst = Verdict::pass;
  for (const GradcheckInput& input : inputs)
    for (const GradcheckEntry& entry : input.entries) worst = std::max(worst, entry.verdict);
  return worst;
}

std::ostream& operator<<(std::ostream& out, Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return out << "PASS";
    case Verdict::inconclusive:
      return out << "INCONCLUSIVE";
    case Verdict::fail:
      return out << "FAIL";
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const GradcheckEntry& entry) {
  const double difference = std::abs(entry.analytic - entry.numeric);
  out << entry.index << "  analytic " << entry.analytic << "  numeric " << entry.numeric << " ± "
      << entry.error << "  |difference| " << difference << "  tolerance " << entry.tolerance;
  if (entry.kink) {
    out << "  kink: slopes " << entry.left << " and " << entry.right;
  } else if (entry.verdict == Verdict::inconclusive) {
    out << "  the differences do not settle: noise or a kink nearby";
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const GradcheckReport& report) {
  out << report.verdict() << ' ' << report.name;
  for (const GradcheckInput& input : report.inputs) {
    out << "\n  " << input.name << ": ";
    if (!input.skipped.empty()) {
      out << "not checked, " << input.skipped;
      continue;
    }
    const GradcheckEntry* worst = input.worst();
    out << input.count(Verdict::fail) << " of " << input.entries.size() << " entries differ";
    if (const int64_t unclear = input.count(Verdict::inconclusive))
      out << ", " << unclear << " unclear";
    if (!input.reached) out << "; no gradient reaches it";
    if (worst)
      out << "\n    "
          << "worst " << *worst;
  }
  return out;
}

}  // namespace attograd

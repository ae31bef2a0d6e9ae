#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gpt {

/// Shows how training goes: on a terminal one line that is written over, otherwise a plain line now
/// and then. No colours, so NO_COLOR has nothing to turn off.
class Progress {
 public:
  /// `tokens` are the characters of a step.
  Progress(int64_t first_step, int64_t last_step, int64_t tokens);

  /// After each step.
  void update(int64_t step, double loss);
  /// A line that stays.
  void say(const std::string& line);

 private:
  std::string line(int64_t step, double loss) const;

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_{};
  int64_t first_step_;
  int64_t last_step_;
  int64_t tokens_;
  bool terminal_;
  size_t width_ = 0;  // of the line that stands on the terminal
};

}  // namespace gpt

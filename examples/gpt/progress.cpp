#include "examples/gpt/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace gpt {

using std::chrono::duration;
using std::chrono::steady_clock;

Progress::Progress(int64_t first_step, int64_t last_step, int64_t tokens)
    : first_step_(first_step),
      last_step_(last_step),
      tokens_(tokens),
      terminal_(isatty(STDOUT_FILENO) == 1) {}

std::string Progress::line(int64_t step, double loss) const {
  const double seconds = duration<double>(steady_clock::now() - start_).count();
  const auto done = static_cast<double>(step - first_step_);
  const double rate = done > 0 ? done / std::max(seconds, 1e-9) : 0;
  const auto left =
      rate > 0 ? std::llround(std::min(static_cast<double>(last_step_ - step) / rate, 1e12)) : 0LL;
  char text[160];
  std::snprintf(text, sizeof text,
                "step %5lld of %lld   loss %.4f   %8.0f tokens/s   %lld:%02lld left",
                static_cast<long long>(step), static_cast<long long>(last_step_), loss,
                rate * static_cast<double>(tokens_), left / 60, left % 60);
  return text;
}

void Progress::update(int64_t step, double loss) {
  if (!terminal_) {
    const int64_t every = std::clamp<int64_t>((last_step_ - first_step_) / 20, 1, 100);
    if (step % every == 0 || step == first_step_ + 1 || step == last_step_)
      std::cout << line(step, loss) << '\n' << std::flush;
    return;
  }
  const auto now = steady_clock::now();
  if (step != last_step_ && now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  std::string text = line(step, loss);
  const size_t width = text.size();
  if (width < width_) text.append(width_ - width, ' ');
  width_ = width;
  std::cout << '\r' << text << std::flush;
  if (step == last_step_) say("");
}

void Progress::say(const std::string& line) {
  if (width_ > 0) std::cout << '\n';
  width_ = 0;
  if (!line.empty()) std::cout << line << '\n' << std::flush;
}

}  // namespace gpt

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <attograd/core/error.h>

namespace attograd::optim {

// Learning rates as pure functions of the step, which counts from 0: nothing to save, nothing to
// advance. `adam.set_lr(schedule(step)); adam.step();`
//
// Constant, Linear and Cosine begin with a warm-up of `warmup` steps, peak (step + 1) / (warmup +
// 1), so that the first step is not lost to a rate of 0.

/// How far a schedule is at a step.
struct Progress {
  double warmup = 1;  // the factor of the warm-up, 1 after it
  double decay = 0;   // 0 until the warm-up ends, 1 from step `total` on
};

/// Throws ValueError if step < 0.
inline void check_step(int64_t step) {
  check<ValueError>(step >= 0, "schedule: steps count from 0, got ", step);
}

/// Throws ValueError if step < 0, total <= 0 (which would be a rate of `minimum` for ever), or not
/// 0 <= warmup <= total.
inline Progress progress(int64_t step, int64_t warmup, int64_t total) {
  check_step(step);
  check<ValueError>(total > 0, "schedule: the total must be > 0, got ", total,
                    "; it is the number of steps to fall in, the warm-up included");
  check<ValueError>(0 <= warmup && warmup <= total,
                    "schedule: the warm-up must lie within the total, got warmup = ", warmup,
                    " and total = ", total);
  if (step < warmup)
    return {.warmup = (static_cast<double>(step) + 1) / (static_cast<double>(warmup) + 1)};
  if (step >= total) return {.decay = 1};
  return {.decay = static_cast<double>(step - warmup) / static_cast<double>(total - warmup)};
}

/// peak, for ever.
struct Constant {
  double peak = 0;
  int64_t warmup = 0;  // steps

  double operator()(int64_t step) const {
    return peak * progress(step, warmup, std::max({warmup, step, int64_t{1}})).warmup;
  }
};

/// From peak to minimum along a line.
struct Linear {
  double peak = 0;
  double minimum = 0;
  int64_t warmup = 0;  // steps
  int64_t total = 0;   // steps, the warm-up included; the rate stays at minimum from there on

  double operator()(int64_t step) const {
    const Progress at = progress(step, warmup, total);
    return at.warmup * (minimum + (peak - minimum) * (1 - at.decay));
  }
};

/// From peak to minimum along half a cosine (Loshchilov and Hutter 2017, equation 5).
struct Cosine {
  double peak = 0;
  double minimum = 0;
  int64_t warmup = 0;  // steps
  int64_t total = 0;   // steps, the warm-up included; the rate stays at minimum from there on

  double operator()(int64_t step) const {
    const Progress at = progress(step, warmup, total);
    return at.warmup *
           (minimum + (peak - minimum) * (1 + std::cos(std::numbers::pi * at.decay)) / 2);
  }
};

/// Up along a line for `warmup` steps, then down with the root of the step (Vaswani et al. 2017,
/// equation 3, where steps count from 1: t = step + 1):
///   factor width^-0.5 min(t^-0.5, t warmup^-1.5)
/// The peak, factor (width warmup)^-0.5, is at step = warmup - 1.
struct Noam {
  int64_t width = 0;   // of the model
  int64_t warmup = 0;  // steps
  double factor = 1;

  double operator()(int64_t step) const {
    check_step(step);
    check<ValueError>(width > 0 && warmup >= 0,
                      "schedule: the width must be > 0 and the warm-up >= 0, got width = ", width,
                      " and warmup = ", warmup);
    const double t = static_cast<double>(step) + 1, w = static_cast<double>(warmup);
    return factor / std::sqrt(static_cast<double>(width)) *
           std::min(1 / std::sqrt(t), t / (w * std::sqrt(w)));
  }
};

/// Times gamma again every so many steps.
struct Step {
  double peak = 0;
  double gamma = 0.1;
  int64_t every = 0;  // steps

  double operator()(int64_t step) const {
    check_step(step);
    check<ValueError>(every > 0, "schedule: the rate changes every >= 1 steps, got ", every);
    const int64_t changes = step / every;  // so far
    return peak * std::pow(gamma, static_cast<double>(changes));
  }
};

/// Times gamma from each of these steps on.
struct Milestones {
  double peak = 0;
  double gamma = 0.1;
  std::vector<int64_t> steps = {};  // in any order

  double operator()(int64_t step) const {
    check_step(step);
    const auto passed =
        std::count_if(steps.begin(), steps.end(), [step](int64_t at) { return at <= step; });
    return peak * std::pow(gamma, static_cast<double>(passed));
  }
};

}  // namespace attograd::optim

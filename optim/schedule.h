#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <attograd/core/error.h>

namespace attograd::optim {

// Learning rates as pure functions of the step, which counts from 0: nothing to save, nothing to
// advance. `adam.set_lr(schedule(step)); adam.step();`
//
// Each begins with a warm-up of `warmup` steps, peak (step + 1) / (warmup + 1): no step has rate 0.

/// How far a schedule is at a step.
struct Progress {
  double warmup = 1;  // the factor of the warm-up, 1 after it
  double decay = 0;   // 0 until the warm-up ends, 1 from step `total` on
};

/// Throws ValueError if step < 0 or not 0 <= warmup <= total.
inline Progress progress(int64_t step, int64_t warmup, int64_t total) {
  check<ValueError>(step >= 0, "schedule: steps count from 0, got ", step);
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
    return peak * progress(step, warmup, std::max(warmup, step)).warmup;
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

}  // namespace attograd::optim

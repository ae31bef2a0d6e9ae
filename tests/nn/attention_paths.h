#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <attograd/nn/attention.h>

// The scores and masks that attention_paths_test pairs.
namespace attograd::nn {

inline constexpr int64_t kBatch = 2, kHeads = 2, kQueries = 3, kKeys = 4, kWidth = 3,
                         kValueWidth = 2;
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b);
Vector numbers(const Tensor& x);
/// The n numbers from n i on.
Vector row(const Vector& x, int64_t i, int64_t n);

struct ScoreRow {
  std::string name;
  Score score;
  std::function<double(const Vector& q, const Vector& k)> value;
};
std::vector<ScoreRow> score_rows();

/// The place of an entry of the scores.
struct Place {
  int64_t b, h, t, s;
};

struct MaskRow {
  std::string name;
  std::function<Mask(DType dtype)> mask;
  std::function<bool(const Place&)> keep = [](const Place&) { return true; };
  std::function<double(const Place&)> bias = [](const Place&) { return 0.0; };
};
std::vector<MaskRow> mask_rows();

}  // namespace attograd::nn

#include <limits>

#include <tests/close.h>

using namespace attograd;

namespace {

Tensor one_per(const Tensor& y) { return ones_like(y); }

}  // namespace

TEST_CASE("cross_entropy lets nothing through from an ignored row") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = leaf({2, 2}, {kNaN, kNaN, 0, 0}, DType::f64);
  const Tensor y = cross_entropy(x, ids_of({-100, 0}));
  check_close(y, {0.69314718056});
  for (const bool recorded : {false, true}) {
    const Tensor first = pulled_back(y, one_per(y), {x}, recorded)[0];
    check_close(first, {0, 0, -0.5, 0.5});
    if (!recorded) continue;
    const Tensor v = from_values({2, 2}, {1, 2, 3, 4}, DType::f64);
    check_close(pulled_back(first, v, {x}, recorded)[0], {0, 0, -0.25, 0.25});
  }
}

TEST_CASE("cross_entropy allows a class that cannot occur") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor x = leaf({3}, {-kInf, 1, 1}, DType::f64);
  const Tensor y = cross_entropy(x, from_values({}, std::vector<int64_t>{1}));
  check_close(y, {0.69314718056});
  for (const bool recorded : {false, true})
    check_close(pulled_back(y, one_per(y), {x}, recorded)[0], {0, -0.5, 0.5});
}

TEST_CASE("cross_entropy can ignore an id that no double holds") {
  constexpr int64_t kOdd = std::numeric_limits<int64_t>::max();
  const Tensor x = leaf({2, 2}, {0, 0, 1, 2}, DType::f64);
  const Tensor y = cross_entropy(x, ids_of({0, kOdd}), {.ignore_index = kOdd});
  check_close(y, {0.69314718056});
  check_close(pulled_back(y, one_per(y), {x}, true)[0], {-0.5, 0.5, 0, 0});
}

#include <cmath>
#include <limits>

#include <tests/close.h>

using namespace attograd;

TEST_CASE("rms_norm divides by the root of the mean square with eps inside") {
  // mean square of [1, 2, 4] is 7, so with eps 0.5 the divisor is sqrt(7.5) = 2.73861278753
  for (const DType dtype : kFloating)
    check_close(rms_norm(tensor({1, 2, 4}, dtype), tensor({1, 1, 2}, dtype), 0.5),
                {0.365148371670, 0.730296743340, 2.92118697336});
}

TEST_CASE("norms refuse an eps that is not positive and finite") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double eps : {0.0, -1e-5, nan, inf}) {
    CHECK_THROWS_AS(layer_norm(zeros({2}), {}, {}, eps), ValueError);
    CHECK_THROWS_AS(rms_norm(zeros({2}), {}, eps), ValueError);
  }
}

// x = [1, 2, 4] s, of which the norms without eps do not depend on s, and their gradients are
// divided by it.

TEST_CASE("norms of finite rows are right where their squares overflow") {
  struct Row {
    DType dtype;
    std::vector<int> exponents;  // of s
  };
  for (const Row& row : {Row{DType::f32, {60, 64, 90, 110}}, Row{DType::f64, {505, 700, 1000}}})
    for (const int exponent : row.exponents)
      for (const double sign : {1.0, -1.0}) {
        const double s = sign * std::ldexp(1, exponent);
        const Tensor x = leaf({2, 3}, {s, 2 * s, 4 * s, 1, 2, 4}, row.dtype);
        const Tensor w = ones({3}, row.dtype).set_requires_grad();
        const Tensor g = from_values({2, 3}, {1, 10, 100, 0, 0, 0}, row.dtype);
        const auto check_row = [&](const Tensor& y, const std::vector<double>& value,
                                   const std::vector<double>& slope) {
          const auto times = [](double by, std::vector<double> v) {
            for (double& number : v) number *= by;
            return v;
          };
          check_close(select(y, 0, 0), times(sign, value));
          for (const bool recorded : {false, true}) {
            const Tensors back = pulled_back(y, g, {x, w}, recorded);
            check_close(select(back[0], 0, 0), times(1 / std::abs(s), slope));
            check_close(select(back[0], 0, 1), {0, 0, 0});
            check_close(back[1], times(sign, {value[0], 10 * value[1], 100 * value[2]}));
            if (recorded) CHECK(all_finite(pulled_back(back[0], g, {x}, true)[0]));
          }
        };
        check_row(layer_norm(x, w, {}), {-1.06904496765, -0.267261241912, 1.33630620956},
                  {8.24691832187, -12.3703774828, 4.12345916093});
        check_row(rms_norm(x, w), {0.377964473009, 0.755928946018, 1.51185789204},
                  {-7.19932329541, -11.3749308068, 7.48729622723});
      }
}

TEST_CASE("norms do not overflow where only differences do") {
  for (const DType dtype : kFloating) {
    const double largest = dtype == DType::f32 ? 3e38 : 1.7e308;
    const Tensor x = leaf({2}, {largest, -largest}, dtype);
    for (const Tensor& y : {layer_norm(x, {}, {}), rms_norm(x, {})}) {
      check_close(y, {1, -1});
      for (const bool recorded : {false, true})
        CHECK(all_finite(pulled_back(y, tensor({1, 2}, dtype), {x}, recorded)[0]));
    }
    // Equal numbers have no variance but eps, whatever their size.
    const Tensor same = leaf({4}, std::vector<double>(4, largest / 4), dtype);
    const Tensor y = layer_norm(same, {}, {});
    check_close(y, {0, 0, 0, 0});
    for (const bool recorded : {false, true})
      check_close(pulled_back(y, tensor({1, 2, 3, 4}, dtype), {same}, recorded)[0],
                  {-474.341649025, -158.113883008, 158.113883008, 474.341649025});
  }
}

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

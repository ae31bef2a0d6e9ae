#include <limits>

#include <tests/close.h>

using namespace attograd;

TEST_CASE("layer_norm keeps the variance of rows with a large mean") {
  const std::vector<double> right = {-1.18321325214, -0.507091393772, 0.169030464591,
                                     1.52127418132};
  for (const double sign : {1.0, -1.0}) {
    const Tensor x =
        leaf({4}, {sign * 65536, sign * 65537, sign * 65538, sign * 65540}, DType::f32);
    const Tensor y = layer_norm(x, ones({4}), zeros({4}));
    std::vector<double> signed_right = right;
    for (double& v : signed_right) v *= sign;
    check_close(y, signed_right);
    CHECK(all_finite(pulled_back(y, tensor({1, 2, 3, 4}), {x}, false)[0]));
  }
}

TEST_CASE("layer_norm of equal numbers has a large but finite gradient") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({4}, {3, 3, 3, 3}, dtype), w = leaf({4}, {1, 1, 1, 1}, dtype),
                 b = leaf({4}, {0.5, 0.5, 0.5, 0.5}, dtype);
    const Tensor y = layer_norm(x, w, b);
    check_close(y, {0.5, 0.5, 0.5, 0.5});
    for (const bool recorded : {false, true}) {
      const Tensors g = pulled_back(y, tensor({1, 2, 3, 4}, dtype), {x, w, b}, recorded);
      check_close(g[0], {-474.341649025, -158.113883008, 158.113883008, 474.341649025});
      check_close(g[1], {0, 0, 0, 0});
      check_close(g[2], {1, 2, 3, 4});
    }
  }
}

TEST_CASE("layer_norm of one number is exactly its bias") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({2, 1}, {-3, 8}, dtype), w = leaf({1}, {1e10}, dtype),
                 b = leaf({1}, {-1}, dtype);
    const Tensor y = layer_norm(x, w, b, 0.1);
    CHECK_EQ(values_of(cast(y, DType::f64)), std::vector<double>{-1, -1});
    for (const bool recorded : {false, true}) {
      const Tensors g = pulled_back(y, from_values({2, 1}, {2, 5}, dtype), {x, w, b}, recorded);
      check_close(g[0], {0, 0});
      check_close(g[1], {0});
      check_close(g[2], {7});
    }
  }
}

TEST_CASE("layer_norm divides by the biased deviation with eps inside the root") {
  for (const DType dtype : kFloating)
    check_close(layer_norm(tensor({1, 2, 4}, dtype), {}, {}, 0.5),
                {-0.929981109951, -0.232495277488, 1.16247638744});
}

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

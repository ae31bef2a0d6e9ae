#include <limits>

#include <tests/close.h>

#include <attograd/core/gradcheck.h>

using namespace attograd;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor booleans(const Shape& shape, const std::vector<bool>& values) {
  return from_values(shape, values);
}

}  // namespace

TEST_CASE("softmax of rows far from zero neither overflows nor underflows") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({2, 3}, {1000, 1001, 1002, -1000, -1001, -1002}, dtype);
    const std::vector<double> p = {0.0900305731704, 0.244728471055, 0.665240955775};
    check_close(softmax(x), {p[0], p[1], p[2], p[2], p[1], p[0]});
    check_close(log_softmax(x), {-2.40760596444, -1.40760596444, -0.407605964444,  //
                                 -0.407605964444, -1.40760596444, -2.40760596444});
    const Tensor far = leaf({2}, {1e30, 0}, dtype);
    check_close(softmax(far), {1, 0});
    check_close(log_softmax(far), {0, -1e30});
    for (const bool recorded : {false, true}) {
      const Tensor g = tensor({1, 2}, dtype);
      check_close(pulled_back(softmax(far), g, {far}, recorded)[0], {0, 0});
      check_close(pulled_back(log_softmax(far), g, {far}, recorded)[0], {-2, 2});
      for (const auto f : {softmax, log_softmax}) {
        const Tensor v = from_values({2, 3}, {1, 2, 3, 4, 5, 6}, dtype);
        CHECK(all_finite(pulled_back(f(x, -1), v, {x}, recorded)[0]));
      }
    }
  }
}

TEST_CASE("softmax gives minus infinity no weight and rows without a limit NaN") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({4, 2}, {-kInf, 0, -kInf, -kInf, 0, kInf, kNaN, 0}, dtype);
    check_close(softmax(x), {0, 1, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN});
    const Tensor g = from_values({4, 2}, {3, 5, 3, 5, 3, 5, 3, 5}, dtype);
    for (const bool recorded : {false, true})
      check_close(pulled_back(softmax(x), g, {x}, recorded)[0],
                  {0, 0, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN});
  }
}

TEST_CASE("softmax of one number is exactly 1 with gradient 0") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({2, 1}, {5, -7}, dtype);
    const Tensor g = from_values({2, 1}, {2, 3}, dtype);
    check_close(softmax(x), {1, 1});
    check_close(log_softmax(x), {0, 0});
    for (const bool recorded : {false, true}) {
      check_close(pulled_back(softmax(x), g, {x}, recorded)[0], {0, 0});
      check_close(pulled_back(log_softmax(x), g, {x}, recorded)[0], {0, 0});
    }
  }
}

TEST_CASE("softmax of nothing is nothing") {
  for (const auto f : {softmax, log_softmax})
    for (const auto& [shape, axis] :
         {std::pair<Shape, int64_t>{{2, 0}, -1}, {{0, 3}, 0}, {{0, 3}, 1}}) {
      const Tensor x = zeros(shape).set_requires_grad();
      const Tensor y = f(x, axis);
      CHECK_EQ(y.shape(), shape);
      for (const bool recorded : {false, true})
        CHECK_EQ(pulled_back(y, zeros(shape), {x}, recorded)[0].shape(), shape);
    }
}

TEST_CASE("masked_softmax gives a row that keeps nothing zeros at every order") {
  const Tensor keep = booleans({2, 2}, {true, true, false, false});
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({2, 2}, {0, 0, 1, 2}, dtype);
    const Tensor y = masked_softmax(x, keep);
    check_close(y, {0.5, 0.5, 0, 0});
    const Tensor g = from_values({2, 2}, {1, 2, 3, 4}, dtype);
    const Tensor first = pulled_back(y, g, {x}, true)[0];
    check_close(first, {-0.25, 0.25, 0, 0});
    check_close(pulled_back(first, g, {x}, true)[0], {0, 0, 0, 0});
  }
  const Tensor x = leaf({2, 2}, {0.3, -0.2, 1, 2}, DType::f64);
  const auto f = [&](const Tensors& in) { return masked_softmax(in[0], keep); };
  CHECK_MESSAGE(gradcheck(f, {x}).ok(), gradcheck(f, {x}));
  CHECK_MESSAGE(gradgradcheck(f, {x}).ok(), gradgradcheck(f, {x}));
}

TEST_CASE("masked_softmax does not look at what is masked") {
  const Tensor keep = booleans({3}, {true, false, true});
  for (const double hidden : {kNaN, kInf, -kInf, 1e300}) {
    const Tensor x = leaf({3}, {1, hidden, 1}, DType::f64);
    const Tensor y = masked_softmax(x, keep);
    check_close(y, {0.5, 0, 0.5});
    const Tensor first = pulled_back(y, tensor({1, 2, 3}, DType::f64), {x}, true)[0];
    check_close(first, {-0.5, 0, 0.5});
    CHECK(all_finite(pulled_back(first, tensor({1, 2, 3}, DType::f64), {x}, true)[0]));
  }
}

TEST_CASE("masked_softmax does not hide NaN in what is kept") {
  check_close(masked_softmax(tensor({kNaN, 1}), booleans({2}, {true, true})), {kNaN, kNaN});
}

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

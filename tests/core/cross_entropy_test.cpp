#include <limits>

#include <tests/close.h>

using namespace attograd;

namespace {

constexpr Reduction kReductions[] = {Reduction::mean, Reduction::sum, Reduction::none};

Tensor one_per(const Tensor& y) { return ones_like(y); }

}  // namespace

TEST_CASE("cross_entropy of certain logits is exact") {
  for (const DType dtype : kFloating)
    for (const bool recorded : {false, true}) {
      const Tensor x = leaf({1, 2}, {1000, -1000}, dtype);
      const Tensor wrong = cross_entropy(x, ids_of({1}));
      CHECK_EQ(wrong.item(), 2000);
      CHECK_EQ(values_of(cast(pulled_back(wrong, one_per(wrong), {x}, recorded)[0], DType::f64)),
               std::vector<double>{1, -1});
      const Tensor right = cross_entropy(x, ids_of({0}));
      CHECK_EQ(right.item(), 0);
      CHECK_EQ(values_of(cast(pulled_back(right, one_per(right), {x}, recorded)[0], DType::f64)),
               std::vector<double>{0, 0});
    }
}

TEST_CASE("cross_entropy over nothing but ignored rows is 0 with gradient 0") {
  for (const DType dtype : kFloating)
    for (const Reduction reduction : kReductions)
      for (const double smoothing : {0.0, 0.1}) {
        const Tensor x = leaf({2, 2}, {1, 2, 3, 4}, dtype);
        const Tensor y = cross_entropy(x, ids_of({-100, -100}),
                                       {.reduction = reduction, .label_smoothing = smoothing});
        check_close(y, std::vector<double>(static_cast<size_t>(y.numel()), 0));
        for (const bool recorded : {false, true})
          check_close(pulled_back(y, one_per(y), {x}, recorded)[0], {0, 0, 0, 0});
      }
}

TEST_CASE("cross_entropy takes the mean over the rows that count") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({3, 3}, {2, 0.5, -1, 0.1, 0.2, 0.3, 1, 1, 3}, dtype);
    const Tensor targets = ids_of({0, -100, 2});
    const Tensor y = cross_entropy(x, targets);
    check_close(y, {0.24042803144});
    check_close(cross_entropy(x, targets, {.reduction = Reduction::sum}), {0.480856062879});
    for (const bool recorded : {false, true})
      check_close(pulled_back(y, one_per(y), {x}, recorded)[0],
                  {-0.107201482705, 0.08764519607, 0.0195562866353, 0, 0, 0, 0.0532534894596,
                   0.0532534894596, -0.106506978919});
  }
}

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

TEST_CASE("cross_entropy names a target that is no class for every reduction") {
  const Tensor x = zeros({2, 3}).set_requires_grad();
  for (const Reduction reduction : kReductions)
    for (const int64_t bad : {3, -1, -101}) {
      CHECK_EQ(message_of<IndexError>([&] {
                 cross_entropy(x, ids_of({-100, bad}), {.reduction = reduction});
               }),
               "cross_entropy: a target must be in [0, 3), the number of classes, or the ignored "
               "-100, got " +
                   std::to_string(bad) + " at place 1");
      CHECK_FALSE(x.grad().defined());
    }
}

TEST_CASE("cross_entropy can ignore an id that no double holds") {
  constexpr int64_t kOdd = std::numeric_limits<int64_t>::max();
  const Tensor x = leaf({2, 2}, {0, 0, 1, 2}, DType::f64);
  const Tensor y = cross_entropy(x, ids_of({0, kOdd}), {.ignore_index = kOdd});
  check_close(y, {0.69314718056});
  check_close(pulled_back(y, one_per(y), {x}, true)[0], {-0.5, 0.5, 0, 0});
}

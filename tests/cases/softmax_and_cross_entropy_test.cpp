// Softmax and the losses made of it.

#include <limits>

#include <tests/close.h>

using namespace attograd;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Reduction kReductions[] = {Reduction::mean, Reduction::sum, Reduction::none};

Tensor one_per(const Tensor& y) { return ones_like(y); }

}  // namespace

TEST_CASE("SMX-01 softmax of rows far from zero neither overflows nor underflows") {
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

TEST_CASE("SMX-02 minus infinity has no weight and rows without a limit are NaN") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({4, 2}, {-kInf, 0, -kInf, -kInf, 0, kInf, kNaN, 0}, dtype);
    check_close(softmax(x), {0, 1, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN});
    const Tensor g = from_values({4, 2}, {3, 5, 3, 5, 3, 5, 3, 5}, dtype);
    for (const bool recorded : {false, true})
      check_close(pulled_back(softmax(x), g, {x}, recorded)[0],
                  {0, 0, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN});
  }
}

TEST_CASE("SMX-05 softmax of one number is exactly 1 with gradient 0") {
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

TEST_CASE("SMX-05 softmax of nothing is nothing") {
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

TEST_CASE("CEL-01 the cross entropy of certain logits is exact") {
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

TEST_CASE("CEL-02 over nothing but ignored rows it is 0 with gradient 0") {
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

TEST_CASE("CEL-03 the mean is over the rows that are not ignored") {
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

TEST_CASE("CEL-04 a target that is no class is named for every reduction") {
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

TEST_CASE("CEL-06 targets of another shape are an error that shows both") {
  const std::string rule =
      "cross_entropy: logits must be [..., V] and targets [...], got logits = f32[4, 5], targets "
      "= ";
  const Tensor logits = zeros({4, 5});
  for (const Reduction reduction : kReductions) {
    const auto error_of = [&](const Tensor& targets) {
      return message_of<ShapeError>(
          [&] { cross_entropy(logits, targets, {.reduction = reduction}); });
    };
    CHECK_EQ(error_of(zeros({3}, DType::i64)), rule + "i64[3]");
    CHECK_EQ(error_of(zeros({4, 1}, DType::i64)), rule + "i64[4, 1]");
    CHECK_EQ(error_of(zeros({2, 2}, DType::i64)), rule + "i64[2, 2]");  // as many elements
  }
}

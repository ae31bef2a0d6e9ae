// The numbers of a tensor may lie in memory in many ways; values and gradients must not depend on
// it.
#include <functional>

#include <doctest/doctest.h>
#include <tests/op_cases/variants.h>

using namespace attograd;
using namespace attograd::op_cases;

namespace {

/// How large each gradient is at ordinary inputs. Where some inputs are equal it may cancel to 0 (a
/// norm of equal numbers, a softmax under a constant v), and all that is left is the rounding of
/// terms of this size.
std::vector<double> ordinary_gradients(const OpCase& row, const Tensors& x) {
  std::vector<double> sizes;
  for (const Tensor& g : gradients(row, x, cotangent(row.call(x)))) sizes.push_back(magnitude(g));
  return sizes;
}

/// The row with one input replaced, against the same numbers in row-major order.
void check_same(const OpCase& row, const Tensors& x, size_t which, const Tensor& replacement) {
  Tensors laid = fresh(x);
  Tensors plain = fresh(x);
  laid[which] = replacement;
  plain[which] = row_major(replacement);
  if (x[which].requires_grad()) {
    laid[which].set_requires_grad();
    plain[which].set_requires_grad();
  }
  const Tensor y = row.call(plain);
  CHECK_LE(distance(row.call(laid), y), row.ulps);
  if (!row.differentiable || !y.requires_grad()) return;
  const Tensor v = cotangent(y);
  const Tensors expected = gradients(row, plain, v);
  const std::vector<double> sizes = ordinary_gradients(row, x);
  for (const bool recorded : {false, true}) {
    const Tensors got = gradients(row, laid, v, {.create_graph = recorded});
    for (size_t i = 0; i < got.size(); ++i)
      CHECK_LE(distance(got[i], expected[i], sizes[i]), 4 * row.ulps);
  }
}

void for_each_row(const std::function<void(const OpCase&, const Tensors& x)>& test) {
  for (const OpCase& row : table().cases)
    for (const DType dtype : {DType::f32, DType::f64}) {
      CAPTURE(row.name());
      CAPTURE(dtype);
      test(row, make_inputs(row.inputs, 1, dtype));
    }
}

}  // namespace

TEST_CASE("values and gradients are the same for transposed and spaced inputs") {
  for_each_row([](const OpCase& row, const Tensors& x) {
    for (size_t i = 0; i < x.size(); ++i)
      for (const Layout layout : kLayouts) {
        const std::string how = name_of(layout);
        CAPTURE(i);
        CAPTURE(how);
        check_same(row, x, i, laid_out(x[i], layout));
      }
  });
}

TEST_CASE("values and gradients are the same for expanded inputs") {
  for_each_row([](const OpCase& row, const Tensors& x) {
    for (size_t i = 0; i < x.size(); ++i)
      for (int axis = 0; axis < x[i].rank(); ++axis) {
        CAPTURE(i);
        CAPTURE(axis);
        if (x[i].numel() > 0) check_same(row, x, i, repeated(x[i], axis));
      }
  });
}

TEST_CASE("gradients are the same for any layout of the gradient from above") {
  for_each_row([](const OpCase& row, const Tensors& x) {
    const Tensor y = row.call(x);
    if (!row.differentiable || !y.requires_grad()) return;
    Tensors ways;
    for (const Layout layout : kLayouts) ways.push_back(laid_out(cotangent(y), layout));
    for (int axis = 0; axis < y.rank() && y.numel() > 0; ++axis)
      ways.push_back(repeated(cotangent(y), axis));
    const std::vector<double> sizes = ordinary_gradients(row, x);
    for (size_t way = 0; way < ways.size(); ++way) {
      CAPTURE(way);
      const Tensors expected = gradients(row, x, row_major(ways[way]));
      for (const bool recorded : {false, true}) {
        const Tensors got = gradients(row, x, ways[way], {.create_graph = recorded});
        for (size_t i = 0; i < got.size(); ++i)
          CHECK_LE(distance(got[i], expected[i], sizes[i]), 4 * row.ulps);
      }
    }
  });
}

#include <doctest/doctest.h>
#include <tests/op_cases/variants.h>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/core/kernels/parallel.h>

using namespace attograd;
using namespace attograd::op_cases;

namespace {

/// All rows, and those that follow from them.
std::vector<OpCase> rows() {
  std::vector<OpCase> all;
  for (const OpCase& row : table().cases) {
    all.push_back(row);
    if (!row.elementwise) continue;
    for (const OpCase& variant : broadcast_variants(row)) all.push_back(variant);
  }
  return all;
}

Tensor cast_to(const Tensor& x, DType dtype) { return Tensor(x.array().cast(dtype)); }

/// Runs a test with a number of threads.
template <class F>
auto with_threads(int n, F f) {
  const int before = kernels::thread_count();
  kernels::set_thread_count(n);
  auto result = f();
  kernels::set_thread_count(before);
  return result;
}

}  // namespace

TEST_CASE("values equal those of the naive twins") {
  for (const OpCase& row : rows()) {
    if (!row.naive) continue;
    CAPTURE(row.name());
    const Tensors x = make_inputs(row.inputs, 1);
    std::vector<Numbers> in;
    for (const Tensor& input : x) in.push_back(numbers(input));
    const Numbers expected = row.naive(in);
    const Tensor y = row.call(x);
    REQUIRE_EQ(y.shape(), expected.shape);
    const Tensor twin = from_values(expected.shape, expected.values, DType::f64);
    CHECK_LE(distance(cast_to(y, DType::f64), twin), row.ulps);
  }
}

TEST_CASE("values in f32 are those in f64 up to rounding") {
  for (const OpCase& row : rows()) {
    CAPTURE(row.name());
    const Tensors narrow = make_inputs(row.inputs, 1, DType::f32);
    Tensors wide;  // of the numbers as f32 has them
    for (const Tensor& x : narrow)
      wide.push_back(is_floating(x.dtype()) ? cast_to(x, DType::f64) : x);
    const Tensor y = row.call(narrow);
    const Tensor exact = row.call(wide);
    const bool follows = exact.dtype() == DType::f64 && !leaves_of(narrow).empty();
    CHECK_EQ(y.dtype(), follows ? DType::f32 : exact.dtype());
    CHECK_LE(distance(y, exact), row.ulps);
  }
}

TEST_CASE("the value of a fused operation is that of its definition") {
  for (const OpCase& row : table().cases)
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Tensor y = row.call(make_inputs(row.inputs, 1, dtype));
      if (!y.requires_grad() || !y.node()->fused) continue;
      CAPTURE(row.name());
      Tensors x;
      for (const Saved& saved : y.node()->x) x.push_back(saved.unpack(row.op));
      CHECK_LE(distance(y, y.node()->fused->reference(x)), row.ulps);
    }
}

TEST_CASE("values do not depend on recording or repetition") {
  for (const OpCase& row : rows()) {
    CAPTURE(row.name());
    const Tensors x = make_inputs(row.inputs, 1);
    const Tensor y = row.call(x);
    CHECK(identical(row.call(x), y));
    const NoGrad guard;
    const Tensor unrecorded = row.call(x);
    CHECK(identical(unrecorded, y));
    CHECK_FALSE(unrecorded.requires_grad());
  }
}

TEST_CASE("results require gradients where they should") {
  for (const OpCase& row : table().cases) {
    CAPTURE(row.name());
    Tensors x = make_inputs(row.inputs, 1);
    CHECK_EQ(row.call(x).requires_grad(), row.differentiable && !leaves_of(x).empty());
    for (Tensor& input : x) input = detach(input);
    CHECK_FALSE(row.call(x).requires_grad());
  }
}

TEST_CASE("one and two threads give the same bits") {
  for (const OpCase& row : table().cases) {
    std::vector<Input> inputs = row.large;
    if (row.elementwise) {
      inputs = row.inputs;
      for (Input& input : inputs) input.shape = {300, 301};
    }
    if (inputs.empty()) continue;
    CAPTURE(row.name());
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Tensors x = make_inputs(inputs, 1, dtype);
      const Tensor y = with_threads(1, [&] { return row.call(x); });
      CHECK(identical(with_threads(2, [&] { return row.call(x); }), y));
      if (!row.differentiable) continue;
      const Tensor v = cotangent(y);
      const Tensors one = with_threads(1, [&] { return gradients(row, x, v); });
      const Tensors two = with_threads(2, [&] { return gradients(row, x, v); });
      for (size_t i = 0; i < one.size(); ++i) CHECK(identical(one[i], two[i]));
    }
  }
}

#include <doctest/doctest.h>
#include <tests/op_cases/variants.h>

#include <attograd/core/gradcheck.h>
#include <attograd/core/ops.h>

using namespace attograd;
using namespace attograd::op_cases;

namespace {

/// The rows that have derivatives.
std::vector<OpCase> rows() {
  std::vector<OpCase> all;
  for (const OpCase& row : table().cases)
    if (row.differentiable && !leaves_of(make_inputs(row.inputs, 1)).empty()) all.push_back(row);
  return all;
}

GradcheckOptions named(const OpCase& row) { return {.name = row.name(), .allow_unused = true}; }

}  // namespace

TEST_CASE("first derivatives agree with differences") {
  for (const OpCase& row : rows()) {
    if (!row.measurable) continue;
    const GradcheckReport report = gradcheck(row.call, make_inputs(row.inputs, 1), named(row));
    CHECK_MESSAGE(report.ok(), report);
  }
}

TEST_CASE("second derivatives agree with differences") {
  for (const OpCase& row : rows()) {
    if (!row.measurable) continue;
    const GradcheckReport report = gradgradcheck(row.call, make_inputs(row.inputs, 1), named(row));
    CHECK_MESSAGE(report.ok(), report);
  }
}

TEST_CASE("elementwise derivatives agree with differences for every way to broadcast") {
  for (const OpCase& row : rows()) {
    if (!row.elementwise) continue;
    for (const OpCase& variant : broadcast_variants(row)) {
      const Tensors x = make_inputs(variant.inputs, 1);
      const GradcheckReport first = gradcheck(variant.call, x, named(variant));
      CHECK_MESSAGE(first.ok(), first);
      if (!row.measurable) continue;
      const GradcheckReport second = gradgradcheck(variant.call, x, named(variant));
      CHECK_MESSAGE(second.ok(), second);
    }
  }
}

TEST_CASE("a gradient has the same value whether it is recorded or not") {
  for (const OpCase& row : rows())
    for (const DType dtype : {DType::f32, DType::f64}) {
      CAPTURE(row.name());
      const Tensors x = make_inputs(row.inputs, 1, dtype);
      const Tensor v = cotangent(row.call(x));
      const Tensors plain = gradients(row, x, v);
      const Tensors recorded = gradients(row, x, v, {.create_graph = true});
      for (size_t i = 0; i < plain.size(); ++i)
        CHECK_LE(distance(plain[i], recorded[i]), 4 * row.ulps);
    }
}

TEST_CASE("gradients in f32 are those in f64 up to rounding") {
  for (const OpCase& row : rows()) {
    CAPTURE(row.name());
    const Tensors narrow = make_inputs(row.inputs, 1, DType::f32);
    Tensors wide;  // the same numbers
    for (const Tensor& x : narrow) {
      wide.push_back(detach(x));
      if (x.requires_grad()) wide.back() = cast(detach(x), DType::f64).set_requires_grad();
    }
    const Tensor v = cotangent(row.call(narrow));
    const Tensors got = gradients(row, narrow, v);
    const Tensors exact = gradients(row, wide, cast(v, row.call(wide).dtype()));
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK_EQ(got[i].dtype(), DType::f32);
      // A derivative takes some roundings more than the value, of the numbers and of v.
      CHECK_LE(distance(got[i], exact[i]), 4 * row.ulps);
    }
  }
}

TEST_CASE("the gradient of one input does not depend on which others are wanted") {
  for (const OpCase& row : rows()) {
    CAPTURE(row.name());
    const Tensors all = make_inputs(row.inputs, 1);
    const Tensor v = cotangent(row.call(all));
    const Tensors expected = gradients(row, all, v);
    for (size_t subset = 1; subset + 1 < size_t{1} << expected.size(); ++subset) {
      CAPTURE(subset);
      Tensors x = fresh(all);
      Tensors wanted;
      for (size_t i = 0, k = 0; i < x.size(); ++i) {
        if (!x[i].requires_grad()) continue;
        if ((subset >> k & 1) != 0) {
          wanted.push_back(expected[k]);
        } else {
          x[i].set_requires_grad(false);
        }
        ++k;
      }
      const Tensors got = gradients(row, x, v);
      REQUIRE_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) CHECK(identical(got[i], wanted[i]));
    }
  }
}

TEST_CASE("a tensor passed twice gets the sum of both derivatives") {
  for (const OpCase& row : rows()) {
    const Tensors all = make_inputs(row.inputs, 1);
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i + 1; j < all.size(); ++j) {
        if (!all[i].requires_grad() || !all[j].requires_grad()) continue;
        if (all[i].shape() != all[j].shape()) continue;
        CAPTURE(row.name());
        CAPTURE(i);
        CAPTURE(j);
        Tensors apart = fresh(all);
        apart[j] = detach(apart[i]).set_requires_grad();
        const Tensor v = cotangent(row.call(apart));
        const auto of = [&](const Tensors& x, size_t which) {
          return grad({row.call(x)}, {x[which]}, {.allow_unused = true}, {v})[0];
        };
        const Tensor expected = of(apart, i) + of(apart, j);
        Tensors together = apart;
        together[j] = together[i];
        CHECK_LE(distance(of(together, i), expected), row.ulps);
      }
  }
}

TEST_CASE("neither the value nor the gradient writes to inputs or cotangent") {
  for (const OpCase& row : rows()) {
    CAPTURE(row.name());
    const Tensors x = make_inputs(row.inputs, 1);
    const Tensor y = row.call(x);
    const Tensor v = cotangent(y);
    Tensors before;
    std::vector<uint64_t> versions;
    for (const Tensor& t : x) {
      before.push_back(row_major(t));
      versions.push_back(t.array().version());
    }
    const Tensor v_before = row_major(v);
    gradients(row, x, v);
    gradients(row, x, v, {.create_graph = true});
    for (size_t i = 0; i < x.size(); ++i) {
      CHECK(identical(x[i], before[i]));
      CHECK_EQ(x[i].array().version(), versions[i]);
    }
    CHECK(identical(v, v_before));
  }
}

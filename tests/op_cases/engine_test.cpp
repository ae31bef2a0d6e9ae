#include <cmath>

#include <doctest/doctest.h>
#include <tests/op_cases/variants.h>

#include <attograd/core/checkpoint.h>
#include <attograd/core/detect_anomaly.h>
#include <attograd/core/ops.h>

using namespace attograd;
using namespace attograd::op_cases;

namespace {

bool is_finite_all(const Tensor& x) {
  return !is_floating(x.dtype()) || std::isfinite(magnitude(cast(x, DType::f64)));
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an operation is no anomaly while what it gives is finite") {
  int tried = 0;
  for (const OpCase& row : table().cases)
    for (const DType dtype : {DType::f32, DType::f64}) {
      CAPTURE(row.name());
      const Tensors x = make_inputs(row.inputs, 1, dtype);
      const Tensor y = row.call(x);
      if (!is_finite_all(y)) continue;
      CHECK(error_of([&] {
              const DetectAnomaly guard;
              row.call(x);
            }) == "");
      if (!y.requires_grad()) continue;
      bool finite = true;
      for (const Tensor& g : gradients(row, x, cotangent(y))) finite = finite && is_finite_all(g);
      if (!finite) continue;
      ++tried;
      for (const bool create_graph : {false, true})
        CHECK(error_of([&] {
                const DetectAnomaly guard;
                gradients(row, x, cotangent(y), {.create_graph = create_graph});
              }) == "");
    }
  CHECK(tried > 200);
}

TEST_CASE("a checkpoint of any operation gives the same bits") {
  for (const OpCase& row : table().cases) {
    CAPTURE(row.name());
    const Tensors x = make_inputs(row.inputs, 1);
    const Tensor plain = row.call(x), kept = checkpoint(row.call, x);
    CHECK(identical(plain, kept));
    if (!plain.requires_grad()) continue;
    const Tensor v = cotangent(plain);
    OpCase checkpointed = row;
    checkpointed.call = [&row](const Tensors& in) { return checkpoint(row.call, in); };
    const Tensors right = gradients(row, x, v), found = gradients(checkpointed, x, v);
    for (size_t i = 0; i < right.size(); ++i) CHECK(identical(right[i], found[i]));
  }
}

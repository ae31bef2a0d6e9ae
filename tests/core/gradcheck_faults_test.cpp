// The checks must have teeth: every wrong rule here fails, at every seed.
#include <algorithm>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>
#include <attograd/core/random.h>

using namespace attograd;

namespace {

struct Fault {
  std::string name;
  TensorFunction f;
  std::vector<Shape> inputs;
};

Tensor exp_with(const Tensor& x, Rule rule) {
  return record({.name = user_op("exp_with"),
                 .inputs = {x},
                 .value = exp(detach(x)).array(),
                 .vjp = {std::move(rule)}});
}

TensorFunction exp_fault(const Rule& rule) {
  return [rule](const Tensors& x) { return exp_with(x[0], rule); };
}

/// Moves every number one place on.
Tensor shifted(const Tensor& x) {
  std::vector<double> v = x.to_vector<double>();
  std::rotate(v.begin(), v.begin() + 1, v.end());
  return from_values(x.shape(), v, x.dtype());
}

Tensor with_first_entry_scaled(const Tensor& x, double factor) {
  std::vector<double> v = x.to_vector<double>();
  v[0] *= factor;
  return from_values(x.shape(), v, x.dtype());
}

std::vector<Fault> elementwise_faults() {
  using T = const Tensor&;
  const std::vector<Shape> x = {{2, 3}};
  return {
      {"sign", exp_fault([](T g, T y) { return -g * y; }), x},
      {"twice", exp_fault([](T g, T y) { return g * y * 2; }), x},
      {"half", exp_fault([](T g, T y) { return g * y * 0.5; }), x},
      {"a thousandth", exp_fault([](T g, T y) { return g * y * 1.001; }), x},
      {"a millionth", exp_fault([](T g, T y) { return g * y * 1.000001; }), x},
      {"zero", exp_fault([](T g, T y) { return g * y * 0; }), x},
      {"ignores g", exp_fault([](T, T y) { return y; }), x},
      {"g for 1", exp_fault([](T g) { return g; }), x},
      {"g squared", exp_fault([](T g, T y) { return g * g * y; }), x},
      {"x for y", exp_fault([](T g, const Tensors& in) { return g * in[0]; }), x},
      {"shifted", exp_fault([](T g, T y) { return shifted(g * y); }), x},
      {"g shifted", exp_fault([](T g, T y) { return shifted(g) * y; }), x},
      {"one entry", exp_fault([](T g, T y) { return with_first_entry_scaled(g * y, 1.001); }), x},
      {"sum for each", exp_fault([](T g, T y) {
         return expand(sum(g * y), {2, 3});
       }),
       x},
      {"detached factor", [](const Tensors& in) { return in[0] * detach(in[0]); }, x},
  };
}

/// mul(a, b) with a pair of rules.
TensorFunction product(Rule first, Rule second, bool broadcasts = true) {
  return [first, second, broadcasts](const Tensors& x) {
    return record({.name = user_op("product"),
                   .inputs = {x[0], x.back()},
                   .value = (detach(x[0]) * detach(x.back())).array(),
                   .vjp = {first, second},
                   .broadcasts = broadcasts});
  };
}

std::vector<Fault> binary_faults() {
  using T = const Tensor&;
  using In = const Tensors&;
  const Rule left = [](T g, In x) { return g * x[1]; };
  const Rule right = [](T g, In x) { return g * x[0]; };
  const Rule zero = [](T g, In x) { return g * x[0] * 0; };
  return {
      {"operands swapped", product(right, left), {{2, 3}, {2, 3}}},
      {"one input forgotten", product(left, zero), {{2, 3}, {2, 3}}},
      {"overwritten instead of added", product(zero, right), {{2, 3}}},
      {"broadcast: first slice",
       product(
           left,
           [](T g, In x) {
             Array row = (g * x[0]).array();
             return Tensor(row.view({1, 3}, {3, 1}).copy());
           },
           false),
       {{2, 3}, {1, 3}}},
      {"broadcast: mean",
       product(
           left, [](T g, In x) { return sum(g * x[0], 0, true) / 2; }, false),
       {{2, 3}, {1, 3}}},
      {"broadcast: sum of g times sum of x",
       product(
           left, [](T g, In x) { return sum(g, 0, true) * sum(x[0], 0, true); }, false),
       {{2, 3}, {1, 3}}},
  };
}

TensorFunction softmax_fault(Rule rule) {
  return [rule](const Tensors& x) {
    const Tensor e = exp(detach(x[0]));
    return record({.name = user_op("softmax_with"),
                   .inputs = {x[0]},
                   .value = (e / sum(e, -1, true)).array(),
                   .vjp = {rule}});
  };
}

std::vector<Fault> softmax_faults() {
  using T = const Tensor&;
  const std::vector<Shape> x = {{3, 3}};
  return {
      {"softmax: mean term dropped", softmax_fault([](T g, T y) { return y * g; }), x},
      {"softmax: wrong axis", softmax_fault([](T g, T y) { return y * (g - sum(y * g, 0, true)); }),
       x},
      {"softmax: all axes", softmax_fault([](T g, T y) { return y * (g - sum(y * g)); }), x},
      {"softmax: mean of g alone",
       softmax_fault([](T g, T y) { return y * (g - sum(g, -1, true)); }), x},
      {"softmax: diagonal", softmax_fault([](T g, T y) { return g * y * (1.0 - y); }), x},
      {"softmax: sign", softmax_fault([](T g, T y) { return y * (sum(y * g, -1, true) - g); }), x},
      {"softmax: zero", softmax_fault([](T g, T y) { return g * y * 0; }), x},
      {"softmax: all-ones cotangent",
       softmax_fault([](T, T y) { return y * (1.0 - sum(y, -1, true)); }), x},
  };
}

Tensor transposed(const Tensor& x) {
  return Tensor(
      x.array().view({x.dim(1), x.dim(0)}, {x.array().strides()[1], x.array().strides()[0]}));
}

TensorFunction transpose_with(Rule rule) {
  return [rule](const Tensors& x) {
    return record({.name = user_op("transpose_with"),
                   .inputs = {x[0]},
                   .value = transposed(x[0]).array(),
                   .vjp = {rule}});
  };
}

std::vector<Fault> all_faults() {
  std::vector<Fault> all = elementwise_faults();
  for (const auto& more : {binary_faults(), softmax_faults()})
    all.insert(all.end(), more.begin(), more.end());
  all.push_back({"transposed", transpose_with([](const Tensor& g) { return g; }), {{3, 3}}});
  return all;
}

Tensors leaves(const std::vector<Shape>& shapes, uint64_t seed) {
  Rng rng(seed);
  Tensors x;
  for (const Shape& shape : shapes) x.push_back(randn(shape, rng, DType::f64).set_requires_grad());
  return x;
}

constexpr uint64_t kSeeds = 50;

}  // namespace

TEST_CASE("every wrong rule fails") {
  for (const Fault& fault : all_faults())
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      const GradcheckReport report =
          gradcheck(fault.f, leaves(fault.inputs, seed), {.name = fault.name, .seed = seed});
      CHECK_MESSAGE(report.verdict() == Verdict::fail, report);
    }
}

TEST_CASE("the same operations with the right rules pass") {
  using T = const Tensor&;
  using In = const Tensors&;
  const Rule left = [](T g, In x) { return g * x[1]; };
  const Rule right = [](T g, In x) { return g * x[0]; };
  const std::vector<Fault> rights = {
      {"exp", exp_fault([](T g, T y) { return g * y; }), {{2, 3}}},
      {"product", product(left, right), {{2, 3}, {2, 3}}},
      {"square", product(left, right), {{2, 3}}},
      {"broadcast product", product(left, right), {{2, 3}, {1, 3}}},
      {"softmax", softmax_fault([](T g, T y) { return y * (g - sum(y * g, -1, true)); }), {{3, 3}}},
      {"transpose", transpose_with([](T g) { return transposed(g); }), {{3, 3}}},
  };
  for (const Fault& correct : rights)
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      const GradcheckReport report =
          gradcheck(correct.f, leaves(correct.inputs, seed), {.name = correct.name, .seed = seed});
      CHECK_MESSAGE(report.ok(), report);
    }
}

TEST_CASE("a first derivative that cannot be differentiated fails at second order only") {
  using T = const Tensor&;
  const std::vector<Fault> faults = {
      {"y detached", exp_fault([](T g, T y) { return g * detach(y); }), {{2, 3}}},
      {"g detached", exp_fault([](T g, T y) { return detach(g) * y; }), {{2, 3}}},
      {"computed outside of the graph",
       exp_fault([](T g, T y) { return Tensor((g * y).array()); }),
       {{2, 3}}},
      {"softmax: sum detached",
       softmax_fault([](T g, T y) { return y * (g - detach(sum(y * g, -1, true))); }),
       {{3, 3}}},
  };
  for (const Fault& fault : faults)
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(fault.name);
      const Tensors x = leaves(fault.inputs, seed);
      CHECK(gradcheck(fault.f, x, {.seed = seed}).ok());
      CHECK(gradgradcheck(fault.f, x, {.seed = seed}).verdict() == Verdict::fail);
    }
}

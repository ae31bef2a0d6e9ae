#include <memory>

#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATTOGRAD_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATTOGRAD_TEST_SANITIZED 1
#endif
#endif

using namespace attograd;

namespace {

using Values = std::vector<double>;

#ifdef ATTOGRAD_TEST_SANITIZED
constexpr int kLong = 100'000;  // sanitized code is slow, and its stack frames are large
#else
constexpr int kLong = 1'000'000;
#endif

Tensor leaf(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}

/// x and a count of the runs of its rule.
Tensor counted_alias(const Tensor& x, int* runs) {
  return record({.name = user_op("counted_alias"),
                 .inputs = {x},
                 .value = x.array(),
                 .vjp = {[runs](const Tensor& g) {
                   ++*runs;
                   return g;
                 }}});
}

std::string error_of(const Tensor& y) {
  try {
    backward(sum(y));
  } catch (const GraphError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

// ---- a user's operation ----

namespace {

Tensor cube(const Tensor& x) {
  return record(
      {.name = user_op("cube"),
       .inputs = {x},
       .value = (detach(x) * detach(x) * detach(x)).array(),
       .vjp = {[](const Tensor& g, const Tensors& in) { return g * 3 * in[0] * in[0]; }}});
}

/// a * b with a kernel that gives wrong gradients, so that its use can be seen.
Tensor fused_product(const Tensor& a, const Tensor& b) {
  return record(Fused{.name = user_op("fused_product"),
                      .inputs = {a, b},
                      .value = (detach(a) * detach(b)).array(),
                      .reference = [](const Tensors& x) { return x[0] * x[1]; },
                      .vjp_kernel = [](const KernelArguments& in) -> Arrays {
                        Arrays found(2);
                        for (size_t i = 0; i < 2; ++i)
                          if (in.wants[i])
                            found[i] =
                                Array::filled(in.y.shape(), in.y.dtype(), i == 0 ? 100 : 200);
                        return found;
                      }});
}

}  // namespace

TEST_CASE("an operation of the user is differentiated to any order") {
  const Tensor x = leaf({2});
  const Tensor first = grad({sum(cube(x))}, {x}, {.create_graph = true})[0];
  const Tensor second = grad({sum(first)}, {x}, {.create_graph = true})[0];
  CHECK(first.to_vector<double>() == Values{12});
  CHECK(second.to_vector<double>() == Values{12});
}

TEST_CASE("each input needs a rule") {
  const auto missing = [] {
    record({.name = user_op("odd"), .inputs = {leaf({1})}, .value = leaf({1}).array(), .vjp = {}});
  };
  CHECK_THROWS_WITH_AS(missing(),
                       "odd: needs a rule for each of 1 inputs, got 0; use not_differentiable for "
                       "indices and masks",
                       GraphError);
}

TEST_CASE("a rule that returns another shape is named") {
  const Tensor x = leaf({1, 2});
  const Tensor y = record(
      {.name = user_op("odd"), .inputs = {x}, .value = x.array(), .vjp = {[](const Tensor& g) {
                                                                    return sum(g);
                                                                  }}});
  CHECK(error_of(y) == "backward of odd: the rule of input 0 must give f64[2], got f64[]");
}

TEST_CASE("a fused operation runs its kernel unless the gradient is recorded") {
  const Tensor a = leaf({2}), b = leaf({3});
  const Tensor y = fused_product(a, b);
  const Tensors plain = grad({y}, {a, b}, {.retain_graph = true});
  CHECK(plain[0].item() == 100);
  CHECK(plain[1].item() == 200);
  const Tensors recorded = grad({y}, {a, b}, {.create_graph = true});
  CHECK(recorded[0].item() == 3);
  CHECK(recorded[1].item() == 2);
  CHECK(grad({recorded[0]}, {b})[0].item() == 1);
}

TEST_CASE("a fused operation counts an input for its own place only") {
  const Tensor x = leaf({3});
  const Tensor square_of = fused_product(x, x);
  const Tensor first = grad({square_of}, {x}, {.create_graph = true})[0];
  CHECK(first.item() == 6);
  CHECK(grad({first}, {x})[0].item() == 2);
  const Tensor related = fused_product(x, cube(x));  // one input depends on the other: x^4
  const Tensor slope = grad({related}, {x}, {.create_graph = true})[0];
  CHECK(slope.item() == 4 * 27);
  CHECK(grad({slope}, {x})[0].item() == 12 * 9);
}

TEST_CASE("rules run once and only for inputs that need a gradient") {
  const Tensor x = leaf({1}), constant = tensor({2}, DType::f64);
  int once = 0, never = 0, other = 0;
  Tensor y = counted_alias(x, &once) * counted_alias(constant, &never);
  y = y + y * y;
  const Tensor aside = counted_alias(x, &other) * 5;
  grad({y + sum(aside) * 0}, {x}, {.retain_graph = true});
  CHECK(once == 1);
  CHECK(never == 0);
  CHECK(other == 1);
  const Tensor late = leaf({1});
  grad({sum(y * late)}, {late});  // nothing before `late` has to be run
  CHECK(once == 1);
}

TEST_CASE("a rule that gives no gradient is an error that names the operation") {
  const Tensor x = leaf({1, 2});
  const Tensor y = record(
      {.name = user_op("forgetful"), .inputs = {x}, .value = x.array(), .vjp = {[](const Tensor&) {
                                                                          return Tensor();
                                                                        }}});
  CHECK_THROWS_WITH_AS(
      backward(sum(y)),
      "backward of forgetful: input 0 requires a gradient, but its rule gives none; "
      "declare the input not_differentiable if that is meant",
      GraphError);
}

TEST_CASE("an operation that is declared not differentiable cuts the path") {
  const Tensor x = leaf({1, 2});
  const Tensor y = record({.name = user_op("constant"),
                           .inputs = {x},
                           .value = x.array(),
                           .vjp = {not_differentiable}});
  CHECK_THROWS_AS(grad({sum(y)}, {x}, {.retain_graph = true}), GraphError);
  CHECK(grad({sum(y + x)}, {x})[0].to_vector<double>() == Values{1, 1});
}

// ---- what is kept, and freed ----

TEST_CASE("long chains are built and run and freed without recursion") {
  const Tensor x = leaf({1});
  {
    Tensor y = x;
    for (int i = 0; i < kLong; ++i) y = y + x;  // keeps no values
    backward(y);
  }
  CHECK(x.grad().item() == kLong + 1);
  {
    Tensor y = x;
    for (int i = 0; i < kLong / 10; ++i) y = y * x;  // keeps both inputs; freed without being run
  }
  {
    Tensor y = x;
    for (int i = 0; i < kLong / 10; ++i) y = tanh(y);
    grad({y}, {x}, {.retain_graph = true});
  }
}

TEST_CASE("a chain that shares its nodes in many ways is freed") {
  std::weak_ptr<Node> first;
  {
    const Tensor x = leaf({1});
    Tensor y = x * x;
    first = y.node();
    for (int i = 0; i < kLong / 100; ++i) y = y * y + y * x;
    CHECK_FALSE(first.expired());
  }
  CHECK(first.expired());
}

TEST_CASE("no node owns itself") {
  std::vector<std::weak_ptr<Node>> nodes;
  {
    const Tensor x = leaf({1, 2}), w = leaf({3, 4});
    for (const Tensor& y : {x + w, x * w, exp(x), tanh(x), log(w), cube(x), fused_product(x, w)}) {
      const Tensor g = grad({y}, {x, w}, {.create_graph = true, .allow_unused = true},
                            {ones({2}, DType::f64)})[0];
      nodes.push_back(y.node());
      if (g.defined()) nodes.push_back(g.node());
    }
    nodes.push_back(x.node());
  }
  for (const auto& node : nodes) CHECK(node.expired());
}

TEST_CASE("backward frees the values on the way") {
  const Tensor x = leaf({1, 2});
  const Tensor a = exp(x);
  const Tensor y = sum(a * a);
  std::weak_ptr<Node> inner;
  {
    const Tensor b = x * x;
    inner = b.node();
    backward(sum(b * a), {}, {.retain_graph = true});
  }
  backward(y);
  CHECK(inner.expired());
  CHECK(a.node()->freed);
  CHECK(a.node()->inputs.empty());
}

TEST_CASE("inputs that gradients do not reach are kept without their nodes") {
  // A value that is read and declared a constant: the graph must not own what made it.
  const auto scaled = [](const Tensor& by, const Tensor& x) {
    return record({.name = user_op("scaled"),
                   .inputs = {by, x},
                   .value = (detach(by) * detach(x)).array(),
                   .vjp = {not_differentiable,
                           [](const Tensor& g, const Tensors& in) { return g * in[0]; }}});
  };
  const Tensor x = leaf({1});
  Tensor y = x * 1;
  const std::weak_ptr<Node> first = y.node();
  y = scaled(y, x);
  CHECK(first.expired());
  for (int i = 0; i < kLong / 10; ++i) y = scaled(y, x);  // freed without recursion
}

// ---- values that change after they were saved ----

TEST_CASE("a saved value that is written to makes backward throw") {
  const Tensor a = leaf({1, 2, 3});
  {
    Tensor b = a * 2;
    const Tensor c = b * b;
    b.mutable_data<double>()[1] = 3.3;
    const std::string text = error_of(c);
    CHECK(contains(text, "backward of mul: the f64[3] that it saved was written in place"));
  }
  {
    const Tensor y = exp(a);
    Tensor view = reshape(y, {3, 1});
    {
      const NoGrad guard;
      view.assign(zeros({3, 1}));  // through a view, and while nothing is recorded
    }
    CHECK(contains(error_of(y), "backward of exp: the f64[3] that it saved"));
  }
}

TEST_CASE("writing is noticed through every view and for constants too") {
  const Tensor w = leaf({1, 2, 3});
  Tensor base = ones({3, 2}, DType::f64);
  const Tensor y = w * select(base, 1, 0);
  Tensor other = slice(base, 1, 1);
  other.assign(zeros({3, 1}, DType::f64));
  CHECK(contains(error_of(y), "backward of mul"));

  const Tensor matrix = ones({2, 2}, DType::f64).set_requires_grad();
  Tensor x = ones({2, 2}, DType::f64);
  const Tensor product = matmul(x, matrix);
  x.assign(x + 1);
  CHECK(contains(error_of(product), "backward of matmul"));
}

TEST_CASE("a value that no rule reads may be written to") {
  const Tensor a = leaf({1, 2, 3});
  Tensor b = a * 2;
  const Tensor c = b + 1;
  b.mutable_data<double>()[1] = 3.3;
  backward(sum(c));
  CHECK(a.grad().to_vector<double>() == Values{2, 2, 2});
}

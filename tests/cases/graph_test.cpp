// The graph: reuse, the life of a backward pass, changes in place.

#include <chrono>
#include <cmath>

#include <doctest/doctest.h>
#include <tests/exact.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

Tensor leaf(double value) { return tensor(value, DType::f64).set_requires_grad(); }
Tensor leaf(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}
Tensor leaf(std::initializer_list<std::initializer_list<double>> rows) {
  return tensor(rows, DType::f64).set_requires_grad();
}

Tensor squared(const Tensor& x) { return x * x; }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string error_of_backward(const Tensor& y) {
  return message_of<GraphError>([&] { backward(y); });
}

}  // namespace

// ---- structure and reuse ----

TEST_CASE("GRF-01 values used twice pass on their complete gradient") {
  const Tensor a = leaf(1.5);
  const Tensor b = leaf(-2);
  const Tensor c = a + b;
  const Tensor d = a * b;
  const Tensor y = (c + d) + c * d;
  backward(y);
  CHECK(y.item() == -2);
  CHECK(a.grad().item() == -3);
  CHECK(b.grad().item() == -1.25);
}

TEST_CASE("GRF-02 a chain of diamonds costs one step for each level") {
  using Clock = std::chrono::steady_clock;
  for (const int levels : {30, 60}) {
    const auto begin = Clock::now();
    const Tensor x = leaf(1);
    Tensor y = x;
    for (int level = 0; level < levels; ++level) y = y + y;
    backward(y);
    CHECK(x.grad().item() == std::ldexp(1.0, levels));
    CHECK(Clock::now() - begin < std::chrono::seconds(1));  // 2^60 paths would take 30 years
  }
}

TEST_CASE("GRF-05 the same tensor in both places gets both contributions") {
  const auto gradient_at = [](const auto& f, Tensor x) {
    return grad({sum(f(x))}, {x})[0].template to_vector<double>();
  };
  const Tensor x = leaf({1.5, -2});
  CHECK(gradient_at([](const Tensor& v) { return v * v * v; }, x) == Values{6.75, 12});
  CHECK(gradient_at([](const Tensor& v) { return v - v; }, x) == Values{0, 0});
  CHECK(gradient_at([](const Tensor& v) { return v / v; }, x) == Values{0, 0});
  const Tensor m = leaf({{1, 2}, {3, 4}});
  const auto squared = [](const Tensor& v) { return matmul(v, v); };
  const auto gram = [](const Tensor& v) { return matmul(v, transpose(v)); };
  CHECK(gradient_at(squared, m) == Values{7, 11, 9, 13});
  CHECK(gradient_at(gram, m) == Values{8, 12, 8, 12});
}

// ---- backward, again and again ----

TEST_CASE("LIF-01 leaves accumulate and results do not") {
  const Tensor a = leaf(1), b = leaf(4), d = leaf(3);
  const auto check_gradients = [&](double da, double db, double dd) {
    CHECK(a.grad().item() == da);
    CHECK(b.grad().item() == db);
    CHECK(d.grad().item() == dd);
  };
  const Tensor c = a * b;
  const Tensor e = c * d;
  backward(e, {}, {.retain_graph = true});
  check_gradients(12, 3, 4);
  backward(e);
  check_gradients(24, 6, 8);
  for (Tensor x : {a, b, d}) x.clear_grad();
  backward(a * b * d);
  check_gradients(12, 3, 4);
  CHECK_FALSE(c.grad().defined());
}

TEST_CASE("LIF-02 the three frequent mistakes have three texts") {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(exp(x) * x);
  backward(y);
  CHECK(error_of_backward(y) ==
        "backward: the graph of sum was freed by an earlier pass; pass {.retain_graph = true} to "
        "that pass");
  CHECK(contains(error_of_backward(x * 2),
                 "a result with several elements needs a seed, got f64[2]"));
  CHECK(contains(error_of_backward(sum(tensor({1, 2}, DType::f64))),
                 "nothing that f64[] depends on requires gradients"));
}

TEST_CASE("LIF-02 a state carried over from a freed step is an error") {
  const Tensor w = leaf(0.5);
  Tensor state = tensor(1, DType::f64);
  state = tanh(w * state);
  backward(state);
  CHECK(contains(error_of_backward(tanh(w * state)), "was freed by an earlier pass"));
  backward(tanh(w * detach(state)));
}

TEST_CASE("LIF-05 constants and results get no gradient and integers cannot have one") {
  const Tensor w = leaf(2), c = tensor(3, DType::f64);
  Tensor h = w * 2, kept = w * 2;
  kept.retain_grad();
  backward(w * c + c + h + kept);
  CHECK(w.grad().item() == 7);
  CHECK_FALSE(c.grad().defined());
  CHECK_FALSE(h.grad().defined());
  CHECK(kept.grad().item() == 1);
  CHECK(message_of<DTypeError>([] { arange(0, 3).set_requires_grad(); }) ==
        "set_requires_grad: needs f32 or f64, got i64[3]");
  CHECK(contains(message_of<GraphError>([&] { h.set_requires_grad(false); }),
                 "cannot be switched off on f64[], the result of an operation"));
}

TEST_CASE("LIF-06 a cube has four derivatives") {
  const Tensor x = leaf(2);
  Tensor y = x * x * x;
  for (const double expected : {12.0, 12.0, 6.0}) {
    y = grad({y}, {x}, {.create_graph = true})[0];
    CHECK(y.item() == expected);
  }
  const Tensors fourth = grad({y}, {x}, {.create_graph = true, .allow_unused = true});
  CHECK((!fourth[0].defined() || fourth[0].item() == 0));
}

TEST_CASE("LIF-06 derivatives of exp and tanh to order four") {
  const double at = 0.3;
  const double t = std::tanh(at), s = 1 - t * t;
  const std::vector<double> of_tanh = {s, -2 * t * s, s * (4 * t * t - 2 * s),
                                       8 * t * s * (2 * s - t * t)};
  const Tensor x = leaf(at);
  Tensor e = exp(x);
  Tensor y = tanh(x);
  for (const double expected : of_tanh) {
    e = grad({e}, {x}, {.create_graph = true})[0];
    y = grad({y}, {x}, {.create_graph = true})[0];
    CHECK(e.item() == doctest::Approx(std::exp(at)).epsilon(1e-14));
    CHECK(y.item() == doctest::Approx(expected).epsilon(1e-13));
  }
}

TEST_CASE("LIF-06 matmul and softmax and layer norm are differentiated again and again") {
  // f(s) = <c, softmax(layer_norm(s a) b)> along a line, against differences of one order less.
  const Tensor a = tensor({{0.3, -1, 2}, {1, 0.5, -0.2}}, DType::f64),
               b = tensor({{1, -0.5}, {0.3, 0.8}, {-0.6, 0.1}}, DType::f64),
               c = tensor({{1, -2}, {0.5, 3}}, DType::f64);
  const auto derivatives = [&](double at) {
    const Tensor s = leaf(at);
    Tensor y = sum(c * softmax(matmul(layer_norm(s * a, {}, {}, 0.5), b)));
    Values orders = {y.item()};
    for (int order = 1; order <= 4; ++order) {
      y = grad({y}, {s}, {.create_graph = true})[0];
      orders.push_back(y.item());
    }
    return orders;
  };
  constexpr double kStep = 1e-4;
  const Values at = derivatives(0.7), left = derivatives(0.7 - kStep),
               right = derivatives(0.7 + kStep);
  for (size_t order = 1; order <= 4; ++order) {
    CAPTURE(order);
    CHECK(at[order] != 0);
    // A central difference errs by step^2 / 6 of the third derivative, here some 1e-7 of it.
    CHECK(at[order] ==
          doctest::Approx((right[order - 1] - left[order - 1]) / (2 * kStep)).epsilon(1e-5));
  }
}

TEST_CASE("LIF-06 mixed derivatives by grad and by accumulating passes") {
  const Tensor a = leaf(1.5), x = leaf(2);
  const Tensor dx = grad({squared(a * x)}, {x}, {.create_graph = true})[0];
  CHECK(dx.item() == 9);
  CHECK(grad({dx}, {a})[0].item() == 12);

  backward(squared(a * x), {}, {.create_graph = true});
  const Tensor first = x.grad();
  CHECK(first.item() == 9);
  backward(first);
  CHECK(a.grad().item() == 24);  // 12 from the first pass, and 12 from the second
  for (Tensor t : {a, x}) t.clear_grad();
}

// ---- changes in place ----

TEST_CASE("INP-01 a saved value that is written to makes backward throw") {
  const Tensor a = leaf({1, 2, 3});
  Tensor b = 2 * a;
  const Tensor c = b * b;
  b.mutable_data<double>()[1] = 3.3;
  CHECK(contains(error_of_backward(sum(c)),
                 "backward of mul: the f64[3] that it saved was written in place afterwards"));
  CHECK_FALSE(a.grad().defined());
  const Tensor w = leaf({{1, 2}, {3, 4}});
  for (const bool unrecorded : {false, true}) {
    Tensor x = ones({2, 2}, DType::f64);
    const Tensor y = sum(matmul(transpose(x), w));  // what is saved is a view of x
    const NoGrad guard(unrecorded);
    x.assign(x + 1);
    CHECK(contains(error_of_backward(y), "backward of matmul: the f64[2, 2] that it saved"));
  }
}

TEST_CASE("INP-03 elements that share memory cannot be written") {
  const Tensor one = tensor({1});
  Tensor x = expand(one, {3});
  const std::string text =
      "mutable_data: several elements of the expanded f32[3] share one place in memory; write to a "
      "copy";
  CHECK(message_of<ShapeError>([&] { x.assign(x + tensor({1, 2, 3})); }) == text);
  CHECK(message_of<ShapeError>([&] { x.mutable_data<float>(); }) == text);
  CHECK(one.item() == 1);
}

TEST_CASE("INP-03 a gradient that arrives expanded is not accumulated into") {
  const Tensor x = leaf({1, 2, 3});
  backward(sum(x));  // one number three times
  backward(x, tensor({1, 2, 3}, DType::f64));
  CHECK(values_of(x.grad()) == Values{2, 3, 4});
}

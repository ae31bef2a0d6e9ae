#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

Tensor leaf(double value) { return tensor(value, DType::f64).set_requires_grad(); }
Tensor leaf(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}

Values gradient_of(const Tensor& x) { return x.grad().to_vector<double>(); }

}  // namespace

TEST_CASE("the expression of micrograd's README has its published values") {
  const Tensor a = leaf(-4.0);
  const Tensor b = leaf(2.0);
  Tensor c = a + b;
  Tensor d = a * b + pow(b, 3);
  c = c + c + 1;
  c = c + 1 + c + (-a);
  d = d + d * 2 + relu(b + a);
  d = d + 3 * d + relu(b - a);
  const Tensor e = c - d;
  const Tensor f = square(e);
  Tensor g = f / 2.0;
  g = g + 10.0 / f;
  backward(g);
  CHECK(g.item() == doctest::Approx(24.7041).epsilon(1e-6));
  CHECK(a.grad().item() == doctest::Approx(138.8338).epsilon(1e-6));
  CHECK(b.grad().item() == doctest::Approx(645.5773).epsilon(1e-6));
}

// ---- backward, again and again ----

TEST_CASE("a result with several elements needs a seed") {
  const Tensor x = leaf({1, 2});
  CHECK_THROWS_WITH_AS(backward(x * 2),
                       "backward: a result with several elements needs a seed, got f64[2]; pass "
                       "one of its shape, or reduce it with sum or mean",
                       GraphError);
  backward(x * 2, tensor({10, 100}, DType::f64));
  CHECK(gradient_of(x) == Values{20, 200});
  CHECK_THROWS_AS(backward(x * 2, tensor({1, 2, 3}, DType::f64)), ShapeError);
  CHECK_THROWS_AS(backward(x * 2, tensor({1, 2})), ShapeError);  // f32
}

TEST_CASE("a result of constants has nothing to differentiate") {
  const Tensor c = tensor(2, DType::f64);
  CHECK_THROWS_AS(backward(c * c), GraphError);
  CHECK_THROWS_AS(backward(detach(leaf(1) * 2)), GraphError);
  CHECK_THROWS_AS(backward(Tensor()), GraphError);
}

TEST_CASE("backward of a leaf gives it a gradient of one") {
  const Tensor x = leaf(3);
  backward(x);
  CHECK(x.grad().item() == 1);
}

TEST_CASE("results keep their gradient when asked to") {
  const Tensor x = leaf({1, 2});
  Tensor h = x * x;
  h.retain_grad();
  const Tensor y = sum(h * 3);
  backward(y, {}, {.retain_graph = true});
  CHECK(gradient_of(h) == Values{3, 3});
  backward(y);
  CHECK(gradient_of(h) == Values{6, 6});
  CHECK_THROWS_AS(tensor(1).retain_grad(), GraphError);
}

TEST_CASE("a result that was asked twice keeps its gradient once and a leaf keeps its own") {
  Tensor x = leaf({1, 2});
  Tensor h = x * x;
  const Tensor other = h * 1;
  h.retain_grad();
  h.retain_grad();
  x.retain_grad();
  backward(sum(other * 3));
  CHECK(gradient_of(h) == Values{3, 3});
  CHECK(gradient_of(x) == Values{6, 12});
  CHECK_FALSE(other.grad().defined());
  Tensor k = x * x;
  k.retain_grad();
  grad({sum(k)}, {x, k});  // touches neither
  CHECK_FALSE(k.grad().defined());
  CHECK(gradient_of(x) == Values{6, 12});
}

TEST_CASE("a leaf that a graph refers to stays one") {
  Tensor w = leaf(3);
  Tensor y = w * w;
  CHECK_THROWS_WITH_AS(w.set_requires_grad(false),
                       "set_requires_grad: cannot be switched off on f64[] while a recorded graph "
                       "refers to it; run backward on that graph or let go of it first, or use "
                       "detach(x) for a constant",
                       GraphError);
  w.set_requires_grad();
  backward(y);
  CHECK(w.grad().item() == 6);  // not lost in a leaf of before
  w.set_requires_grad(false);   // y is still there, and freed
  CHECK_FALSE((w * w).requires_grad());
  CHECK_FALSE(w.grad().defined());
  w.set_requires_grad();
  y = w * w;
  y = Tensor();
  w.set_requires_grad(false);
  CHECK_FALSE(w.requires_grad());
}

TEST_CASE("gradients of leaves share no memory") {
  for (const bool create_graph : {false, true}) {
    CAPTURE(create_graph);
    const Tensor a = leaf({1, 2}), b = leaf({3, 4}), c = leaf({5, 6});
    Tensor h = a + b;
    h.retain_grad();
    const Tensor seed = ones({2}, DType::f64);
    backward(h + c, seed, {.create_graph = create_graph});
    const Tensors grads = {a.grad(), b.grad(), c.grad(), h.grad(), seed};
    for (size_t i = 0; i < grads.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        CHECK_FALSE(grads[i].array().shares_storage_with(grads[j].array()));
    for (Tensor x : {a, b, c}) x.clear_grad();
  }
  const Tensor x = leaf({1, 2});
  backward(sum(x));  // an expanded number
  CHECK(x.grad().array().is_contiguous());
  x.grad().mutable_data<double>()[0] = 7;
  CHECK(gradient_of(x) == Values{7, 1});
}

// ---- grad ----

TEST_CASE("grad leaves the gradients of leaves alone") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  const Tensors g = grad({sum(y)}, {x, y}, {.retain_graph = true});
  CHECK(g[0].to_vector<double>() == Values{2, 4});
  CHECK(g[1].to_vector<double>() == Values{1, 1});
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(y.grad().defined());
}

TEST_CASE("grad sums over several outputs with their seeds") {
  const Tensor x = leaf({1, 2});
  const Tensor a = x * 2, b = sum(x * x);
  const Tensors g = grad({a, b, a}, {x}, {},
                         {tensor({1, 10}, DType::f64), Tensor(), tensor({100, 0}, DType::f64)});
  CHECK(g[0].to_vector<double>() == Values{2 + 2 + 200, 20 + 4});
  CHECK_THROWS_AS(grad({sum(x)}, {x}, {}, Tensors(2)), GraphError);
}

TEST_CASE("grad of an output for itself is the seed") {
  const Tensor x = leaf(2);
  const Tensor y = x * x;
  const Tensors g = grad({y}, {y, x, y});
  CHECK(g[0].item() == 1);
  CHECK(g[1].item() == 4);
  CHECK(g[2].item() == 1);
}

TEST_CASE("an input that does not matter is an error unless allowed") {
  const Tensor x = leaf(1), unused = leaf(2);
  const Tensor y = x * 2;
  CHECK_THROWS_WITH_AS(grad({y}, {x, unused}, {.retain_graph = true}),
                       "grad: input 1, f64[], is not used by the outputs; pass {.allow_unused = "
                       "true} if that is meant",
                       GraphError);
  const Tensors g = grad({y}, {x, unused}, {.allow_unused = true});
  CHECK(g[0].item() == 2);
  CHECK_FALSE(g[1].defined());
  CHECK_THROWS_AS(grad({x * 2}, {tensor(1, DType::f64)}), GraphError);
}

TEST_CASE("what was freed before the inputs does not matter") {
  const Tensor x = leaf(2);
  const Tensor h = x * x;
  backward(h);
  CHECK(grad({h * h}, {h})[0].item() == 8);
  CHECK(grad({h}, {h})[0].item() == 1);
  const Tensor late = leaf(5);
  CHECK(grad({h * late}, {late})[0].item() == 4);
  // x may lie behind h, and does.
  CHECK_THROWS_AS(grad({h * h}, {h, x}, {.allow_unused = true}), GraphError);
  CHECK_THROWS_AS(grad({h * x}, {x}), GraphError);
  CHECK(x.grad().item() == 4);
}

TEST_CASE("partial derivatives take each input for a variable of its own") {
  const Tensor a = leaf(3);
  const Tensor c = a * a;
  const Tensor y = c * a;
  const Tensors total = grad({y}, {c, a}, {.retain_graph = true});
  CHECK(total[0].item() == 3);
  CHECK(total[1].item() == 27);
  const Tensors partial = grad({y}, {c, a}, {.retain_graph = true, .partial = true});
  CHECK(partial[0].item() == 3);
  CHECK(partial[1].item() == 9);
  const Tensors own = grad({y}, {y, a}, {.allow_unused = true, .partial = true});
  CHECK(own[0].item() == 1);
  CHECK_FALSE(own[1].defined());
}

TEST_CASE("gradients of an unrecorded pass are constants whatever the seed is") {
  const Tensor x = leaf(2), seed = leaf(3);
  CHECK_FALSE(grad({x + 1}, {x}, {}, {seed})[0].requires_grad());
  CHECK_FALSE(grad({x}, {x}, {}, {seed})[0].requires_grad());
  backward(x + 1, seed);
  CHECK_FALSE(x.grad().requires_grad());
  CHECK(x.grad().item() == 3);
  CHECK(grad({x + 1}, {x}, {.create_graph = true}, {seed})[0].requires_grad());
  // A rule that gives an input as it is.
  const Tensor y =
      record(Primitive{.name = user_op("half_square"),
                       .inputs = {x},
                       .value = (x * x / 2).array(),
                       .vjp = {[](const Tensor&, const Tensors& in) { return in[0]; }}});
  CHECK_FALSE(grad({y}, {x}, {.retain_graph = true})[0].requires_grad());
  CHECK(grad({grad({y}, {x}, {.create_graph = true})[0]}, {x})[0].item() == 1);
}

TEST_CASE("recording is switched on again below NoGrad") {
  const Tensor x = leaf(2);
  const NoGrad off;
  {
    const EnableGrad on;
    CHECK((x * x).requires_grad());
  }
  CHECK_FALSE((x * x).requires_grad());
}

TEST_CASE("nothing is recorded below NoGrad") {
  const Tensor x = leaf(2);
  {
    const NoGrad guard;
    CHECK_FALSE(recording());
    CHECK_FALSE((x * x).requires_grad());
    { const NoGrad inner; }
    CHECK_FALSE(recording());
    const NoGrad switched_off(false);
    CHECK_FALSE(recording());
  }
  CHECK(recording());
  const Tensor y = x * x;
  CHECK_FALSE(grad({y}, {x})[0].requires_grad());
  CHECK(recording());
  CHECK_THROWS(backward(y));  // freed
  CHECK(recording());
}

TEST_CASE("detach passes the value and no gradient") {
  const Tensor x = leaf(3);
  const Tensor y = x * detach(x);
  backward(y);
  CHECK(x.grad().item() == 3);
  CHECK(detach(x).array().shares_storage_with(x.array()));
}

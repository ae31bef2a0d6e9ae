#include <stdexcept>
#include <tuple>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/hooks.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

Tensor leaf(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}

}  // namespace

TEST_CASE("a hook sees the complete gradient once in a pass") {
  const Tensor x = leaf({1, 2});
  const Tensor h = x * x;
  std::vector<Values> of_x, of_h;
  const GradientHook on_x = on_gradient(x, [&](const Tensor& g) { of_x.push_back(values_of(g)); });
  const GradientHook on_h = on_gradient(h, [&](const Tensor& g) { of_h.push_back(values_of(g)); });
  const Tensor y = sum(h * 3 + h * x);  // h and x are used twice
  backward(y, {}, {.retain_graph = true});
  CHECK(of_h == std::vector<Values>{{4, 5}});
  CHECK(of_x == std::vector<Values>{{2 * 4 + 1, 4 * 5 + 4}});
  CHECK(values_of(x.grad()) == of_x[0]);
  grad({y}, {x}, {.retain_graph = true});
  CHECK(of_h.size() == 2);
  CHECK(of_x.size() == 2);
  CHECK(of_x[0] == of_x[1]);
  grad({y}, {h});  // x needs nothing
  CHECK(of_h.size() == 3);
  CHECK(of_x.size() == 2);
}

TEST_CASE("what a hook returns takes the place of the gradient") {
  for (const bool create_graph : {false, true}) {
    CAPTURE(create_graph);
    const Tensor x = leaf({1, 2});
    Tensor h = x * x;
    h.retain_grad();
    const GradientHook add = on_gradient(h, [](const Tensor& g) { return g + 1; });
    const GradientHook look = on_gradient(h, [](const Tensor&) {});
    const GradientHook keep = on_gradient(h, [](const Tensor&) { return Tensor(); });
    const GradientHook times = on_gradient(h, [](const Tensor& g) { return g * 10; });
    const GradientHook halve = on_gradient(x, [](const Tensor& g) { return g / 2; });
    const Tensor y = sum(h * 3);
    const Tensors g = grad({y}, {x, h}, {.create_graph = create_graph, .retain_graph = true});
    CHECK(values_of(g[0]) == Values{40, 80});  // (3 + 1) * 10 * 2x / 2
    CHECK(values_of(g[1]) == Values{40, 40});
    backward(y, {}, {.create_graph = create_graph});
    CHECK(values_of(x.grad()) == Values{40, 80});
    CHECK(values_of(h.grad()) == Values{40, 40});
    Tensor(x).clear_grad();
    h.clear_grad();
  }
}

TEST_CASE("a hook acts until its handle is gone") {
  const Tensor x = leaf({1});
  int runs = 0;
  GradientHook hook = on_gradient(x, [&](const Tensor&) { ++runs; });
  backward(x * 2);
  GradientHook copy = hook;
  hook = nullptr;
  backward(x * 2);
  CHECK(runs == 2);
  copy = nullptr;
  backward(x * 2);
  CHECK(runs == 2);
  CHECK(x.grad().item() == 6);
}

TEST_CASE("hooks may come and go while one runs") {
  const Tensor x = leaf({1});
  int first = 0, second = 0;
  GradientHook once, later;
  once = on_gradient(x, [&](const Tensor& g) {
    ++first;
    once = nullptr;  // this very function
    later = on_gradient(x, [&](const Tensor&) { ++second; });
    return g * 2;
  });
  CHECK(grad({x * 3}, {x})[0].item() == 6);
  CHECK(first == 1);
  CHECK(second == 0);
  CHECK(grad({x * 3}, {x})[0].item() == 3);
  CHECK(first == 1);
  CHECK(second == 1);
}

TEST_CASE("a replaced gradient is differentiated") {
  const Tensor x = leaf({2});
  const Tensor h = x * x;
  GradientHook hook = on_gradient(h, [h](const Tensor& g) { return g * h; });
  const Tensor first = grad({sum(h)}, {x}, {.create_graph = true})[0];
  hook = nullptr;                             // the next pass leads through h, too
  CHECK(first.item() == 16);                  // x^2 2x
  CHECK(grad({first}, {x})[0].item() == 24);  // 6 x^2
}

TEST_CASE("a gradient that a hook kept does not change") {
  const Tensor x = leaf({1, 2});
  Tensor kept;
  {
    const GradientHook hook = on_gradient(x, [&](const Tensor& g) { kept = g; });
    backward(sum(x * 2));
  }
  backward(sum(x * 5));
  CHECK(values_of(kept) == Values{2, 2});
  CHECK(values_of(x.grad()) == Values{7, 7});
}

TEST_CASE("a hook's mistakes are errors and leave the engine usable") {
  const Tensor x = leaf({1, 2});
  const auto error_of = [&](auto f) {
    const Tensor h = x * x;
    const GradientHook hook = on_gradient(h, f);
    return message_of<Error>([&] { backward(sum(h)); });
  };
  CHECK(error_of([](const Tensor& g) { return sum(g); }) ==
        "on_gradient: a hook of the result of mul must return a gradient of its shape and dtype, "
        "f64[2], got f64[]; an undefined Tensor keeps the gradient");
  CHECK(error_of([](const Tensor& g) { return cast(g, DType::f32); }) ==
        "on_gradient: a hook of the result of mul must return a gradient of its shape and dtype, "
        "f64[2], got f32[2]; an undefined Tensor keeps the gradient");
  CHECK(error_of([](const Tensor& g) {
          Tensor same(g.array().view({2}, {0}));
          Tensor(same.array().contiguous());  // reading is fine
          Array written = g.array().view({1}, {1});
          written.mutable_data<double>()[0] = 7;
        }) ==
        "on_gradient: a hook of the result of mul wrote to the gradient f64[2], which others "
        "may share; return a new tensor instead");
  const GradientHook thrower =
      on_gradient(x, [](const Tensor&) { throw std::runtime_error("stop"); });
  CHECK_THROWS_WITH(backward(sum(x * x)), "stop");
  CHECK(recording());
  CHECK_FALSE(x.grad().defined());
  const Tensor other = leaf({3});
  backward(other * other);
  CHECK(other.grad().item() == 6);
  const std::string no_function = "on_gradient: needs a function to call, got an empty one";
  CHECK(message_of<ValueError>([&] { std::ignore = add_hook(x, nullptr); }) == no_function);
  const std::function<void(const Tensor&)> looks;
  CHECK(message_of<ValueError>([&] { std::ignore = on_gradient(x, looks); }) == no_function);
  CHECK(message_of<GraphError>([] { std::ignore = add_hook(tensor(1), nullptr); }) ==
        "on_gradient: f32[] does not require gradients; call set_requires_grad() on it, or on the "
        "leaves that it depends on");
}

TEST_CASE("a pass whose graph a hook frees says so") {
  const Tensor x = leaf({2});
  const Tensor h = x * x;
  const GradientHook hook = on_gradient(h, [&](const Tensor&) {
    static bool inside = false;
    if (inside) return;
    inside = true;
    backward(h * 5);
    inside = false;
  });
  CHECK_THROWS_AS(grad({h * 3}, {x}), GraphError);
}

TEST_CASE("hooks own nothing and are freed without recursion") {
  std::weak_ptr<Node> node;
  {
    const Tensor x = leaf({1});
    const Tensor h = x * x;
    node = h.node();
    const GradientHook hook = on_gradient(h, [h](const Tensor& g) { return g * h; });
    backward(h);
  }
  CHECK(node.expired());
  const Tensor x = leaf({1});
  std::vector<GradientHook> hooks;
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) {
    y = y + x;
    hooks.push_back(on_gradient(y, [y](const Tensor& g) { return g; }));
  }
  y = Tensor();
  hooks.clear();
}

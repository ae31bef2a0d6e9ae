#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/checkpoint.h>
#include <attograd/core/hooks.h>
#include <attograd/core/random.h>
#include <attograd/core/storage.h>

using namespace attograd;

namespace {

using Values = std::vector<double>;

Tensor leaf(std::initializer_list<double> values) {
  return tensor(values, DType::f64).set_requires_grad();
}
Tensor random_leaf(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  return randn(shape, rng, DType::f64).set_requires_grad();
}

/// tanh(x w) b, with the weights captured and, if there is a generator, dropout.
struct Layer {
  Tensor w = random_leaf({4, 4}, 1), b = random_leaf({4}, 2);
  Tensor operator()(const Tensors& x, Rng* rng = nullptr) const {
    return dropout(tanh(matmul(x[0], w)), 0.5, rng) * b;
  }
};

/// x, w, b and, by them, the first derivatives and those of the sum of their squares.
std::vector<Values> derivatives(const Tensor& y, const Tensors& at) {
  const Tensors first = grad({sum(y * y)}, at, {.create_graph = true});
  Tensor total;
  for (const Tensor& g : first) total = total.defined() ? total + sum(g * g) : sum(g * g);
  std::vector<Values> found;
  for (const Tensor& g : first) found.push_back(values_of(g));
  for (const Tensor& g : grad({total}, at)) found.push_back(values_of(g));
  return found;
}

std::string error_of(const Tensor& y) {
  return message_of<Error>([&] { backward(sum(y)); });
}

const double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("values and gradients of both orders are those without checkpoint") {
  const Layer layer;
  const Tensor x = random_leaf({3, 4}, 3);
  const auto f = [layer](const Tensors& in) { return layer(in); };
  const Tensor plain = layer({x}), kept = checkpoint(f, {x});
  CHECK(values_of(plain) == values_of(kept));
  const auto right = derivatives(plain, {x, layer.w, layer.b});
  const auto found = derivatives(kept, {x, layer.w, layer.b});
  REQUIRE(found.size() == 6);
  for (size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    REQUIRE(found[i].size() == right[i].size());
    // Order 2 adds the same numbers in another order.
    for (size_t k = 0; k < found[i].size(); ++k)
      CHECK(found[i][k] == doctest::Approx(right[i][k]).epsilon(1e-12));
  }
}

TEST_CASE("gradients reach captured parameters through backward and through grad") {
  const Tensor x = leaf({3}), w = leaf({5});
  const auto f = [w](const Tensors& in) { return in[0] * w * w; };
  backward(checkpoint(f, {x}));
  CHECK(x.grad().item() == 25);
  CHECK(w.grad().item() == 30);
  CHECK(grad({checkpoint(f, {x})}, {w})[0].item() == 30);
  CHECK(grad({checkpoint(f, {x})}, {x})[0].item() == 25);
  const Tensor constant = tensor({3}, DType::f64);
  CHECK(grad({checkpoint(f, {constant})}, {w})[0].item() == 30);  // only a captured one
  CHECK(grad({checkpoint([w](const Tensors&) { return w; }, {})}, {w})[0].item() == 1);
}

TEST_CASE("each path to a tensor counts once") {
  const Tensor w = leaf({3});
  const Tensor x = w * w;
  const auto by_w = [w](const Tensors& in) { return in[0] * w; };  // the argument depends on w
  const GradOptions again = {.retain_graph = true};
  CHECK(grad({checkpoint(by_w, {x})}, {w}, again)[0].item() == 27);
  const auto both = [x, w](const Tensors& in) { return in[0] * x * w; };  // x: w^5
  CHECK(grad({checkpoint(both, {x})}, {w}, again)[0].item() == 5 * 81);
  const auto product = [](const Tensors& in) { return in[0] * in[1]; };
  CHECK(grad({checkpoint(product, {w, w})}, {w})[0].item() == 6);
  const Tensor first = grad({checkpoint(both, {x})}, {w}, {.create_graph = true})[0];
  CHECK(grad({first}, {w})[0].item() == 20 * 27);
}

TEST_CASE("random draws are replayed and the generator stands as without checkpoint") {
  const Layer layer;
  const Tensor x = random_leaf({8, 4}, 3);
  const auto f = [layer](const Tensors& in, Rng* rng) { return layer(in, rng); };
  Rng plain_rng(7), rng(7);
  const Tensors at = {x, layer.w, layer.b};
  const auto step = [&](bool checkpointed, Rng& draws) {
    Tensor y = checkpointed ? checkpoint(f, {x}, &draws) : layer({x}, &draws);
    y = dropout(y, 0.5, &draws);  // draws between, and before the backward pass
    const auto found = derivatives(y, at);
    CHECK(draws.state() == draws.state());
    return std::pair(found, draws.next_u64());
  };
  for (int i = 0; i < 2; ++i) {
    const auto [right, right_draw] = step(false, plain_rng);
    const auto [found, draw] = step(true, rng);
    CHECK(draw == right_draw);
    for (size_t k = 0; k < found.size(); ++k)
      for (size_t j = 0; j < found[k].size(); ++j)
        CHECK(found[k][j] == doctest::Approx(right[k][j]).epsilon(1e-12));
  }
}

TEST_CASE("an input that was written in place is an error") {
  const auto square = [](const Tensors& in) { return in[0] + in[0]; };  // saves no value
  Tensor x = leaf({1, 2});
  const Tensor y = checkpoint(square, {x});
  x.mutable_data<double>()[0] = 5;
  CHECK(error_of(y) ==
        "backward of checkpoint: the f64[2] that it saved was written in place afterwards (version "
        "1, now 2); write to a copy, or after the backward pass");
  Tensor w = leaf({1, 2});
  const Tensor z = checkpoint([w](const Tensors& in) { return in[0] + w; }, {x});
  w.mutable_data<double>()[0] = 5;
  CHECK(error_of(z).starts_with("backward of checkpoint: the f64[2] that it saved was written"));
}

TEST_CASE("a second pass needs the graph to be retained") {
  const Tensor x = leaf({3});
  const Tensor y = checkpoint([](const Tensors& in) { return in[0] * in[0]; }, {x});
  backward(y, {}, {.retain_graph = true});
  backward(y);
  CHECK(x.grad().item() == 12);
  CHECK(error_of(y).starts_with("backward: the graph of"));
}

TEST_CASE("checkpoints nest") {
  const Tensor x = leaf({2}), w = leaf({3});
  const auto inner = [w](const Tensors& in) { return in[0] * in[0] * w; };
  const auto outer = [inner, w](const Tensors& in) {
    return checkpoint(inner, {checkpoint(inner, in)}) * w;  // (x^2 w)^2 w w = x^4 w^4
  };
  const Tensor y = checkpoint(outer, {x});
  CHECK(y.item() == 16 * 81);
  const Tensors first = grad({y}, {x, w}, {.create_graph = true});
  CHECK(first[0].item() == 4 * 8 * 81);
  CHECK(first[1].item() == 16 * 4 * 27);
  CHECK(grad({first[0]}, {x}, {.retain_graph = true})[0].item() == 12 * 4 * 81);
  CHECK(grad({first[0]}, {w})[0].item() == 4 * 8 * 4 * 27);
  Rng rng(1), plain(1);
  const auto drop = [](const Tensors& in, Rng* r) {
    return checkpoint([](const Tensors& v, Rng* q) { return dropout(v[0], 0.5, q); }, in, r);
  };
  const Tensor many = random_leaf({50}, 1);
  const Tensor kept = checkpoint(drop, {many}, &rng);
  const Tensor right = dropout(many, 0.5, &plain);
  CHECK(values_of(kept) == values_of(right));
  CHECK(values_of(grad({sum(kept)}, {many})[0]) == values_of(grad({sum(right)}, {many})[0]));
}

TEST_CASE("indices and masks pass through on both sides") {
  const Tensor table = random_leaf({5, 2}, 1);
  const Tensor ids = ids_of({4, 0, 4});
  const auto f = [](const Tensors& in) {
    const Tensor rows = embedding(in[0], in[1]);
    return Tensors{rows, argmax(rows, 1), sum(rows * 3), rows > 0.0, Tensor()};
  };
  const Tensors plain = f({table, ids}), kept = checkpoint(f, {table, ids});
  REQUIRE(kept.size() == 5);
  CHECK(values_of(kept[0]) == values_of(plain[0]));
  CHECK(kept[1].to_vector<int64_t>() == plain[1].to_vector<int64_t>());
  CHECK(values_of(kept[2]) == values_of(plain[2]));
  CHECK(kept[3].to_vector<bool>() == plain[3].to_vector<bool>());
  CHECK_FALSE(kept[1].requires_grad());
  CHECK_FALSE(kept[4].defined());
  const auto loss = [](const Tensors& y) { return sum(y[0] * y[0]) + y[2]; };
  CHECK(values_of(grad({loss(kept)}, {table})[0]) == values_of(grad({loss(plain)}, {table})[0]));
  const Tensors again = checkpoint(f, {table, ids});
  CHECK(values_of(grad({again[2]}, {table})[0]) ==  // the other result is not used
        values_of(grad({sum(embedding(table, ids) * 3)}, {table})[0]));
}

TEST_CASE("a result that nothing uses has no part in the gradients") {
  const Tensor a = leaf({0}), b = leaf({1}), unused = leaf({5});
  const auto f = [unused](const Tensors& in) {
    return Tensors{in[1] * 3, in[0] * kInf * in[1], in[0] * unused, cast(in[1], DType::f32)};
  };
  backward(checkpoint(f, {a, b})[0]);
  CHECK(b.grad().item() == 3);  // 0 * inf is NaN
  CHECK_FALSE(a.grad().defined());
  CHECK_FALSE(unused.grad().defined());
  const Tensors y = checkpoint(f, {a, b});
  backward(y[0] + cast(y[3], DType::f64));
  CHECK(b.grad().item() == 3 + 3 + 1);
  CHECK_FALSE(y[0].array().shares_storage_with(y[1].array()));
  Tensors z = checkpoint(f, {a, b});
  const Tensor loss = square(z[0]);
  z[3].assign(tensor({7}));  // no other's numbers
  CHECK(grad({loss}, {b})[0].item() == 18);
}

TEST_CASE("without gradients there is nothing to keep") {
  const Tensor x = leaf({3});
  const auto f = [](const Tensors& in) { return in[0] * in[0]; };
  {
    const NoGrad guard;
    const Tensor y = checkpoint(f, {x});
    CHECK(y.item() == 9);
    CHECK_FALSE(y.requires_grad());
  }
  CHECK_FALSE(checkpoint(f, {tensor({3}, DType::f64)}).requires_grad());
  const auto cut = [](const Tensors& in) { return detach(in[0]) * 2; };
  CHECK_FALSE(checkpoint(cut, {x}).requires_grad());
}

TEST_CASE("a derivative taken inside reaches what lies outside") {
  const Tensor x = leaf({2});
  const Tensor energy = x * x * x;
  const auto force = [energy, x](const Tensors& in) {
    return in[0] * grad({energy}, {x}, {.create_graph = true})[0];  // y 3 x^2
  };
  const Tensor y = leaf({5});
  const Tensor plain = force({y}), kept = checkpoint(force, {y});
  CHECK(kept.item() == 60);
  CHECK(grad({plain}, {x}, {.retain_graph = true})[0].item() == 60);
  const Tensors found = grad({kept}, {x, y});
  CHECK(found[0].item() == 60);
  CHECK(found[1].item() == 12);
}

TEST_CASE("hooks of what f uses run once with the complete gradient") {
  const Tensor x = leaf({2}), w = leaf({3});
  std::vector<double> of_x, of_w;
  const GradientHook on_x = on_gradient(x, [&](const Tensor& g) { of_x.push_back(g.item()); });
  const GradientHook on_w = on_gradient(w, [&](const Tensor& g) { of_w.push_back(g.item()); });
  const auto f = [w](const Tensors& in) { return in[0] * w; };
  backward(checkpoint(f, {x}) + x * w);
  CHECK(of_x == std::vector<double>{6});
  CHECK(of_w == std::vector<double>{4});
}

TEST_CASE("checkpoints own no cycle and are freed without recursion") {
  std::weak_ptr<Node> node, parameter;
  {
    const Tensor w = leaf({2});
    const Tensor y = checkpoint([w](const Tensors& in) { return in[0] * w; }, {leaf({3})});
    node = y.node();
    parameter = w.node();
    grad({grad({y}, {w}, {.create_graph = true})[0] * w}, {w}, {.retain_graph = true});
  }
  CHECK(node.expired());
  CHECK(parameter.expired());
  Tensor y = leaf({1});
  for (int i = 0; i < 50'000; ++i)  // each owns the one before, as a captured constant only
    y = checkpoint([y](const Tensors& in) { return in[0] + detach(y) * 0; }, {leaf({1})});
}

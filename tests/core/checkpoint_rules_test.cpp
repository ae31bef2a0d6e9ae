#include <memory>
#include <thread>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/checkpoint.h>
#include <attograd/core/random.h>

using namespace attograd;

namespace {

Tensor constant(std::initializer_list<double> values) { return tensor(values, DType::f64); }
Tensor leaf(std::initializer_list<double> values) { return constant(values).set_requires_grad(); }

std::string error_of(const Tensor& y) {
  return message_of<Error>([&] { backward(sum(y)); });
}

const std::string kSomethingElse =
    "checkpoint: f, run again, did something else or with other numbers; pass its random generator "
    "to checkpoint, and write to nothing that f reads before the backward pass";

}  // namespace

TEST_CASE("a constant that was written or drawn between the runs is an error") {
  const Tensor x = leaf({0, 0});  // all results are 0 whatever f multiplies by
  Tensor scale = constant({2, 3});
  Tensor y = checkpoint([scale](const Tensors& in) { return in[0] * scale; }, {x});
  scale.assign(constant({50, 60}));
  CHECK(error_of(y) == kSomethingElse);

  Tensor w = leaf({2, 3});
  y = checkpoint([w](const Tensors& in) { return in[0] * detach(w); }, {x});
  w.assign(constant({5, 6}));
  CHECK(error_of(y) == kSomethingElse);

  Tensor at = ids_of({1, 0});
  y = checkpoint([at](const Tensors& in) { return take(in[0], at); }, {x});
  at.assign(ids_of({0, 0}));
  CHECK(error_of(y) == kSomethingElse);

  Rng rng(1);
  const auto draws = [&](const Tensors& in) { return in[0] * rand({2}, rng, DType::f64); };
  CHECK(error_of(checkpoint(draws, {x})) == kSomethingElse);

  const Tensor table = counted({2, 2});
  Tensor column(table.array().view({2}, {2}));
  y = checkpoint([column](const Tensors& in) { return in[0] * column; }, {x});
  column.assign(constant({0, 7}));  // 7 for 2
  CHECK(error_of(y) == kSomethingElse);
  y = checkpoint([table](const Tensors& in) { return in[0] * transpose(table); }, {x});
  CHECK(error_of(y) == "nothing was thrown");
}

TEST_CASE("the same numbers by another formula are an error") {
  const Tensor x = leaf({0});
  const auto other_each_time = [](std::function<Tensor(const Tensor&)> first,
                                  std::function<Tensor(const Tensor&)> second) {
    return [first, second, run = std::make_shared<int>(0)](const Tensors& in) {
      return (*run)++ == 0 ? first(in[0]) : second(in[0]);
    };
  };
  const auto fate = [&](auto first, auto second) {
    return error_of(checkpoint(other_each_time(first, second), {x}));
  };
  CHECK(fate([](const Tensor& v) { return sin(v); }, [](const Tensor& v) { return sin(v); }) ==
        "nothing was thrown");
  CHECK(fate([](const Tensor& v) { return sin(v); }, [](const Tensor& v) { return tanh(v); }) ==
        kSomethingElse);
  CHECK(fate([](const Tensor& v) { return v * 2; }, [](const Tensor& v) { return v * 3; }) ==
        kSomethingElse);
  CHECK(fate(
            [](const Tensor& v) {
              return cat({v, v}, 0);
            },
            [](const Tensor& v) {
              return reshape(cat({v, v}, 0), {1, 2});
            }) == kSomethingElse);
  CHECK(fate(
            [](const Tensor& v) {
              return reshape(v, {1, 1});
            },
            [](const Tensor& v) {
              return reshape(v, {1, 1, 1});
            }) == kSomethingElse);
  CHECK(fate(
            [](const Tensor& v) {
              return reshape(cat({v, v}, 0), {1, 2});
            },
            [](const Tensor& v) {
              return reshape(cat({v, v}, 0), {2, 1});
            }) == kSomethingElse);
  const auto fewer = [run = std::make_shared<int>(0)](const Tensors& in) {
    const Tensor twice = in[0] * 2;
    return (*run)++ == 0 ? Tensors{twice, twice} : Tensors{twice};
  };
  CHECK(error_of(checkpoint(fewer, {x})[1]) == kSomethingElse);
  const auto numbers = [run = std::make_shared<int>(0)](const Tensors& in) {
    return clamp(in[0], ++*run, 5);  // a number that is no tensor: seen by the result
  };
  CHECK(error_of(checkpoint(numbers, {x})) == kSomethingElse);
}

TEST_CASE("other tensors that require gradients are an error") {
  const std::string other_tensors =
      "checkpoint: f, run again, used other tensors that require gradients than before; f must do "
      "the same each time, and capture by value";
  const Tensor x = leaf({3}), a = leaf({1}), b = leaf({1});
  for (const Tensor& later : {b, constant({1})}) {  // of the same numbers
    Tensor used = a;
    const Tensor z = checkpoint([&](const Tensors& in) { return in[0] * used; }, {x});
    used = later;
    CHECK(error_of(z) == other_tensors);
  }
  const auto makes_a_leaf = [](const Tensors& in) { return in[0] * leaf({2}); };
  CHECK(message_of<GraphError>([&] { checkpoint(makes_a_leaf, {x}); }) ==
        "checkpoint: f makes f64[1] that requires gradients, which would get lost with this run of "
        "f; make it before and let f capture it");
}

TEST_CASE("an argument that was a constant stays one") {
  const Tensor x = leaf({2});
  Tensor scale = constant({3});
  const Tensor y = checkpoint([](const Tensors& in) { return in[0] * in[1]; }, {x, scale});
  scale.set_requires_grad();
  backward(y);
  CHECK(x.grad().item() == 3);
  CHECK_FALSE(scale.grad().defined());
}

TEST_CASE("a parameter that another thread uses is an error and no lost gradient") {
  const Tensor x = leaf({2}), w = leaf({3});
  const auto elsewhere = [](const std::function<Tensor()>& f) {
    Tensor y;
    std::thread([&] { y = f(); }).join();
    return y;
  };
  const auto captures = [=](const Tensors& in) { return elsewhere([&] { return in[0] * w; }) * 2; };
  CHECK(message_of<GraphError>([&] { checkpoint(captures, {x}); }) ==
        "checkpoint: f must work on the thread that calls it, got f64[1] that requires gradients "
        "and was used on another one, whose gradient would get lost; pass it as an input");
  const auto passed = [=](const Tensors& in) { return elsewhere([&] { return in[0] * in[1]; }); };
  backward(checkpoint(passed, {x, w}));
  CHECK(x.grad().item() == 3);
  CHECK(w.grad().item() == 2);
}

TEST_CASE("a function that is empty is an error") {
  const std::string text = "checkpoint: needs a function to run, got an empty one";
  const Tensors x = {leaf({1})};
  CHECK(message_of<ValueError>([&] { checkpoint(Segment(), x); }) == text);
  const std::function<Tensor(const Tensors&)> one;
  CHECK(message_of<ValueError>([&] { checkpoint(one, x); }) == text);
  const std::function<Tensors(const Tensors&)> several;
  CHECK(message_of<ValueError>([&] { checkpoint(several, x); }) == text);
  const std::function<Tensor(const Tensors&, Rng*)> draws;
  CHECK(message_of<ValueError>([&] { checkpoint(draws, x); }) == text);
}

#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/nn/module.h>
#include <attograd/nn/summary.h>
#include <attograd/optim/sgd.h>

namespace attograd::nn {
namespace {

Tensor parameter(const Shape& shape, double value) {
  Tensor w = full(shape, value);
  return w.set_requires_grad();
}

struct Leaf {
  Tensor weight = parameter({2, 3}, 1);
  Tensor bias = {};

  void visit(auto&& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

struct Tree {
  Tensor scale = parameter({}, 2);
  Leaf leaf = {};
  std::vector<Leaf> leaves = std::vector<Leaf>(2);
  std::optional<Leaf> absent = {};
  std::optional<std::vector<Leaf>> present = std::vector<Leaf>(1);
  std::vector<Tensor> tensors = {parameter({1}, 3), parameter({1}, 4)};
  Tensor tied = leaf.weight;
  int not_listed = 0;

  void visit(auto&& v) {
    v("scale", scale);
    v("leaf", leaf);
    v("leaves", leaves);
    v("absent", absent);
    v("present", present);
    v("tensors", tensors);
    v("tied", tied);
  }
};

std::vector<std::string> names_of(const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

NamedTensors copies_of(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors)
    copies.emplace_back(name, Tensor(tensor.array().copy()));
  return copies;
}

static_assert(Module<Tree>);
static_assert(!Module<Tensor>);
static_assert(!Module<int>);

TEST_CASE("names follow the members and tied or undefined tensors are not repeated") {
  const Tree tree;
  CHECK(names_of(named_parameters(tree)) ==
        std::vector<std::string>{"scale", "leaf.weight", "leaves.0.weight", "leaves.1.weight",
                                 "present.0.weight", "tensors.0", "tensors.1"});
  CHECK(parameters(tree).size() == 7);
  CHECK(count_parameters(tree) == 1 + 4 * 6 + 2);
}

TEST_CASE("a replaced member is seen at once") {
  Tree tree;
  tree.leaf.bias = parameter({3}, 7);
  CHECK(named_parameters(tree)[2].first == "leaf.bias");
  CHECK(named_parameters(tree)[2].second.to_vector<float>()[0] == 7);
}

TEST_CASE("a copied module shares its parameters and a cloned one does not") {
  Tree tree;
  const Tree copy = tree;
  const Tree cloned = clone(tree);
  tree.scale.assign(tensor(5));
  CHECK(copy.scale.item() == 5);
  CHECK(cloned.scale.item() == 2);
  CHECK(cloned.scale.requires_grad());
  CHECK(count_parameters(cloned) == count_parameters(tree));  // the tie is kept
  tree.scale.set_requires_grad(false);
  CHECK_FALSE(clone(tree).scale.requires_grad());
}

TEST_CASE("a converted module has new parameters of the dtype and keeps ids") {
  Tree tree;
  tree.leaf.bias = arange(0, 3);
  const Tree exact = to(tree, DType::f64);
  for (const auto& [name, tensor] : named_parameters(exact))
    CHECK(tensor.dtype() == (name == "leaf.bias" ? DType::i64 : DType::f64));
  CHECK(exact.scale.requires_grad());
  CHECK(tree.scale.dtype() == DType::f32);
  CHECK(count_parameters(exact) == count_parameters(tree));
}

TEST_CASE("gradients of all parameters become absent") {
  Tree tree;
  backward(sum(tree.scale * tree.tied));
  CHECK(tree.leaf.weight.grad().defined());
  clear_gradients(tree);
  for (const Tensor& w : parameters(tree)) CHECK_FALSE(w.grad().defined());
}

TEST_CASE("a state is loaded into the module and its ties") {
  const Tree source;
  NamedTensors file = copies_of(named_parameters(source));
  file[1].second.assign(full({}, 9));
  const Tree tree;
  load_state(tree, file);
  CHECK(tree.leaf.weight.to_vector<float>() == std::vector<float>(6, 9));
  CHECK(tree.tied.to_vector<float>() == std::vector<float>(6, 9));
}

TEST_CASE("a state that does not fit is refused whole") {
  const Tree tree;
  NamedTensors file = copies_of(named_parameters(tree));
  file[0] = {"other", tensor(1)};
  file[1].second = ones({3, 2});
  file[2].second.assign(full({}, 9));
  CHECK_THROWS_WITH_AS(load_state(tree, file),
                       "load: every tensor must have one of its name, shape and type, got\n"
                       "  of another shape or type: leaf.weight (f32[3, 2] for f32[2, 3])\n"
                       "  missing: scale\n"
                       "  unexpected: other",
                       FormatError);
  CHECK(tree.leaves[0].weight.to_vector<float>() == std::vector<float>(6, 1));
  file[1].second = ones({2, 3});
  const LoadReport report = load_state(tree, file, {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"scale"});
  CHECK(report.unexpected == std::vector<std::string>{"other"});
  CHECK(tree.leaves[0].weight.to_vector<float>() == std::vector<float>(6, 9));
}

TEST_CASE("a module computes with other parameters in its place") {
  const Tree tree;
  Tensors others;
  for (const Tensor& w : parameters(tree)) others.push_back(w + 1);
  const Tree moved = with_parameters(tree, others);
  CHECK(moved.scale.item() == 3);
  CHECK(moved.tied.to_vector<float>()[0] == 2);
  CHECK(&moved.tied.array() == &moved.leaf.weight.array());
  CHECK(tree.scale.item() == 2);
  others.pop_back();
  CHECK_THROWS_WITH_AS(with_parameters(tree, others),
                       "with_parameters: the module has 7 parameters, got 6", ShapeError);
}

TEST_CASE("other parameters are found by name and gradients flow to them") {
  const Tree tree;
  NamedTensors others;
  for (const auto& [name, w] : named_parameters(tree)) others.emplace_back(name, w * 3);
  std::swap(others.front(), others.back());
  const Tree moved = with_parameters(tree, others);
  CHECK(moved.scale.item() == 6);
  backward(moved.scale);
  CHECK(tree.scale.grad().item() == 3);
  others[1] = {"other", tensor(1)};
  others[2].second = ones({3, 2});
  CHECK_THROWS_WITH_AS(with_parameters(tree, others),
                       "with_parameters: every tensor must have one of its name, shape and type, "
                       "got\n"
                       "  of another shape or type: leaves.0.weight (f32[3, 2] for f32[2, 3])\n"
                       "  missing: leaf.weight\n"
                       "  unexpected: other",
                       FormatError);
}

struct Twins {
  Tensor first = parameter({}, 1);
  Tensor second = parameter({}, 2);

  void visit(auto&& v) {
    v("weight", first);
    v("weight", second);
  }
};

TEST_CASE("a name that visit lists twice is an error before a tensor is lost") {
  const char* const message = "visit: every name must be listed once, got weight twice";
  CHECK_THROWS_WITH_AS(named_parameters(Twins()), message, ValueError);
  CHECK_THROWS_WITH_AS(parameters(Twins()), message, ValueError);
}

TEST_CASE("tied tensors have a name each among all tensors") {
  const Tree tree;
  CHECK(names_of(named_tensors(tree)).back() == "tied");
  CHECK(named_tensors(tree).size() == named_parameters(tree).size() + 1);
}

TEST_CASE("an optimizer leaves frozen parameters as they are until they are unfrozen") {
  Tree tree;
  tree.leaf.bias = arange(0, 3);  // an integer is a constant before and after
  const std::vector<Leaf> trained = tree.leaves;
  optim::Sgd optimizer(Tensors{tree.leaf.weight, trained[0].weight}, {.lr = 0.5});
  const auto step = [&] {
    clear_gradients(tree);
    backward(sum(tree.leaf.weight + trained[0].weight));
    optimizer.step();
  };
  step();
  freeze(tree.leaf);
  CHECK_FALSE(tree.leaf.weight.grad().defined());
  step();
  CHECK(tree.leaf.weight.to_vector<float>()[0] == 0.5);
  CHECK(trained[0].weight.to_vector<float>()[0] == 0);
  unfreeze(tree);
  CHECK_FALSE(tree.leaf.bias.requires_grad());
  step();
  CHECK(tree.leaf.weight.to_vector<float>()[0] == 0);
}

TEST_CASE("a summary is a tree with counts in which ties and frozen parameters are marked") {
  const Tree tree;
  freeze(tree.leaves[1]);
  CHECK(summary(tree) ==
        "scale        1  f32[]\n"
        "leaf         6\n"
        "  weight     6  f32[2, 3]\n"
        "leaves      12\n"
        "  0          6\n"
        "    weight   6  f32[2, 3]\n"
        "  1          6\n"
        "    weight   6  f32[2, 3]  frozen\n"
        "present      6\n"
        "  0          6\n"
        "    weight   6  f32[2, 3]\n"
        "tensors      2\n"
        "  0          1  f32[1]\n"
        "  1          1  f32[1]\n"
        "tied         0  f32[2, 3]  tied to leaf.weight\n"
        "all         27  of them frozen 6\n");
  CHECK(summary(NamedTensors{}) == "all  0\n");
}

TEST_CASE("freezing is all or nothing") {
  const Leaf leaf;
  backward(sum(leaf.weight));
  Tensor graph = leaf.weight * 2;
  Leaf with_bias = leaf;
  with_bias.bias = parameter({3}, 1);
  backward(sum(with_bias.bias));
  CHECK_THROWS_WITH_AS(freeze(with_bias), doctest::Contains("freeze: no recorded graph may refer"),
                       GraphError);
  CHECK(with_bias.weight.grad().defined());
  CHECK(with_bias.bias.requires_grad());
  graph = Tensor();
  freeze(with_bias);
  CHECK_FALSE(with_bias.weight.requires_grad());
}

TEST_CASE("conversions and replacements of another kind are refused") {
  const Leaf leaf;
  freeze(leaf);
  CHECK_THROWS_WITH_AS(to(leaf, DType::i64), "to: modules are f32 or f64, got i64", DTypeError);
  CHECK_THROWS_WITH_AS(with_parameters(leaf, Tensors{zeros({7})}),
                       "with_parameters: a parameter f32[2, 3] cannot become f32[7]", ShapeError);
  CHECK_THROWS_WITH_AS(load_state(leaf, NamedTensors{{"weight", Tensor()}}),
                       "load: tensors must be defined, got weight without one", ValueError);
}

TEST_CASE("a tied parameter loads from any of its names and from several with equal numbers") {
  const Tree tree;
  const Tree other = clone(tree);
  const NamedTensors all = copies_of(named_tensors(tree));  // tied is leaf.weight
  CHECK(all.size() == named_parameters(tree).size() + 1);
  NamedTensors last_name_only, differing = all;
  for (const auto& [name, tensor] : all)
    if (name != "leaf.weight") last_name_only.emplace_back(name, tensor);
  last_name_only.back().second.assign(full({2, 3}, 5));
  CHECK(last_name_only.back().first == "tied");
  load_state(other, last_name_only);
  CHECK(other.leaf.weight.to_vector<float>() == std::vector<float>(6, 5));
  differing.back().second = full({2, 3}, 6);
  CHECK_THROWS_WITH_AS(load_state(other, differing),
                       doctest::Contains("the tied tensors leaf.weight and tied must have equal "
                                         "numbers"),
                       FormatError);
  CHECK(other.leaf.weight.to_vector<float>() == std::vector<float>(6, 5));
  load_state(other, copies_of(named_tensors(tree)));
  CHECK(other.leaf.weight.to_vector<float>() == tree.leaf.weight.to_vector<float>());
}

}  // namespace
}  // namespace attograd::nn

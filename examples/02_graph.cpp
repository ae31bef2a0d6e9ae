// Lesson 2: a graph. Computing with recorded numbers leaves a graph behind: each result knows its
// operation and that operation's inputs. backward visits it from the end to the leaves, each
// operation once, and adds up what arrives by different paths. The expression is the one that
// micrograd (Andrej Karpathy, 2020) shows itself with.

#include <cstdio>
#include <map>
#include <string>

#include <attograd/attograd.h>

namespace ag = attograd;

using Names = std::map<const ag::Node*, std::string>;

/// Prints the operations that a result comes from, each after its inputs, and gives it a name.
std::string print_graph(const ag::Node* node, Names& names) {
  if (node == nullptr) return "a number";  // no gradient goes there, so nothing was recorded
  if (names.contains(node)) return names[node];
  std::string inputs;
  for (const auto& input : node->inputs)
    inputs += (inputs.empty() ? "" : ", ") + print_graph(input.get(), names);
  const std::string op(std::string_view(node->name));
  const std::string name = op + std::to_string(names.size() - 2);  // a and b are there already
  std::printf("%8s = %s(%s)\n", name.c_str(), op.c_str(), inputs.c_str());
  return names[node] = name;
}

int main() {
  const ag::Tensor a = ag::tensor(-4, ag::DType::f64).set_requires_grad();
  const ag::Tensor b = ag::tensor(2, ag::DType::f64).set_requires_grad();

  // A name is only a handle. `c = c + ...` makes a new number and lets c refer to it; the old one
  // lives on in the graph.
  ag::Tensor c = a + b;
  ag::Tensor d = a * b + pow(b, 3);
  c = c + (c + 1);
  c = c + (1 + c - a);
  d = d + (d * 2 + relu(b + a));
  d = d + (3 * d + relu(b - a));
  const ag::Tensor e = c - d;
  const ag::Tensor f = square(e);
  const ag::Tensor g = f / 2 + 10 / f;

  Names names{{a.node().get(), "a"}, {b.node().get(), "b"}};
  print_graph(g.node().get(), names);

  ag::backward(g);
  std::printf("\n    g = %.4f\ndg/da = %.4f\ndg/db = %.4f\n", g.item(), a.grad().item(),
              b.grad().item());
}

// Lesson 5: an operation of one's own, and how to find out whether its rule is right. A rule is one
// formula, and easy to get wrong: the network still learns, only worse. gradcheck compares the rule
// with measured slopes (lesson 1) for every input, and tells.

#include <cmath>
#include <cstdio>
#include <iostream>

#include <attograd/attograd.h>

namespace ag = attograd;

/// y = x / sqrt(1 + x^2), an S between -1 and 1 (Carlile et al. 2017). Its derivative is
/// (1 + x^2)^-1.5; the power is left open here, so that it can also be wrong.
ag::Tensor squash(const ag::Tensor& x, double power) {
  const auto value = [](auto v) { return v / std::sqrt(1 + v * v); };
  // g is the gradient of y. The rule says what it makes of it for x, in operations that have rules
  // of their own: so there are second derivatives, too.
  const auto rule = [power](const ag::Tensor& g, const ag::Tensors& in) {
    return g * pow(1 + square(in[0]), power);
  };
  return ag::record({.name = ag::user_op("squash"),
                     .inputs = {x},
                     .value = ag::map("squash", x.array(), value),
                     .vjp = {rule}});  // vector-Jacobian product: from g to the gradient of x
}

void print(const char* title, const ag::GradcheckReport& report) {
  const ag::GradcheckInput& x = report.inputs[0];
  std::cout << title << ": " << report.verdict() << ", " << x.count(ag::Verdict::fail) << " of "
            << x.entries.size() << " entries differ\n";
  if (report.ok()) return;
  // Compared are the slopes of sum v y, with random numbers v: so they are v times those of y.
  for (const ag::GradcheckEntry& entry : x.entries)
    std::cout << "  at " << entry.index << "  the rule says " << entry.analytic
              << "  and differences " << entry.numeric << "  " << entry.verdict << '\n';
}

int main() {
  std::cout << std::fixed;
  std::cout.precision(4);
  const ag::Tensor x = ag::tensor({-1, 0, 0.5, 2}, ag::DType::f64).set_requires_grad();

  const auto right = [](const ag::Tensors& in) { return squash(in[0], -1.5); };
  print("right rule, first derivative", ag::gradcheck(right, {x}));
  print("right rule, second derivative", ag::gradgradcheck(right, {x}));

  // A slip of the pen. Where x = 0 it does no harm, so a single test there would not see it.
  const auto wrong = [](const ag::Tensors& in) { return squash(in[0], -0.5); };
  const ag::GradcheckReport report = ag::gradcheck(wrong, {x}, {.name = "squash"});
  print("wrong rule, first derivative", report);

  // A report prints itself, with the worst entry and the error that the differences can have.
  std::cerr << '\n' << report << '\n';
}

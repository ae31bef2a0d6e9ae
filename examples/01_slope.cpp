// Lesson 1: a slope. The derivative of y with respect to x is how much y moves when x moves a
// little. One can measure it, by moving x; backward works it out exactly, without moving anything.

#include <cmath>
#include <cstdio>

#include <attograd/attograd.h>

namespace ag = attograd;

/// Any function of one number; here x^2 sin x.
ag::Tensor f(const ag::Tensor& x) { return x * x * sin(x); }

/// Its value alone.
double value(double x) { return f(ag::tensor(x, ag::DType::f64)).item(); }

int main() {
  // A leaf is a number that gradients are wanted for. From it on, every operation is recorded.
  const ag::Tensor x = ag::tensor(2, ag::DType::f64).set_requires_grad();
  const ag::Tensor y = f(x);
  std::printf("y = x^2 sin x is %.4f at x = 2\n\n", y.item());

  // backward goes through the record in reverse, and leaves the derivative of y at the leaf.
  ag::backward(y);
  const double slope = x.grad().item();
  std::printf("its slope there by backward: %.4f\n", slope);

  // On paper, by the rules of school: (u v)' = u' v + u v'.
  std::printf("            and on paper:    %.4f\n\n", 2 * 2 * std::sin(2) + 2 * 2 * std::cos(2));

  // By measuring: rise over run. The shorter the run, the closer. (Not for ever: below about 1e-8
  // the rise drowns in the rounding of y.)
  for (const double h : {1.0, 0.1, 0.01, 0.001, 0.0001})
    std::printf("by a step of %-6g  %7.4f\n", h, (value(2 + h) - value(2)) / h);

  // What a slope is good for: it foretells where a small step leads. That is all a neural network
  // learns by.
  std::printf("\na step of 0.01 should add 0.01 * slope = %.4f, and adds %.4f\n", 0.01 * slope,
              value(2.01) - value(2));
}

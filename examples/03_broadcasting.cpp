// Lesson 3: broadcasting, backward. A small operand is used again and again along the axes that it
// lacks. Each use sends a gradient back, so its gradient is the sum of them over those very axes.
// Forward repeats, backward sums: the two are each other's mirror image.

#include <cstdio>
#include <sstream>
#include <string>

#include <attograd/attograd.h>

namespace ag = attograd;

std::string shape_of(const ag::Tensor& x) {
  std::ostringstream text;
  text << x.shape();
  return text.str();
}

void print(const char* name, const ag::Tensor& x) {
  std::printf("%-22s %-6s =", name, shape_of(x).c_str());
  for (const double number : x.to_vector<double>()) std::printf(" %g", number);
  std::puts("");
}

int main() {
  const auto leaf = [](const ag::Shape& shape, const std::vector<double>& numbers) {
    return ag::from_values(shape, numbers, ag::DType::f64).set_requires_grad();
  };
  const ag::Tensor x = leaf({2, 3}, {1, 2, 3, 4, 5, 6});
  const ag::Tensor row = leaf({3}, {10, 20, 30});   // one number for each column
  const ag::Tensor column = leaf({2, 1}, {2, -1});  // one for each row
  const ag::Tensor number = leaf({}, {100});        // one for all

  // Shapes are aligned at the end; an axis that is missing or has size 1 is repeated.
  //   column [2, 1]    x [2, 3]    row    [3]    number []    ->    y [2, 3]
  const ag::Tensor y = column * x + row + number;
  print("y", y);

  // A gradient of y, as if from a loss further on: one number for each of y's.
  const ag::Tensor g = ag::from_values({2, 3}, {1, 0, 2, 4, 3, 1}, ag::DType::f64);
  ag::backward(y, g);
  std::puts("");
  print("gradient of y", g);
  print("gradient of x", x.grad());            // g * column: nothing was repeated but column
  print("gradient of row", row.grad());        // used by both rows
  print("gradient of column", column.grad());  // used by three columns
  print("gradient of number", number.grad());  // used everywhere

  // The same by hand: the rule of the operation, then a sum over the repeated axes.
  std::puts("");
  print("sum of g over axis 0", ag::sum(g, 0));
  print("of g * x over axis 1", ag::sum(g * x, 1, true));
  print("of g over both", ag::sum(g));
}

#include <limits>

#include <tests/close.h>

using namespace attograd;

// Right values from the formulas, to 30 digits by mpmath.

TEST_CASE("gelu is x times the normal distribution of x") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({5}, {-3, -0.5, 0, 1, 4}, dtype);
    check_close(gelu(x), {-0.00404969409489, -0.154268769363, 0, 0.841344746069, 3.99987331503});
    for (const bool recorded : {false, true})
      check_close(pulled_back(gelu(x), tensor({1, 1, 1, 1, 1}, dtype), {x}, recorded)[0],
                  {-0.0119456472042, 0.132504875344, 0.5, 1.08331547059, 1.00050364966});
  }
}

TEST_CASE("gelu with tanh is the approximation of GPT-2") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({5}, {-3, -0.5, 0, 1, 4}, dtype);
    check_close(gelu(x, GeluForm::tanh),
                {-0.00363739208177, -0.154285990175, 0, 0.841191990608, 3.99992975405});
    for (const bool recorded : {false, true})
      check_close(
          pulled_back(gelu(x, GeluForm::tanh), tensor({1, 1, 1, 1, 1}, dtype), {x}, recorded)[0],
          {-0.011584166631, 0.132630096465, 0.5, 1.08296408385, 1.0003351232});
  }
}

TEST_CASE("gelu is its argument or 0 far from 0") {
  for (const DType dtype : kFloating)
    for (const GeluForm form : {GeluForm::erf, GeluForm::tanh}) {
      constexpr double kInf = std::numeric_limits<double>::infinity();
      const Tensor x = leaf({8}, {-1e4, 1e4, -1e10, 1e10, -1e30, 1e30, -kInf, kInf}, dtype);
      const Tensor y = gelu(x, form);
      CHECK_EQ(values_of(cast(y, DType::f64)), values_of(cast(maximum(x, 0), DType::f64)));
      for (const bool recorded : {false, true}) {
        const Tensor g = pulled_back(y, ones({8}, dtype), {x}, recorded)[0];
        check_close(g, {0, 1, 0, 1, 0, 1, 0, 1});
        if (recorded) check_close(pulled_back(g, g, {x}, true)[0], {0, 0, 0, 0, 0, 0, 0, 0});
      }
    }
}

TEST_CASE("gelu of NaN is NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : kFloating)
    for (const GeluForm form : {GeluForm::erf, GeluForm::tanh})
      check_close(gelu(tensor({nan, 0}, dtype), form), {nan, 0});
}

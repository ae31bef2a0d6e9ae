#include <attograd/attograd.h>

namespace ag = attograd;

int main() {
  ag::Tensor x = ag::full({2}, 3.0);
  x.set_requires_grad();
  return ag::grad({ag::sum(x * x)}, {x})[0].to_vector<float>()[1] == 6.0F ? 0 : 1;
}

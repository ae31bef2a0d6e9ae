#include <tests/op_cases/op_cases.h>

#include <attograd/core/ops.h>

namespace attograd::op_cases {

void add_shapes(Table& t) {
  t.cases.push_back({.op = "expand",
                     .inputs = {normal({2, 1})},
                     .call =
                         [](const Tensors& x) {
                           return expand(x[0], {4, 2, 3});
                         },
                     .naive =
                         [](const std::vector<Numbers>& x) {
                           Numbers y({4, 2, 3});
                           for (int i = 0; i < 4; ++i)
                             for (int j = 0; j < 2; ++j)
                               for (int k = 0; k < 3; ++k) y(i, j, k) = x[0](j, 0);
                           return y;
                         }});
}

}  // namespace attograd::op_cases

#include <tests/op_cases/op_cases.h>

#include <attograd/core/ops.h>

namespace attograd::op_cases {

void add_reduce(Table& t) {
  t.cases.push_back({.op = "sum",
                     .label = "over rows",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return sum(x[0], -1); },
                     .naive =
                         [](const std::vector<Numbers>& x) {
                           Numbers y({2});
                           for (int i = 0; i < 2; ++i)
                             for (int j = 0; j < 3; ++j) y(i) += x[0](i, j);
                           return y;
                         }});
}

}  // namespace attograd::op_cases

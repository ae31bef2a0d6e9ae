#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <tests/op_cases/op_cases.h>

#include <attograd/core/op_list.h>

using namespace attograd;
using op_cases::OpCase;

TEST_CASE("no operation is forgotten") {
  std::set<std::string> with_case, with_twin;
  for (const OpCase& c : op_cases::table().cases) {
    with_case.insert(c.op);
    if (c.naive) with_twin.insert(c.op);
  }
  for (const std::string_view listed : kOps) {
    const std::string op(listed);
    CHECK_MESSAGE(with_case.contains(op), op << " has no row: add one in tests/op_cases");
    CHECK_MESSAGE((with_twin.contains(op) || !with_case.contains(op)),
                  op << " has no row with a naive twin: a gradient check cannot see a wrong value");
  }
}

TEST_CASE("every row and error case belongs to a listed operation") {
  const auto is_listed = [](const std::string& op) {
    return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
  };
  for (const OpCase& c : op_cases::table().cases) CHECK_MESSAGE(is_listed(c.op), c.op);
  for (const auto& e : op_cases::table().errors) CHECK_MESSAGE(is_listed(e.op), e.op);
}

TEST_CASE("rows of one operation have different names") {
  std::set<std::string> names;
  for (const OpCase& c : op_cases::table().cases)
    CHECK_MESSAGE(names.insert(c.name()).second, c.name() << " appears twice: give it a label");
}

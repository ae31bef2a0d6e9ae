#include <doctest/doctest.h>
#include <tests/op_cases/op_cases.h>

using namespace attograd;

TEST_CASE("operations refuse bad input with the text that the table promises") {
  for (const op_cases::ErrorCase& e : op_cases::table().errors) {
    CAPTURE(e.op);
    try {
      e.call();
      FAIL_CHECK("no error; expected: " << e.message);
    } catch (const Error& error) {
      CHECK_EQ(std::string(error.what()), e.message);
      CHECK_MESSAGE(e.has_right_type(error), "another type of error: " << error.what());
    }
  }
}

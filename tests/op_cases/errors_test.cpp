#include <doctest/doctest.h>
#include <tests/op_cases/variants.h>

#include <attograd/core/create.h>

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

TEST_CASE("errors name the operation that was called") {
  const Shape rank_8 = {1, 1, 1, 1, 1, 1, 1, 1};
  const Tensors strangers = {zeros({}, DType::f64),
                             zeros({0}, DType::f64),
                             zeros({3, 5, 7}, DType::f64),
                             zeros(rank_8, DType::f64),
                             zeros({2, 3}, DType::f32),
                             zeros({}, DType::i64),
                             full({3, 5, 7}, 1000, DType::i64),
                             zeros(rank_8, DType::boolean),
                             zeros({}, DType::boolean),
                             zeros({11, 13}, DType::boolean)};
  for (const op_cases::OpCase& row : op_cases::table().cases) {
    const bool calls_others =
        row.label == "of a transpose" || row.op == "attention" || row.op == "checkpoint";
    if (calls_others) continue;
    for (size_t i = 0; i < row.inputs.size(); ++i)
      for (const Tensor& stranger : strangers) {
        Tensors x = op_cases::make_inputs(row.inputs, 1);
        x[i] = stranger;
        try {
          row.call(x);
        } catch (const Error& error) {
          CAPTURE(row.name());
          const std::string text = error.what();
          CHECK_MESSAGE(text.starts_with(row.op), text);
        } catch (const std::out_of_range&) {
          // a part that split did not give
        }
      }
  }
}

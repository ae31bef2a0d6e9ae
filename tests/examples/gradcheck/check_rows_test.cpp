#include <sstream>

#include <doctest/doctest.h>
#include <examples/gradcheck/check_rows.h>

#include <attograd/core/graph.h>
#include <attograd/core/map.h>
#include <attograd/core/ops.h>

using namespace attograd;
using op_cases::OpCase;

namespace {

/// exp with a factor in its rule.
Tensor scaled_exp(const Tensor& x, double factor) {
  return record({.name = user_op("scaled_exp"),
                 .inputs = {x},
                 .value = exp(detach(x)).array(),
                 .vjp = {[factor](const Tensor& g, const Tensor& y) { return g * y * factor; }}});
}

OpCase row(const std::string& name, std::function<Tensor(const Tensors&)> call) {
  return {.op = name, .inputs = {op_cases::values({3}, {-1, 0, 1})}, .call = std::move(call)};
}

const OpCase kRight = row("right", [](const Tensors& x) { return scaled_exp(x[0], 1); });
const OpCase kKinked = row("kinked", [](const Tensors& x) { return relu(x[0]); });
const OpCase kWrong = row("wrong", [](const Tensors& x) { return scaled_exp(x[0], 2); });
const OpCase kThrows = row("throws", [](const Tensors& x) { return sum(x[0], 5); });

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  return text.substr(text.rfind('\n', end) + 1, end);
}

}  // namespace

TEST_CASE("the verdict over many rows is the worst of them") {
  std::ostringstream out;
  using gradcheck_program::check_rows;
  CHECK(check_rows({kRight, kRight}, 1, out) == Verdict::pass);
  CHECK(check_rows({kRight, kKinked}, 1, out) == Verdict::inconclusive);
  CHECK(check_rows({kWrong, kKinked}, 1, out) == Verdict::fail);
  CHECK(check_rows({kThrows, kRight}, 1, out) == Verdict::fail);
}

TEST_CASE("each row has a line and failures their report") {
  std::ostringstream out;
  OpCase constant = kRight;
  constant.op = "constant";
  constant.differentiable = false;
  gradcheck_program::check_rows({kRight, kWrong, kThrows, constant}, 1, out);
  const std::string text = out.str();
  CAPTURE(text);
  CHECK(text.find("PASS          right ") == 0);
  CHECK(text.find("\nFAIL          wrong ") != std::string::npos);
  CHECK(text.find("input 0 f64[3]: 3 of 3 entries differ") != std::string::npos);
  CHECK(text.find("sum: axis must be in [-1, 1), got 5") != std::string::npos);
  CHECK(text.find("-             constant ") != std::string::npos);
  CHECK(last_line(text).find("3 operations, ") == 0);
  CHECK(last_line(text).find("1 PASS, 2 FAIL, 0 INCONCLUSIVE in ") != std::string::npos);
}

#include <sstream>

#include <doctest/doctest.h>
#include <tests/slopes.h>

#include <attograd/core/checkpoint.h>
#include <attograd/nn/audit.h>
#include <attograd/nn/gpt.h>

using namespace attograd;

namespace {

Tensor leaf(const Values& values) { return vector(values).set_requires_grad(); }

/// "name state: cause" of each row.
std::vector<std::string> rows(const NamedTensors& parameters, const std::function<Tensor()>& loss) {
  std::ostringstream text;
  text << nn::audit(parameters, loss);
  std::vector<std::string> lines;
  std::istringstream in(text.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the place where each path ends is named") {
  const Tensor w = leaf({1, 2});
  const auto fate = [&](const std::function<Tensor(const Tensor&)>& f) {
    return rows({{"w", w}}, [&] { return sum(f(w * 2)); })[0];
  };
  CHECK(fate([](const Tensor& h) { return h * h; }) == "w  ok");
  CHECK(fate([](const Tensor& h) { return detach(h); }) ==
        "w  missing: its path ends at detach (by request)");
  CHECK(fate([](const Tensor& h) { return cast(argmax(h, 0), DType::f64); }) ==
        "w  missing: its path ends at argmax (not differentiable)");
  CHECK(fate([](const Tensor& h) { return cast(h > 3.0, DType::f64); }) ==
        "w  missing: its path ends at greater (not differentiable)");
  CHECK(fate([](const Tensor& h) { return cast(cast(h, DType::i64), DType::f64); }) ==
        "w  missing: its path ends at cast (not differentiable)");
  CHECK(fate([](const Tensor& h) {
          const NoGrad guard;
          return exp(h) * 2;
        }) == "w  missing: its path ends at exp (below NoGrad)");
  CHECK(fate([](const Tensor& h) { return Tensor(h.array()); }) ==
        "w  missing: the loss does not use it, or only its numbers");
  const auto ends_twice = [](const Tensor& h) {
    const Tensor nothing = h * 0;  // recorded first, so it is reached last
    return nothing + sign(h);
  };
  CHECK(fate(ends_twice) == "w  zero: sign, mul");
  CHECK(fate([](const Tensor& h) { return sqrt(h - 2); }) == "w  not finite: sqrt");
}

TEST_CASE("each parameter has its own row") {
  const Tensor a = leaf({1}), b = leaf({2}), c = leaf({3}), d = vector({4}), e = leaf({5});
  const NamedTensors all = {{"layer.a", a}, {"b", b}, {"c", c}, {"d", d}, {"e", e}};
  const auto loss = [&] { return sum(a * detach(b * 2) * d + relu(-c)); };
  CHECK(rows(all, loss) ==
        Lines{"layer.a  ok",
              "b        missing: its path ends at detach (by "
              "request)",
              "c        zero: relu", "d        frozen",
              "e        missing: the loss does not use it, or only its numbers"});
  const nn::AuditReport report = nn::audit(all, loss);
  CHECK_FALSE(report.ok());
  REQUIRE(report.rows.size() == 5);
  CHECK(report.rows[0].state == nn::GradientState::ok);
  CHECK(report.rows[1].state == nn::GradientState::missing);
  CHECK(nn::audit({{"a", a}, {"d", d}}, loss).ok());
}

TEST_CASE("every operation that makes a gradient infinite is named") {
  const Tensor w = leaf({0, 0});
  const auto loss = [&] {
    const Tensor first = sum(sqrt(w));
    return first + sum(log(w + 1) + log1p(w) + sign(w)) + sum(rsqrt(w));
  };
  CHECK(rows({{"w", w}}, loss) == Lines{"w  not finite: rsqrt, sqrt"});
  CHECK_THROWS_AS(nn::audit({{"w", w}}, [] { return Tensor(); }), GraphError);
}

TEST_CASE("an operation inside a checkpoint is named as it would be without") {
  const Tensor w = leaf({0, 2}), v = leaf({1, 1});
  const NamedTensors both = {{"w", w}, {"v", v}};
  const auto infinite = [v](const Tensors& in) { return sqrt(in[0] * v); };
  const auto none = [v](const Tensors& in) { return relu(-1.0 * (in[0] * v) - 1); };
  for (const std::function<Tensor(const Tensors&)>& f :
       {std::function<Tensor(const Tensors&)>(infinite),
        std::function<Tensor(const Tensors&)>(none)}) {
    const auto plain = rows(both, [&] { return sum(f({w * 1})); });
    CHECK(rows(both, [&] { return sum(checkpoint(f, {w * 1})); }) == plain);
    const auto nested = [f](const Tensors& in) { return checkpoint(f, in); };
    CHECK(rows(both, [&] { return sum(checkpoint(nested, {w * 1})); }) == plain);
  }
  CHECK(rows(both, [&] { return sum(checkpoint(infinite, {w * 1})); }) ==
        Lines{"w  not finite: sqrt", "v  not finite: sqrt"});
}

TEST_CASE("an audit without a function is an error") {
  CHECK(message_of<ValueError>([] {
          nn::audit({{"w", leaf({1})}}, nullptr);
        }) == "audit: needs a function that computes the loss, got an empty one");
}

TEST_CASE("a path that goes on elsewhere is no ending") {
  const Tensor w = leaf({1, 2});
  CHECK(rows({{"w", w}}, [&] { return sum(where(w > 1.5, w, detach(w))); }) == Lines{"w  ok"});
}

TEST_CASE("a loss that depends on nothing is reported and one with several elements is an error") {
  const Tensor w = leaf({1, 2});
  CHECK(rows({{"w", w}}, [&] { return sum(detach(w)); }) ==
        Lines{"w  missing: its path ends at detach (by request)"});
  CHECK_THROWS_AS(nn::audit({{"w", w}}, [&] { return w * 2; }), GraphError);
  CHECK(nn::audit({}, [&] { return sum(w); }).ok());
}

TEST_CASE("a model is audited and its gradients stay") {
  Rng rng(1);
  const nn::Gpt model({.vocabulary = 7, .context = 4, .layers = 2, .heads = 2, .width = 8}, rng);
  const Tensor ids = from_values({1, 4}, std::vector<int64_t>{1, 2, 3, 4});
  const auto loss = [&] { return cross_entropy(model(ids), ids); };
  backward(loss());
  std::vector<std::vector<float>> before, after;
  for (const Tensor& w : nn::parameters(model)) before.push_back(w.grad().to_vector<float>());
  const nn::AuditReport report = nn::audit(model, loss);
  CHECK(report.ok());
  CHECK(report.rows.size() == nn::parameters(model).size());
  for (const Tensor& w : nn::parameters(model)) after.push_back(w.grad().to_vector<float>());
  CHECK(before == after);
  const auto inside = [&] {
    const auto f = [&](const Tensors& in) { return model(in[0]); };
    return cross_entropy(detach(checkpoint(f, {ids})), ids);
  };
  const nn::AuditReport cut = nn::audit(model, inside);
  CHECK(cut.rows[0].name == "token_embedding.weight");
  CHECK(cut.rows[0].cause == "its path ends at detach (by request)");
}

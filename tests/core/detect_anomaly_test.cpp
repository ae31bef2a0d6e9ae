#include <doctest/doctest.h>
#include <tests/slopes.h>

#include <attograd/core/checkpoint.h>
#include <attograd/core/detect_anomaly.h>

using namespace attograd;

namespace {

Tensor leaf(const Values& values) { return vector(values).set_requires_grad(); }

std::string anomaly_of(const NamedTensors& names, const std::function<void()>& f) {
  const DetectAnomaly guard(names);
  return message_of<NumericError>(f);
}

const std::string kNothing = "nothing was thrown";

}  // namespace

TEST_CASE("the first operation that makes an infinity is named with what it read") {
  const Tensor x = leaf({1, 0, 3});
  CHECK(anomaly_of({{"head.scale", x}}, [&] { exp(log(x) * 2); }) ==
        "detect_anomaly: forward of log must make finite numbers out of finite ones, got y = "
        "f64[3] in [0, 1.09861], 1 of 3 not finite from x[0] = f64[3] in [0, 3]; reads head.scale");
  const Tensor w = leaf({1e200, 1}), v = leaf({1, 2});
  CHECK(anomaly_of({{"a", w}, {"b", v}}, [&] { square(w * v) + v; }) ==
        "detect_anomaly: forward of square must make finite numbers out of finite ones, got y = "
        "f64[2] in [4, 4], 1 of 2 not finite from x[0] = f64[2] in [2, 1e+200]; after a, b");
  CHECK(anomaly_of({}, [&] { log(zeros({1})); }) ==  // a constant
        "detect_anomaly: forward of log must make finite numbers out of finite ones, got y = "
        "f32[1], 1 of 1 not finite from x[0] = f32[1] in [0, 0]");
}

TEST_CASE("frozen parameters are named") {
  const Tensor frozen = vector({0, 1}), w = leaf({1, 1}), other = vector({0, 1});
  const NamedTensors names = {{"w", w}, {"frozen", frozen}, {"other", other}, {"none", Tensor()}};
  CHECK(anomaly_of(names, [&] { frozen / frozen; }).ends_with("; reads frozen"));
  CHECK(anomaly_of(names, [&] { w / frozen; }).ends_with("; reads frozen, w"));
  CHECK(anomaly_of(names,
                   [&] {
                     log(transpose(reshape(frozen, {1, 2})));
                   })
            .ends_with("; reads "
                       "frozen"));
  const Tensor huge = vector({1e300, 1});
  const Tensor y = w * huge;
  CHECK(anomaly_of({{"huge", huge}, {"w", w}}, [&] {
          backward(y, vector({1e10, 1}));
        }).ends_with("; reads huge, w"));
}

TEST_CASE("only the nearest parameters are named") {
  const Tensor far = leaf({1}), near = leaf({0});
  CHECK(anomaly_of({{"far", far}, {"near", near}}, [&] {
          log(near * tanh(exp(far)));
        }).ends_with("; after near"));
}

TEST_CASE("a rule that makes an infinity is named with its input") {
  const Tensor w = leaf({1, 2}), x = leaf({0, 4});
  CHECK(anomaly_of({{"w", w}, {"x", x}}, [&] { backward(sum(w * sqrt(x))); }) ==
        "detect_anomaly: backward of sqrt (rule of input 0) must make finite numbers out of finite "
        "ones, got gradient = f64[2] in [0.5, 0.5], 1 of 2 not finite from g = f64[2] in [1, 2]; "
        "reads x");
  const Tensor huge = leaf({1e300}), small = leaf({1});
  const Tensor y = huge * small;
  CHECK(anomaly_of({{"small", small}}, [&] { backward(y, vector({1e10})); }) ==
        "detect_anomaly: backward of mul (rule of input 1) must make finite numbers out of "
        "finite ones, got gradient = f64[1], 1 of 1 not finite from g = f64[1] in [1e+10, "
        "1e+10]; x[0] = f64[1] in [1e+300, 1e+300]; x[1] = f64[1] in [1, 1]; reads small");
}

TEST_CASE("kernels of fused operations are watched and so are their definitions as one step") {
  const Tensor x = vector({1e200, -1e200}), w = leaf({1, 1});
  const Tensor rows = reshape(x, {1, 2}), weight = reshape(w, {1, 2});
  for (const bool create_graph : {false, true}) {
    CAPTURE(create_graph);
    const Tensor y = linear(rows, weight);
    const std::string text = anomaly_of({{"layer.weight", w}}, [&] {
      backward(y, reshape(vector({1e200}), {1, 1}), {.create_graph = create_graph});
    });
    CHECK(text.starts_with("detect_anomaly: backward of linear (rule of input 1) must make"));
    CHECK(text.ends_with("; after layer.weight"));
    Tensor(w).clear_grad();
  }
}

TEST_CASE("infinities that a rule selects away are no anomaly") {
  const Tensor x = leaf({0, 1, 4});
  CHECK(anomaly_of({}, [&] {
          backward(sum(where(x > 0.0, sqrt(x), 0.0)));
          backward(sum(norm(x * 0)));
          backward(sum(logsumexp(x)));
          backward(sum(softmax(masked_fill(x, x > 3.0, -kInf), 0)));
        }) == kNothing);
}

TEST_CASE("what was not finite before is nobody's fault") {
  const Tensor x = leaf({1, kInf, kNaN});
  CHECK(anomaly_of({}, [&] { backward(sum(x * x + exp(x)) * 0); }) == kNothing);
  const Tensor finite = leaf({1, 2});
  CHECK(anomaly_of({}, [&] { backward(finite * 2, vector({kInf, 1})); }) == kNothing);
}

TEST_CASE("a sum of finite gradients that overflows is named") {
  const Tensor x = leaf({1});
  const Tensor y = x * 1e308 + x * 1e308;
  CHECK(anomaly_of({}, [&] { backward(y); }).starts_with("detect_anomaly: forward of add must"));
}

TEST_CASE("operations inside a checkpoint are watched in both runs") {
  const Tensor x = leaf({0, 4});
  const auto f = [](const Tensors& in) { return sqrt(in[0]) * 2; };
  CHECK(anomaly_of({{"x", x}}, [&] {
          backward(sum(checkpoint(f, {x})));
        }).starts_with("detect_anomaly: backward of sqrt (rule of input 0)"));
  const auto g = [](const Tensors& in) { return log(in[0]) * 2; };
  CHECK(anomaly_of({{"x", x}}, [&] { checkpoint(g, {x}); }).ends_with("; after x"));
}

TEST_CASE("guards nest and end and leave the engine as it was") {
  const Tensor x = leaf({0});
  const Tensor w = leaf({3});
  {
    const DetectAnomaly outer(NamedTensors{{"outer", x}});
    {
      const DetectAnomaly inner(NamedTensors{{"inner", x}});
      CHECK(message_of<NumericError>([&] { log(x); }).ends_with("; reads inner"));
    }
    CHECK(message_of<NumericError>([&] { log(x); }).ends_with("; reads outer"));
    CHECK_THROWS_AS(backward(sqrt(x)), NumericError);
  }
  CHECK(values(log(x)) == Values{-kInf});
  CHECK(recording());
  backward(w * w);
  CHECK(w.grad().item() == 6);
}

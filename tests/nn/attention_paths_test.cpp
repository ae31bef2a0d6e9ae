// Every score under every mask, by every path and in both dtypes, against plain loops.

#include <cmath>

#include <doctest/doctest.h>
#include <tests/along.h>
#include <tests/nn/attention_paths.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>

namespace attograd::nn {
namespace {

struct Inputs {
  Tensor q, k, v;
};

Inputs inputs(DType dtype) {
  Rng rng(3);
  const auto leaf = [&](int64_t length, int64_t width) {
    return randn({kBatch, kHeads, length, width}, rng, dtype).set_requires_grad();
  };
  return {leaf(kQueries, kWidth), leaf(kKeys, kWidth), leaf(kKeys, kValueWidth)};
}

/// The weights and y by loops.
struct Right {
  Vector weights, y;
};

Right right_of(const ScoreRow& score, const MaskRow& mask, std::optional<double> fill) {
  const Inputs in = inputs(DType::f64);
  const Vector q = numbers(in.q), k = numbers(in.k), v = numbers(in.v);
  Right right;
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t t = 0; t < kQueries; ++t) {
        const int64_t head = b * kHeads + h;
        Vector weights, y(kValueWidth);
        double sum = 0;
        double most = -kInf;  // subtracted, or e^-1e9 of a row of nothing else is 0
        for (int64_t s = 0; s < kKeys; ++s) {
          const Place place{b, h, t, s};
          const double value =
              score.value(row(q, head * kQueries + t, kWidth), row(k, head * kKeys + s, kWidth)) +
              mask.bias(place);
          weights.push_back(mask.keep(place) ? value : fill.value_or(-kInf));
          most = std::max(most, weights.back());
        }
        for (double& w : weights) sum += w = most == -kInf ? 0 : std::exp(w - most);
        for (int64_t s = 0; s < kKeys; ++s) {
          double& w = weights[static_cast<size_t>(s)];
          if (sum > 0) w /= sum;
          for (size_t d = 0; d < kValueWidth; ++d)
            y[d] += w * row(v, head * kKeys + s, kValueWidth)[d];
        }
        right.weights.insert(right.weights.end(), weights.begin(), weights.end());
        right.y.insert(right.y.end(), y.begin(), y.end());
      }
  return right;
}

double apart(const Tensor& x, const Vector& right) {
  const Vector found = numbers(x);
  REQUIRE(found.size() == right.size());
  double largest = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    const double d = std::abs(found[i] - right[i]);
    largest = d <= largest ? largest : d;
  }
  return largest;
}

/// The ways to the same numbers.
enum class Path { without_weights, after_dropout, before_dropout, inspected };
constexpr Path kPaths[] = {Path::without_weights, Path::after_dropout, Path::before_dropout,
                           Path::inspected};

/// The weights are undefined without them.
Attended run(const Attention& attention, const Inputs& in, const Mask& mask, Path path) {
  if (path == Path::inspected) {
    Attention inspected = attention;
    Tensor seen;
    inspected.inspect = [&](const Tensor& weights) { seen = weights; };
    const Tensor y = inspected(in.q, in.k, in.v, {.mask = mask}).y;
    return {.y = y, .weights = seen};
  }
  const ReturnedWeights weights = path == Path::after_dropout    ? ReturnedWeights::after_dropout
                                  : path == Path::before_dropout ? ReturnedWeights::before_dropout
                                                                 : ReturnedWeights::none;
  return attention(in.q, in.k, in.v, {.mask = mask, .weights = weights});
}

/// Calls check(score, mask) for every pair.
template <class Check>
void for_each_pair(const Check& check) {
  for (const ScoreRow& score : score_rows())
    for (const MaskRow& mask : mask_rows()) {
      CAPTURE(score.name);
      CAPTURE(mask.name);
      check(score, mask);
    }
}

Attention attention_by(const ScoreRow& score, DType dtype, std::optional<double> fill = {}) {
  return to(Attention{.score = score.score, .fill = fill}, dtype);
}

TEST_CASE("every score under every mask equals its loops by every path in both dtypes") {
  // In f32 the scores, up to about 10, are rounded to 6e-7, and the weights follow.
  for_each_pair([](const ScoreRow& score, const MaskRow& mask) {
    for (const std::optional<double> fill : {std::optional<double>(), std::optional(-1e9)}) {
      const Right right = right_of(score, mask, fill);
      for (const DType dtype : {DType::f64, DType::f32})
        for (const Path path : kPaths) {
          const double tolerance = dtype == DType::f64 ? 1e-14 : 1e-5;
          const Attended found =
              run(attention_by(score, dtype, fill), inputs(dtype), mask.mask(dtype), path);
          CHECK(apart(found.y, right.y) <= tolerance);
          CHECK(found.weights.defined() == (path != Path::without_weights));
          if (found.weights.defined()) CHECK(apart(found.weights, right.weights) <= tolerance);
        }
    }
  });
}

TEST_CASE("a query that may see nothing has weights and output and gradient 0 by every path") {
  for_each_pair([](const ScoreRow& score, const MaskRow& mask) {
    const Right right = right_of(score, mask, {});
    for (const DType dtype : {DType::f64, DType::f32})
      for (const Path path : kPaths) {
        const Inputs in = inputs(dtype);
        const Attended found = run(attention_by(score, dtype), in, mask.mask(dtype), path);
        Rng rng(5);
        backward(sum(found.y * randn(found.y.shape(), rng, dtype)));
        for (int64_t i = 0; i < kBatch * kHeads * kQueries; ++i) {
          const Vector weights(right.weights.begin() + i * kKeys,
                               right.weights.begin() + (i + 1) * kKeys);
          if (weights != Vector(kKeys, 0.0)) continue;
          CHECK(row(numbers(found.y), i, kValueWidth) == Vector(kValueWidth, 0.0));
          CHECK(row(numbers(in.q.grad()), i, kWidth) == Vector(kWidth, 0.0));
          if (found.weights.defined()) CHECK(row(numbers(found.weights), i, kKeys) == weights);
        }
      }
  });
}

TEST_CASE("gradients with and without weights agree in both dtypes") {
  for_each_pair([](const ScoreRow& score, const MaskRow& mask) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      const double tolerance = dtype == DType::f64 ? 1e-13 : 2e-5;
      const auto gradients = [&](Path path) {
        const Inputs in = inputs(dtype);
        Attention attention = attention_by(score, dtype);
        Tensors leaves = {in.q, in.k, in.v};
        for (const Tensor& w : parameters(attention)) leaves.push_back(w);
        Rng rng(5);
        const Tensor y = run(attention, in, mask.mask(dtype), path).y;
        return grad({sum(y * randn(y.shape(), rng, dtype))}, leaves);
      };
      const Tensors a = gradients(Path::without_weights), b = gradients(Path::after_dropout);
      for (size_t i = 0; i < a.size(); ++i) CHECK(apart(a[i], numbers(b[i])) <= tolerance);
    }
  });
}

TEST_CASE("every score under every mask has right second derivatives with and without weights") {
  for_each_pair([](const ScoreRow& score, const MaskRow& mask) {
    const Attention attention = attention_by(score, DType::f64);
    const Inputs in = inputs(DType::f64);
    Tensors leaves = {in.q, in.k, in.v};
    for (const Tensor& w : parameters(attention)) leaves.push_back(w);
    for (const Path path : {Path::without_weights, Path::after_dropout}) {
      const auto f = [&](const Tensors& x) {
        const Attention moved = with_parameters(attention, Tensors(x.begin() + 3, x.end()));
        const Attended found = run(moved, {x[0], x[1], x[2]}, mask.mask(DType::f64), path);
        Rng rng(5);
        const auto product = [&](const Tensor& y) {
          return sum(y * randn(y.shape(), rng, DType::f64));
        };
        return product(found.y) +
               (found.weights.defined() ? product(found.weights) : zeros({}, DType::f64));
      };
      const GradcheckReport report = gradgradcheck_along(f, leaves);
      CHECK_MESSAGE(report.ok(), report);
    }
  });
}

}  // namespace
}  // namespace attograd::nn

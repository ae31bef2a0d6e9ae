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
    if (!(d <= largest)) largest = std::isnan(d) ? kInf : d;
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

TEST_CASE("NaN and infinity in a key that no query may see leave no trace by any path") {
  for (const ScoreRow& score : score_rows())
    for (const double hidden : {kNaN, kInf, -kInf})
      for (const Path path : kPaths) {
        CAPTURE(score.name);
        CAPTURE(hidden);
        const auto results = [&](double filling) {
          const Inputs in = inputs(DType::f64);
          const Tensor padding = full({kBatch, kHeads, 1, 1}, filling, DType::f64);
          const auto padded = [&](const Tensor& x) {  // [B, H, S + 1, .]
            return cat({x, expand(padding, {kBatch, kHeads, 1, x.dim(3)})}, 2);
          };
          const Mask mask = Mask::padding(std::vector<int64_t>{kKeys, 0});
          const Attention attention = attention_by(score, DType::f64);
          const Attended found = run(attention, {in.q, padded(in.k), padded(in.v)}, mask, path);
          Tensors list = grad({sum(found.y * found.y)}, {in.q, in.k, in.v}, {.create_graph = true});
          const Tensor slopes = sum(list[0]) + sum(list[1]) + sum(list[2]);
          for (const Tensor& g : grad({slopes}, {in.q, in.k, in.v})) list.push_back(g);
          list.push_back(found.y);
          Vector all;
          for (const Tensor& x : list)
            for (const double number : numbers(x)) all.push_back(number);
          return all;
        };
        CHECK(results(hidden) == results(0));
      }
}

TEST_CASE("inputs that do not fit are named by every path") {
  const Inputs in = inputs(DType::f64);
  for (const Path path : kPaths) {
    const auto refused = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
      CHECK_THROWS_WITH_AS(run(Attention(), {q, k, v}, {}, path),
                           doctest::Contains("Attention: q must be [B, H, T, D]"), ShapeError);
    };
    refused(select(in.q, 0, 0), in.k, in.v);
    refused(in.q, slice(in.k, 0, 0, 1), in.v);
    refused(in.q, slice(in.k, 1, 0, 1), in.v);
    refused(in.q, in.k, select(in.v, 0, 0));
    refused(in.q, in.k, slice(in.v, 0, 0, 1));
    refused(in.q, in.k, slice(in.v, 2, 0, 1));
    CHECK_THROWS_WITH_AS(run(Attention(), {in.q, in.k, cast(in.v, DType::f32)}, {}, path),
                         doctest::Contains("q, k and v must all be f32 or all f64"), DTypeError);
  }
}

TEST_CASE("an inspection may end itself") {
  const Inputs in = inputs(DType::f64);
  Attention attention;
  int calls = 0;
  attention.inspect = [&](const Tensor&) {
    attention.inspect = nullptr;
    ++calls;
  };
  attention(in.q, in.k, in.v);
  attention(in.q, in.k, in.v);
  CHECK(calls == 1);
}

}  // namespace
}  // namespace attograd::nn

#include <cmath>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

// ---- softmax ----

/// f(row, entry), over rows along the last axis or columns of a matrix.
Naive along(int axis, double (*f)(const std::vector<double>& x, size_t i)) {
  return [axis, f](const In& in) {
    Numbers y(in[0].shape);
    int64_t step = 1;
    for (int a = axis + 1; a < y.shape.rank(); ++a) step *= y.shape[a];
    const int64_t n = y.shape[axis];
    for (int64_t i = 0; i < static_cast<int64_t>(y.values.size()); ++i) {
      const int64_t own = i / step % n, first = i - own * step;
      std::vector<double> row;
      for (int64_t k = 0; k < n; ++k)
        row.push_back(in[0].values[static_cast<size_t>(first + k * step)]);
      y.values[static_cast<size_t>(i)] = f(row, static_cast<size_t>(own));
    }
    return y;
  };
}

double naive_softmax(const std::vector<double>& x, size_t i) {
  double z = 0;
  for (double v : x) z += std::exp(v - x[i]);
  return 1 / z;
}

double naive_log_softmax(const std::vector<double>& x, size_t i) {
  double z = 0;
  for (double v : x) z += std::exp(v - x[i]);
  return -std::log(z);
}

void add_rows(Table& t, const std::string& op, Tensor (*f)(const Tensor&, int64_t),
              double (*naive)(const std::vector<double>&, size_t)) {
  const auto add = [&](std::string label, const Input& x, int64_t axis, std::vector<Input> large) {
    t.cases.push_back(
        {.op = op,
         .label = std::move(label),
         .inputs = {x},
         .call = [f, axis](const Tensors& in) { return f(in[0], axis); },
         .naive = along(static_cast<int>(axis < 0 ? axis + x.shape.rank() : axis), naive),
         .large = std::move(large)});
  };
  add("", normal({3, 5}), -1, {normal({300, 301})});
  add("of large numbers", normal({3, 5}, 10), -1, {});
  add("over columns", normal({4, 3}), 0, {});
  add("over a middle axis", normal({2, 3, 4}), 1, {});
  add("of a vector", normal({4}), 0, {});
  add("of single numbers", normal({3, 1}), -1, {});
  add("of no numbers", normal({2, 0}), -1, {});
  add("of no rows", normal({0, 3}), -1, {});
  add("over empty columns", normal({0, 3}), 0, {});
  t.errors.push_back(refuses<ShapeError>(
      op,
      [f] {
        f(zeros({2, 3}), 2);
      },
      op + ": axis must be in [-2, 2), got 2"));
  t.errors.push_back(refuses<ShapeError>(
      op, [f] { f(zeros({}), -1); }, op + ": axis must be in [0, 0), got -1"));
  t.errors.push_back(refuses<DTypeError>(
      op, [f] { f(arange(0, 3), 0); }, op + ": takes f32 or f64, got i64; convert with cast"));
}

Numbers naive_masked_softmax(const In& x) {
  Numbers y(x[0].shape);
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    double z = 0;
    for (int64_t j = 0; j < y.shape[1]; ++j) z += x[1](i, j) * std::exp(x[0](i, j));
    for (int64_t j = 0; j < y.shape[1]; ++j)
      y(i, j) = z > 0 ? x[1](i, j) * std::exp(x[0](i, j)) / z : 0;
  }
  return y;
}

void add_masked_softmax(Table& t) {
  const std::vector<bool> keep = {true,  true,  false, true,    //
                                  false, false, false, false,   //
                                  false, false, true,  false};  // a row with nothing, one with one
  const auto add = [&](std::string label, std::vector<Input> inputs, int64_t axis, Naive naive) {
    t.cases.push_back(
        {.op = "masked_softmax",
         .label = std::move(label),
         .inputs = std::move(inputs),
         .call = [axis](const Tensors& x) { return masked_softmax(x[0], x[1], axis); },
         .naive = std::move(naive)});
  };
  add("", {normal({3, 4}), mask({3, 4}, keep)}, -1, naive_masked_softmax);
  add("over columns", {normal({3, 4}), mask({3, 4}, keep)}, 0, {});
  add("one mask for all", {normal({2, 3, 4}), mask({1, 4})}, -1, {});
  add("more masks than rows", {normal({4}), mask({3, 4}, keep)}, -1, {});
  add("of no numbers", {normal({2, 0}), mask({2, 0})}, -1, {});
  t.errors.push_back(refuses<DTypeError>(
      "masked_softmax",
      [] {
        masked_softmax(zeros({2, 3}), zeros({2, 3}));
      },
      "masked_softmax: keep must be bool (true where a score counts), got f32[2, 3]; compare "
      "first, as in mask > 0"));
}

// ---- cross entropy ----

/// The losses of the rows.
Numbers naive_losses(const In& x, int64_t ignored, double smoothing) {
  const int64_t classes = x[0].shape[x[0].shape.rank() - 1];
  Numbers y(x[1].shape);
  for (size_t r = 0; r < y.values.size(); ++r) {
    const auto target = static_cast<int64_t>(x[1].values[r]);
    if (target == ignored) continue;
    const auto first = x[0].values.begin() + static_cast<int64_t>(r) * classes;
    const std::vector<double> row(first, first + classes);
    for (int64_t c = 0; c < classes; ++c) {
      const double share = smoothing / static_cast<double>(classes);
      y.values[r] -= (c == target ? 1 - smoothing + share : share) *
                     naive_log_softmax(row, static_cast<size_t>(c));
    }
  }
  return y;
}

Naive naive_cross_entropy(const CrossEntropyOptions& o) {
  return [o](const In& x) {
    const Numbers losses = naive_losses(x, o.ignore_index, o.label_smoothing);
    if (o.reduction == Reduction::none) return losses;
    Numbers y(Shape{});
    double count = 0;
    for (size_t r = 0; r < losses.values.size(); ++r) {
      y() += losses.values[r];
      count += static_cast<int64_t>(x[1].values[r]) != o.ignore_index ? 1 : 0;
    }
    if (o.reduction == Reduction::mean && count > 0) y() /= count;
    return y;
  };
}

void add_cross_entropy(Table& t) {
  const auto add = [&](std::string label, std::vector<Input> inputs, const CrossEntropyOptions& o,
                       std::vector<Input> large = {}) {
    t.cases.push_back({.op = "cross_entropy",
                       .label = std::move(label),
                       .inputs = std::move(inputs),
                       .call = [o](const Tensors& x) { return cross_entropy(x[0], x[1], o); },
                       .naive = naive_cross_entropy(o),
                       .large = std::move(large)});
  };
  const Input x = normal({4, 5}), some = ids({4}, std::vector<int64_t>{3, -100, 0, 4});
  add("mean", {x, ids({4}, 5)}, {}, {normal({300, 301}), ids({300}, 301)});
  add("mean with ignored rows", {x, some}, {});
  add("sum", {x, some}, {.reduction = Reduction::sum});
  add("for each row", {x, some}, {.reduction = Reduction::none});
  add("with smoothing", {x, some}, {.label_smoothing = 0.1});
  add("with nothing but smoothing", {x, some},
      {.reduction = Reduction::none, .label_smoothing = 1});
  add("with its own ignored class", {x, ids({4}, std::vector<int64_t>{3, 0, 0, 4})},
      {.ignore_index = 0});
  add("of one row", {normal({5}), ids({}, 5)}, {});
  add("of a batch", {normal({2, 3, 5}), ids({2, 3}, 5)}, {.reduction = Reduction::none});
  add("of large logits", {normal({4, 5}, 10), some}, {});
  add("of nothing", {normal({0, 5}), ids({0}, 5)}, {});
  const auto refuse = [&](auto error, const Shape& logits, const Tensor& targets, double smoothing,
                          std::string message) {
    t.errors.push_back(refuses<decltype(error)>(
        "cross_entropy",
        [=] { cross_entropy(zeros(logits), targets, {.label_smoothing = smoothing}); },
        std::move(message)));
  };
  refuse(
      ShapeError(""), {4, 5}, zeros({3}, DType::i64), 0,
      "cross_entropy: logits must be [..., V] and targets [...], got logits = f32[4, 5], targets "
      "= i64[3]");
  refuse(
      ShapeError(""), {4, 5}, zeros({4, 1}, DType::i64), 0,
      "cross_entropy: logits must be [..., V] and targets [...], got logits = f32[4, 5], targets "
      "= i64[4, 1]");
  refuse(DTypeError(""), {4, 5}, zeros({4}), 0,
         "cross_entropy: logits must be f32 or f64 and targets i64 class ids, got logits = f32[4, "
         "5], targets = f32[4]");
  refuse(IndexError(""), {2, 3}, from_values({2}, std::vector<int64_t>{-100, 3}), 0,
         "cross_entropy: a target must be in [0, 3), the number of classes, or the ignored -100, "
         "got 3 at place 1");
  refuse(ValueError(""), {2, 3}, zeros({2}, DType::i64), 1.5,
         "cross_entropy: label_smoothing must be in [0, 1], got 1.5");
  t.errors.push_back(refuses<ValueError>(
      "cross_entropy",
      [] {
        cross_entropy(zeros({2, 3}), zeros({2}, DType::i64),
                      {.reduction = static_cast<Reduction>(-1)});
      },
      "cross_entropy: no such reduction, got -1"));
}

}  // namespace

void add_softmax(Table& t) {
  add_rows(t, "softmax", softmax, naive_softmax);
  add_rows(t, "log_softmax", log_softmax, naive_log_softmax);
  add_masked_softmax(t);
  add_cross_entropy(t);
}

}  // namespace attograd::op_cases

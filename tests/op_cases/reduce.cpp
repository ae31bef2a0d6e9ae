#include <algorithm>
#include <cmath>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using Group = std::vector<double>;

/// The naive twin of a reduction by f over some axes.
Naive over(std::vector<int> axes, bool keepdim, double (*f)(const Group&)) {
  return [=](const std::vector<Numbers>& in) {
    const Numbers& x = in[0];
    Shape shape;  // with and without the reduced axes
    Shape full = x.shape;
    for (int axis = 0; axis < x.shape.rank(); ++axis) {
      const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
      if (reduced) full[axis] = 1;
      if (!reduced || keepdim) shape.append(full[axis]);
    }
    std::vector<Group> groups(static_cast<size_t>(full.numel()));
    for (size_t i = 0; i < x.values.size(); ++i) {
      auto rest = static_cast<int64_t>(i);
      int64_t group = 0;
      int64_t step = 1;
      for (int axis = x.shape.rank() - 1; axis >= 0; --axis) {
        if (full[axis] > 1) group += rest % x.shape[axis] * step;
        step *= full[axis];
        rest /= x.shape[axis];
      }
      groups[static_cast<size_t>(group)].push_back(x.values[i]);
    }
    Numbers y(shape);
    std::transform(groups.begin(), groups.end(), y.values.begin(), f);
    return y;
  };
}

double naive_sum(const Group& v) {
  double total = 0;
  for (double e : v) total += e;
  return total;
}

double naive_mean(const Group& v) { return naive_sum(v) / static_cast<double>(v.size()); }

double naive_var(const Group& v) {
  double total = 0;
  for (double e : v) total += (e - naive_mean(v)) * (e - naive_mean(v));
  return total / static_cast<double>(v.size() - 1);
}

double naive_population_var(const Group& v) {
  return naive_var(v) * static_cast<double>(v.size() - 1) / static_cast<double>(v.size());
}

double naive_norm(const Group& v) {
  double total = 0;
  for (double e : v) total += e * e;
  return std::sqrt(total);
}

double naive_logsumexp(const Group& v) {
  double total = 0;
  for (double e : v) total += std::exp(e);
  return std::log(total);
}

double naive_prod(const Group& v) {
  double product = 1;
  for (double e : v) product *= e;
  return product;
}

double naive_max(const Group& v) { return *std::max_element(v.begin(), v.end()); }
double naive_min(const Group& v) { return *std::min_element(v.begin(), v.end()); }
double naive_argmax(const Group& v) {
  return static_cast<double>(std::max_element(v.begin(), v.end()) - v.begin());
}

using Reduction = std::function<Tensor(const Tensor&, const Axes&, bool)>;

/// The rows of a reduction: over each kind of axes.
void reduction(Table& t, const std::string& op, const std::function<Input(const Shape&)>& make,
               const Reduction& f, double (*naive)(const Group&)) {
  const auto add = [&](std::string label, const Shape& shape, const Axes& axes,
                       std::vector<int> flat, bool keepdim, std::vector<Input> large) {
    t.cases.push_back(
        {.op = op,
         .label = std::move(label),
         .inputs = {make(shape)},
         .call = [f, axes, keepdim](const Tensors& x) { return f(x[0], axes, keepdim); },
         .naive = over(std::move(flat), keepdim, naive),
         .large = std::move(large)});
  };
  add("over all", {2, 3, 2}, {}, {0, 1, 2}, false, {make({64, 33, 45})});
  add("over the last axis", {2, 3}, -1, {1}, false, {make({300, 301})});
  add("over the first axis", {3, 2}, 0, {0}, true, {make({300, 301})});
  add("over a middle axis", {2, 3, 2}, 1, {1}, false, {make({64, 33, 45})});
  add("over the outer axes", {2, 3, 2}, {0, 2}, {0, 2}, true, {make({64, 33, 45})});
  add("of a scalar", {}, {}, {}, false, {});
  add("of no groups", {0, 3}, 1, {1}, false, {});
  t.errors.push_back(refuses<ShapeError>(
      op,
      [f] {
        f(zeros({2, 3}), 2, false);
      },
      op + ": axis must be in [-2, 2), got 2"));
  t.errors.push_back(refuses<ShapeError>(
      op,
      [f] {
        f(zeros({2, 3}), {1, -1}, false);
      },
      op + ": axes must differ, got axis -1 twice"));
}

void add_sums(Table& t) {
  const auto make = [](const Shape& shape) { return normal(shape); };
  reduction(t, "sum", make, sum, naive_sum);
  reduction(t, "mean", make, mean, naive_mean);
  reduction(t, "logsumexp", make, logsumexp, naive_logsumexp);
  reduction(t, "norm", make, norm, naive_norm);
  reduction(
      t, "prod", [](const Shape& shape) { return uniform(shape, 0.5, 1.5); }, prod, naive_prod);
  t.cases.push_back({.op = "prod",
                     .label = "with zeros",
                     .inputs = {values({2, 5}, {0, 2, 3, 4, 5, 0, 0, 6, 7, 8})},
                     .call = [](const Tensors& x) { return prod(x[0], 1); },
                     .naive = over({1}, false, naive_prod)});
  for (int64_t axis : {0, 1})
    t.cases.push_back({.op = "cumsum",
                       .label = axis == 0 ? "of columns" : "of rows",
                       .inputs = {normal({3, 4})},
                       .call = [axis](const Tensors& x) { return cumsum(x[0], axis); },
                       .naive =
                           [axis](const std::vector<Numbers>& x) {
                             Numbers y = x[0];
                             for (int64_t i = 0; i < 3; ++i)
                               for (int64_t j = 0; j < 4; ++j) {
                                 if (axis == 0 && i > 0) y(i, j) += y(i - 1, j);
                                 if (axis == 1 && j > 0) y(i, j) += y(i, j - 1);
                               }
                             return y;
                           },
                       .large = {normal({300, 301})}});
}

void add_spreads(Table& t) {
  const auto add = [&](const std::string& op, std::string label, double correction,
                       double (*naive)(const Group&)) {
    const auto f = op == "var" ? var : attograd::std;
    t.cases.push_back(
        {.op = op,
         .label = std::move(label),
         .inputs = {normal({2, 4})},
         .call = [f,
                  correction](const Tensors& x) { return f(x[0], 1, {.correction = correction}); },
         .naive = over({1}, false, naive),
         .large = {normal({300, 301})}});
  };
  add("var", "of a sample", 1, naive_var);
  add("var", "of a population", 0, naive_population_var);
  add("std", "of a sample", 1, [](const Group& v) { return std::sqrt(naive_var(v)); });
  add("std", "of a population", 0,
      [](const Group& v) { return std::sqrt(naive_population_var(v)); });
  t.cases.push_back({.op = "var",
                     .label = "over all",
                     .inputs = {normal({2, 3})},
                     .call = [](const Tensors& x) { return var(x[0], {}, {.keepdim = true}); },
                     .naive = over({0, 1}, true, naive_var)});
}

void add_choices(Table& t) {
  const auto make = [](const Shape& shape) { return distinct(shape); };
  reduction(t, "max", make, max, naive_max);
  reduction(t, "min", make, min, naive_min);
  t.cases.push_back({.op = "max",
                     .label = "with index",
                     .inputs = {distinct({3, 4})},
                     .call = [](const Tensors& x) { return max_with_index(x[0], 1).values; },
                     .naive = over({1}, false, naive_max)});
  for (int axis : {0, 1})
    t.cases.push_back({.op = "argmax",
                       .label = axis == 0 ? "of columns" : "of rows",
                       .inputs = {distinct({3, 4})},
                       .call = [axis](const Tensors& x) { return argmax(x[0], axis, true); },
                       .naive = over({axis}, true, naive_argmax),
                       .differentiable = false,
                       .large = {distinct({300, 301})}});
  t.cases.push_back({.op = "argmax",
                     .label = "of all",
                     .inputs = {distinct({3, 4})},
                     .call = [](const Tensors& x) { return argmax(x[0]); },
                     .naive = over({0, 1}, false, naive_argmax),
                     .differentiable = false});
}

void add_errors(Table& t) {
  for (const auto& [op, f] : std::vector<std::pair<std::string, Tensor (*)(const Tensor&)>>{
           {"max", [](const Tensor& x) { return max(x, 1); }},
           {"min", [](const Tensor& x) { return min(x, 1); }},
           {"argmax", [](const Tensor& x) { return argmax(x, 1); }}})
    t.errors.push_back(refuses<ShapeError>(
        op,
        [f = f] {
          f(zeros({2, 0}));
        },
        op + ": there are no elements to choose from, got f32[2, 0]"));
  for (const auto& [op, f] : std::vector<std::pair<std::string, Tensor (*)(const Tensor&)>>{
           {"mean", [](const Tensor& x) { return mean(x); }},
           {"norm", [](const Tensor& x) { return norm(x); }},
           {"logsumexp", [](const Tensor& x) { return logsumexp(x); }}})
    t.errors.push_back(refuses<DTypeError>(
        op, [f = f] { f(arange(0, 2)); }, op + ": takes f32 or f64, got i64; convert with cast"));
  t.errors.push_back(refuses<ShapeError>(
      "cumsum", [] { cumsum(zeros({2}), 1); }, "cumsum: axis must be in [-1, 1), got 1"));
}

}  // namespace

void add_reduce(Table& t) {
  add_sums(t);
  add_spreads(t);
  add_choices(t);
  add_errors(t);
}

}  // namespace attograd::op_cases

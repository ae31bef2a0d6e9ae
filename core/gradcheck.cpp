#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/finite_difference.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/random.h>

namespace attograd {
namespace {

std::string describe(const GradcheckOptions& options, size_t i, const Tensor& x) {
  std::ostringstream text;
  if (i < options.input_names.size()) {
    text << options.input_names[i];
  } else {
    text << "input " << i;
  }
  if (x.defined()) text << ' ' << signature(x);
  return text.str();
}

/// A copy in the same order of axes. Expanded axes get memory of their own, so that one element can
/// be moved alone.
Array copy_in_layout(const Array& x) {
  std::vector<int> order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return x.strides()[a] > x.strides()[b]; });
  Strides strides = x.shape();
  int64_t step = 1;
  for (size_t k = order.size(); k-- > 0; step *= x.shape()[order[k]]) strides[order[k]] = step;
  Array y = Array(x.shape(), x.dtype()).view(x.shape(), strides);
  assign(y, x);
  return y;
}

Tensors gaussian_like(const Tensors& y, uint64_t seed) {
  Rng rng(seed);
  Tensors v;
  for (const Tensor& output : y) v.push_back(randn(output.shape(), rng, output.dtype()));
  return v;
}

Shape index_of(const Shape& shape, int64_t element) {
  Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

/// The estimate to judge by. A first step may leave the domain of f or reach over a kink, so others
/// follow until one is settled and either agrees with the rules or is confirmed by the next. If
/// none is, the rules get the benefit of the doubt: an estimate that agrees as far as it can tell.
NumericDerivative refine(FiniteDifference& difference, size_t input, const Shape& index,
                         double step, const NumericDerivative& first, double scale,
                         const std::function<bool(const NumericDerivative&)>& agrees) {
  constexpr int kSteps = 6;
  const auto doubt = [&](const NumericDerivative& n) {
    return std::tuple(!std::isfinite(n.value), !agrees(n), n.error);
  };
  NumericDerivative best = first;
  NumericDerivative last = first;
  for (int k = 1; k < kSteps && !(last.settled(scale) && agrees(last)); ++k) {
    step /= 4;
    const NumericDerivative next = difference.along(input, index, step);
    if (last.settled(scale) && next.settled(scale) && next.confirms(last)) return last;
    if (doubt(next) < doubt(best)) best = next;
    last = next;
  }
  return last.settled(scale) && agrees(last) ? last : best;
}

GradcheckEntry judge(const Shape& index, double analytic, const NumericDerivative& numeric,
                     double scale, double tolerance) {
  GradcheckEntry entry{index,        analytic,      numeric.value, numeric.error, tolerance,
                       numeric.left, numeric.right, numeric.kink,  Verdict::fail};
  const auto [low, high] = std::minmax(numeric.left, numeric.right);
  const double slack = 0.1 * (high - low) + tolerance;
  const bool between_slopes = analytic >= low - slack && analytic <= high + slack;
  const bool agrees = std::isfinite(analytic) && std::isfinite(numeric.value) &&
                      std::abs(analytic - numeric.value) <= tolerance;
  if (agrees && numeric.settled(scale)) {
    entry.verdict = Verdict::pass;
  } else if (numeric.kink ? between_slopes : agrees) {
    entry.verdict = Verdict::inconclusive;
  }
  return entry;
}

/// Every entry of one input, against its gradient by the rules.
std::vector<GradcheckEntry> compare(FiniteDifference& difference, size_t input, const Tensor& x,
                                    const std::vector<double>& analytic,
                                    const GradcheckOptions& options) {
  const std::vector<double> at = x.to_vector<double>();
  std::vector<Shape> indices;
  std::vector<NumericDerivative> numeric;
  double sum = 0;
  const auto step = [&](size_t i) { return options.step * std::max(1.0, std::abs(at[i])); };
  for (size_t i = 0; i < at.size(); ++i) {
    indices.push_back(index_of(x.shape(), static_cast<int64_t>(i)));
    numeric.push_back(difference.along(input, indices[i], step(i)));
    if (std::isfinite(numeric[i].value)) sum += std::abs(numeric[i].value);
  }
  const double scale = sum / static_cast<double>(at.size());
  std::vector<GradcheckEntry> entries;
  for (size_t i = 0; i < at.size(); ++i) {
    const auto tolerance = [&](const NumericDerivative& n) {
      return 4 * n.error + options.rtol * std::max(std::abs(analytic[i]), std::abs(n.value)) +
             1e-9 * scale;
    };
    const auto agrees = [&](const NumericDerivative& n) {
      return std::abs(analytic[i] - n.value) <= tolerance(n);
    };
    const NumericDerivative n =
        refine(difference, input, indices[i], step(i), numeric[i], scale, agrees);
    entries.push_back(judge(indices[i], analytic[i], n, scale, tolerance(n)));
  }
  return entries;
}

/// Why an input is held constant, or nothing.
std::string reason_to_skip(const Tensor& x) {
  if (!x.defined()) return "undefined";
  if (!is_floating(x.dtype())) return "only f32 and f64 have gradients";
  if (!x.requires_grad()) return "it requires no gradients";
  return "";
}

void check_not_empty(const GradcheckOptions& options, const Tensors& inputs) {
  const bool any = std::any_of(inputs.begin(), inputs.end(),
                               [](const Tensor& x) { return reason_to_skip(x).empty(); });
  check<GraphError>(any, "gradcheck: no input of ", options.name,
                    " requires gradients, so nothing would be checked; call set_requires_grad()");
}

void check_f64(const GradcheckOptions& options, std::string_view what, size_t i, const Tensor& x) {
  check<DTypeError>(x.dtype() == DType::f64, "gradcheck: needs f64, got ", what, ' ', i, " of ",
                    options.name, " = ", signature(x),
                    "; rounding hides mistakes in other types: check the operation in f64");
}

}  // namespace

GradcheckReport gradcheck(const TensorFunction& f, const Tensors& inputs,
                          const GradcheckOptions& options) {
  check_not_empty(options, inputs);
  GradcheckReport report{options.name, {}};
  Tensors leaves, constants, checked;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    report.inputs.push_back({describe(options, i, x), reason_to_skip(x)});
    leaves.push_back(x.defined() ? Tensor(copy_in_layout(x.array())) : x);
    constants.push_back(x.defined() ? Tensor(copy_in_layout(x.array())) : x);
    if (!report.inputs[i].skipped.empty()) continue;
    check_f64(options, "input", i, x);
    checked.push_back(leaves[i].set_requires_grad());
  }

  const Tensors y = f(leaves);
  for (size_t i = 0; i < y.size(); ++i) check_f64(options, "output", i, y[i]);
  const Tensors v = gaussian_like(y, options.seed);
  const Tensors gradients = grad(y, checked, {.allow_unused = true}, v);
  FiniteDifference difference(f, constants, v);

  for (size_t i = 0, k = 0; i < inputs.size(); ++i) {
    GradcheckInput& input = report.inputs[i];
    if (!input.skipped.empty()) continue;
    const Tensor& g = gradients[k++];
    input.reached = g.defined();
    const auto analytic = input.reached
                              ? g.to_vector<double>()
                              : std::vector<double>(static_cast<size_t>(inputs[i].numel()));
    input.entries = compare(difference, i, inputs[i], analytic, options);
    check<GraphError>(input.reached || options.allow_unused || input.count(Verdict::fail) > 0,
                      "gradcheck: ", options.name, " does not depend on ", input.name,
                      "; it must use the tensors that it is given, not captured ones");
  }
  return report;
}

GradcheckReport gradgradcheck(const TensorFunction& f, const Tensors& inputs,
                              const GradcheckOptions& options) {
  check_not_empty(options, inputs);
  const size_t n = inputs.size();
  GradcheckOptions second = options;
  second.name = "gradient of " + options.name;
  second.allow_unused = true;  // the gradient of a linear function does not depend on x
  second.input_names.resize(n);
  for (size_t i = 0; i < n; ++i)
    if (second.input_names[i].empty()) second.input_names[i] = "input " + std::to_string(i);
  Tensors x_and_v = inputs;
  for (Tensor& v : gaussian_like(f(inputs), options.seed + 1)) {
    x_and_v.push_back(v.set_requires_grad());
    second.input_names.push_back("cotangent " + std::to_string(x_and_v.size() - 1 - n));
  }
  std::vector<bool> wants;
  for (const Tensor& x : inputs) wants.push_back(reason_to_skip(x).empty());

  const auto pull_back = [f, n, wants](const Tensors& arguments) {
    const auto middle = arguments.begin() + static_cast<std::ptrdiff_t>(n);
    Tensors x(arguments.begin(), middle);
    const Tensors v(middle, arguments.end());
    Tensors wanted;
    for (size_t i = 0; i < n; ++i) {
      if (!wants[i]) continue;
      if (!x[i].requires_grad()) x[i] = Tensor(x[i].array()).set_requires_grad();
      wanted.push_back(x[i]);
    }
    Tensors gradients = grad(f(x), wanted, {.create_graph = true, .allow_unused = true}, v);
    for (size_t i = 0; i < wanted.size(); ++i)
      if (!gradients[i].defined()) gradients[i] = zeros_like(wanted[i]);
    return gradients;
  };
  return gradcheck(pull_back, x_and_v, second);
}

}  // namespace attograd

#include <algorithm>
#include <cmath>
#include <numeric>

#include <attograd/core/create.h>
#include <attograd/core/graph.h>
#include <attograd/nn/generate.h>

namespace attograd::nn {

int64_t sample(const Tensor& logits, Rng& rng, const SampleOptions& options) {
  check<ShapeError>(logits.rank() == 1 && logits.numel() > 0, "sample: logits must be [V], got ",
                    signature(logits));
  check<ValueError>(options.temperature >= 0 && options.top_k >= 0,
                    "sample: options must be >= 0, got temperature = ", options.temperature,
                    " and top_k = ", options.top_k);
  const std::vector<double> z = cast(logits, DType::f64).to_vector<double>();
  std::vector<int64_t> ids(z.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto at = [&](int64_t id) { return z[static_cast<size_t>(id)]; };
  for (int64_t id : ids)
    check<NumericError>(at(id) < HUGE_VAL, "sample: logits must be numbers, got ", at(id),
                        " for id ", id);
  std::stable_sort(ids.begin(), ids.end(), [&](int64_t a, int64_t b) { return at(a) > at(b); });
  const double largest = at(ids[0]);
  check<NumericError>(largest > -HUGE_VAL, "sample: all logits are -inf, nothing can follow");
  if (options.temperature == 0) return ids[0];
  if (options.top_k > 0) ids.resize(std::min(ids.size(), static_cast<size_t>(options.top_k)));

  std::vector<double> sums;  // running sums of the probabilities, but for their common factor
  sums.reserve(ids.size());
  double sum = 0;
  for (int64_t id : ids) sums.push_back(sum += std::exp((at(id) - largest) / options.temperature));
  const auto drawn = std::upper_bound(sums.begin(), sums.end(), rng.uniform() * sum);
  const auto last = std::lower_bound(sums.begin(), sums.end(), sum);  // with a probability above 0
  return ids[static_cast<size_t>(std::min(drawn, last) - sums.begin())];
}

std::vector<int64_t> generate(const Gpt& model, std::vector<int64_t> prompt, int64_t count,
                              Rng& rng, const SampleOptions& options,
                              const std::function<bool(int64_t)>& on_id) {
  check<ShapeError>(!prompt.empty(), "generate: the prompt needs at least one id");
  const NoGrad no_training;
  std::vector<int64_t> ids = std::move(prompt);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = std::min(static_cast<int64_t>(ids.size()), model.options.context);
    const std::vector<int64_t> seen(ids.end() - length, ids.end());
    const Tensor logits = model(from_values({1, length}, seen));  // [1, T, V]
    ids.push_back(sample(select(select(logits, 0, 0), 0, length - 1), rng, options));
    if (on_id && !on_id(ids.back())) break;
  }
  return ids;
}

}  // namespace attograd::nn

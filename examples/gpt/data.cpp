#include "examples/gpt/data.h"

#include <algorithm>

namespace gpt {

using namespace attograd;

Batch windows_at(const std::vector<int64_t>& ids, const std::vector<int64_t>& begins,
                 int64_t length) {
  const Shape shape = {static_cast<int64_t>(begins.size()), length};
  Array inputs(shape, DType::i64);
  Array targets(shape, DType::i64);
  auto* input = inputs.mutable_data<int64_t>();
  auto* target = targets.mutable_data<int64_t>();
  for (int64_t begin : begins) {
    input = std::copy_n(ids.begin() + begin, length, input);
    target = std::copy_n(ids.begin() + begin + 1, length, target);
  }
  return {Tensor(inputs), Tensor(targets)};
}

Batch random_windows(const std::vector<int64_t>& ids, int64_t batch, int64_t length, Rng& rng) {
  const auto size = static_cast<int64_t>(ids.size());
  check<ValueError>(size > length, "text: a context of ", length,
                    " characters needs a text of at least ", length + 1, ", got ", size,
                    "; use a longer text or a smaller --context");
  std::vector<int64_t> begins(static_cast<size_t>(batch));
  for (int64_t& begin : begins) begin = rng.below(size - length);
  return windows_at(ids, begins, length);
}

}  // namespace gpt

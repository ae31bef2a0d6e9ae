#pragma once

#include <vector>

#include <attograd/core/random.h>
#include <attograd/core/tensor.h>

namespace gpt {

/// Windows of a text and, for each of their characters, the one that follows.   ids i64 [B, T]
struct Batch {
  attograd::Tensor inputs;
  attograd::Tensor targets;
};

/// Windows that begin at the given places, each followed by at least one character.
Batch windows_at(const std::vector<int64_t>& ids, const std::vector<int64_t>& begins,
                 int64_t length);

/// Windows that begin anywhere: at 0 ... size - length - 1, where the last target is the last id.
/// Throws ValueError unless there are more ids than the length.
Batch random_windows(const std::vector<int64_t>& ids, int64_t batch, int64_t length,
                     attograd::Rng& rng);

}  // namespace gpt

#pragma once

#include <string_view>

#include <attograd/core/tensor.h>

namespace attograd {

/// What becomes of the losses of the rows.
enum class Reduction { mean, sum, none };

/// The losses themselves, their sum, or their sum / max(count, 1).
/// Throws    ValueError naming the loss for a number that was cast to a Reduction
Tensor reduce_losses(std::string_view loss, const Tensor& losses, Reduction reduction,
                     int64_t count);

struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  int64_t ignore_index = -100;  // rows with this target do not count
  double label_smoothing = 0;   // in [0, 1]
};

/// loss = -(1 - s) log p[target] - s mean over classes of log p, with p = softmax(logits) and s the
/// label smoothing (Szegedy et al. 2016, section 7): the cross entropy in nats with a target
/// distribution of which the share s is spread evenly over all V classes.
/// Shapes    logits [..., V], targets i64 [...] -> [...] for Reduction::none, a scalar otherwise
/// Gradient  any order: p minus the target distribution; exactly 0 in ignored rows. The mean is
///           over the rows that are not ignored; over none of them it is 0 with gradient 0.
/// Throws    ShapeError, DTypeError; IndexError for a target that is neither ignored nor in [0, V),
///           before anything is computed; ValueError for a smoothing outside [0, 1], or as
///           reduce_losses
/// Cost      one pass over the logits, one in the backward pass; the probabilities are not stored
Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options = {});

}  // namespace attograd

#pragma once

#include <cstdint>

namespace attograd::kernels {

/// Per-row cross entropy of logits x with class ids, p = softmax(x), s the label smoothing:
/// loss = (1 - s) (lse - x[target]) + s (lse - mean of x), lse = log sum exp x.
/// Shapes  logits [rows, classes] contiguous, targets [rows], loss [rows], logsumexp [rows]
/// A row whose target is ignore_index has loss 0 and logsumexp 0. Other targets are in [0,
/// classes): the caller checks. A logit of -inf at another class than the target is a class that
/// cannot occur.
template <class T>
void cross_entropy(int64_t rows, int64_t classes, const T* logits, const int64_t* targets,
                   int64_t ignore_index, double label_smoothing, T* loss, T* logsumexp);

/// dlogits = g[row] (p - (1 - s) onehot(target) - s / classes); exactly 0 in ignored rows.
/// Shapes  g [rows], the cotangent of loss; logsumexp [rows] from cross_entropy; dlogits [rows,
/// classes]
template <class T>
void cross_entropy_vjp(int64_t rows, int64_t classes, const T* g, const T* logits,
                       const int64_t* targets, int64_t ignore_index, double label_smoothing,
                       const T* logsumexp, T* dlogits);

}  // namespace attograd::kernels

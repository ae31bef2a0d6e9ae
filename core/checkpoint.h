#pragma once

#include <functional>
#include <type_traits>

#include <attograd/core/random.h>

namespace attograd {

/// What checkpoint runs: tensors from tensors, with random numbers from a generator.
using Segment = std::function<Tensors(const Tensors& x, Rng* rng)>;

/// f(inputs, rng), of which the graph keeps the inputs only: the backward pass runs f again and
/// differentiates what that records (Chen et al. 2016, "Training deep nets with sublinear memory
/// cost", section 4.1). In a stack of n such segments n inputs and the values of one segment live
/// at once, instead of those of all segments.
///
///   h = checkpoint([block](const Tensors& x, Rng* r) { return block(x[0], r); }, {h}, &rng);
///
/// f takes `const Tensors&` (and Rng*, if a generator is passed) and returns a Tensor or Tensors.
/// It is called again, later: let it capture by value. What it captures counts: gradients reach
/// the parameters of a captured module through backward and through grad alike, since the first run
/// notes every tensor that f uses and did not make. f must do the same each time, on one thread:
/// what its operations are and the constants that they read is compared (an operation's numbers,
/// such as an axis or a probability, and what other threads do only by the results). Draws are
/// replayed from a copy of rng as it was, so rng itself stands as without checkpoint. Results that
/// are no function of what requires gradients (indices, masks) pass through as constants.
/// Gradient  of any order, and the same numbers as without checkpoint; nests
/// Throws    GraphError if f makes a leaf of its own, or uses one on another thread; in the
///           backward pass, if an input or a captured tensor was written since, or if f, run again,
///           did something else; ValueError if f is empty
/// Cost      f once more in each backward pass for each of its results that gradients come to
///           (where those nest, the numbers multiply); one pass over the results and the constants
///           that f reads, to recognise them
Tensors checkpoint(const Segment& f, const Tensors& inputs, Rng* rng = nullptr);

template <class F>
concept Draws = std::is_invocable_v<const F&, const Tensors&, Rng*> && !std::is_same_v<F, Segment>;

template <Draws F>
auto checkpoint(const F& f, const Tensors& inputs, Rng* rng = nullptr) {
  using Result = std::invoke_result_t<const F&, const Tensors&, Rng*>;
  if constexpr (std::is_same_v<Result, Tensor>) {
    const std::function<Tensor(const Tensors&, Rng*)> one = f;
    if (!one) return checkpoint(Segment(), inputs, rng)[0];
    const Segment segment = [one](const Tensors& x, Rng* r) { return Tensors{one(x, r)}; };
    return checkpoint(segment, inputs, rng)[0];
  } else {
    return checkpoint(Segment(f), inputs, rng);
  }
}

template <class F>
requires std::is_invocable_v<const F&, const Tensors&>
auto checkpoint(const F& f, const Tensors& inputs) {
  using Result = std::invoke_result_t<const F&, const Tensors&>;
  const std::function<Result(const Tensors&)> g = f;
  std::function<Result(const Tensors&, Rng*)> drawing_none;
  if (g) drawing_none = [g](const Tensors& x, Rng*) { return g(x); };
  return checkpoint(drawing_none, inputs);
}

}  // namespace attograd

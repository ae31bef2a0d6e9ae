#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <attograd/core/tensor.h>

namespace attograd {

/// A function of Tensors that returns a Tensor or several. It must use the tensors that it is
/// given, not captured ones, and give the same result at every call (fix the seed of its dropout).
class TensorFunction {
 public:
  template <class F>
  requires(!std::is_same_v<F, TensorFunction>) TensorFunction(F f) {  // NOLINT: takes any lambda
    if constexpr (std::is_convertible_v<std::invoke_result_t<F, const Tensors&>, Tensor>) {
      call_ = [f](const Tensors& x) { return Tensors{f(x)}; };
    } else {
      call_ = f;
    }
  }
  Tensors operator()(const Tensors& x) const { return call_(x); }

 private:
  std::function<Tensors(const Tensors&)> call_;
};

struct GradcheckOptions {
  std::string name = "f";                     // of the function, in the report
  std::vector<std::string> input_names = {};  // default: "input 0", "input 1" ...
  uint64_t seed = 0;                          // of the cotangents
  double rtol = 1e-7;                         // of the larger of the two derivatives
  double step = 2e-3;                         // times max(1, |x|)
  bool allow_unused = false;                  // an input may have no influence at all
};

enum class Verdict { pass, inconclusive, fail };
std::ostream& operator<<(std::ostream& out, Verdict verdict);  // PASS, INCONCLUSIVE, FAIL

/// One derivative, by the rules and by differences.
struct GradcheckEntry {
  Shape index;
  double analytic;
  double numeric;
  double error;      // of `numeric`, estimated
  double tolerance;  // of |analytic - numeric|
  double left;       // one-sided slopes; where they stay apart there is a kink
  double right;
  bool kink;
  Verdict verdict;
};
std::ostream& operator<<(std::ostream& out, const GradcheckEntry& entry);

struct GradcheckInput {
  std::string name;     // with dtype and shape
  std::string skipped;  // why it was not checked; empty if it was
  bool reached = true;  // by a gradient
  std::vector<GradcheckEntry> entries = {};

  int64_t count(Verdict verdict) const;
  /// The entry that exceeds its tolerance most; null if there are no entries.
  const GradcheckEntry* worst() const;
};

struct GradcheckReport {
  std::string name;
  std::vector<GradcheckInput> inputs;

  Verdict verdict() const;
  bool ok() const { return verdict() == Verdict::pass; }
};
/// A line for each input: how many entries differ, and for the worst the index, both numbers, the
/// error of the numeric one and the tolerance.
std::ostream& operator<<(std::ostream& out, const GradcheckReport& report);

/// Compares the gradient of sum_k <v_k, f_k(x)>, v Gaussian, with central differences, for every
/// element of every input that requires gradients. (An all-ones v would not see most mistakes: a
/// softmax whose rule returns nothing at all passes under it, since its outputs sum to 1.)
///
/// Differences are of order 6; E, the estimated error of the result, is their distance from order 4
/// plus rounding. An entry passes if |analytic - numeric| <= 4 E + rtol max(|analytic|, |numeric|)
/// + 1e-9 s, where s is the mean magnitude of the input's gradient; NaN fails. It is inconclusive
/// where E stays above 1e-4 of the gradient for all steps, or where the slopes to the left and
/// right differ (a kink) and the analytic one lies between them.
///
/// The inputs themselves are left alone: f sees copies in their layout, in which an expanded axis
/// is written out. Inputs that hold integers or masks or that require no gradients are constants,
/// and the report says so.
/// Throws    DTypeError for f32, whose rounding hides mistakes; GraphError if no input requires
///           gradients or one has no influence on f; ValueError if two calls of f differ
/// Cost      6 calls of f for every element
GradcheckReport gradcheck(const TensorFunction& f, const Tensors& inputs,
                          const GradcheckOptions& options = {});

/// The same for the map (x, v) -> grad of <v, f(x)> for x, so for second derivatives.
GradcheckReport gradgradcheck(const TensorFunction& f, const Tensors& inputs,
                              const GradcheckOptions& options = {});

}  // namespace attograd

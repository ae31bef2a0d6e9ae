#pragma once

#include <any>
#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>

#include <attograd/nn/linear.h>
#include <attograd/nn/module.h>

namespace attograd::nn {

// Scores say how well each query fits each key:
//   q [B, H, T, D], k [B, H, S, D] -> scores [B, H, T, S]
// They are differentiable at every order, with respect to their parameters too.

/// score = scale q · k. What attention can compute without storing the scores.
struct DotProduct {
  Tensor q;
  Tensor k;
  double scale;
};

/// A score that is a dot product, perhaps after a map of queries and keys: `product(q, k)` gives
/// both and the scale. Batch, heads and lengths must stay.
template <class S>
concept ProductScore = requires(const S& score, const Tensor& x) {
  { score.product(x, x) } -> std::same_as<DotProduct>;
};

/// score = q · k / temperature (Vaswani et al. 2017, equation 1).
struct ScaledDot {
  std::optional<double> temperature = {};  // default sqrt(D)

  /// Throws    ValueError for a temperature that is not > 0
  DotProduct product(const Tensor& q, const Tensor& k) const;
};

/// score = q · k (Luong et al. 2015, equation 8, dot).
struct Dot {
  DotProduct product(const Tensor& q, const Tensor& k) const { return {q, k, 1}; }
};

/// score = scale q · k / (max(‖q‖, eps) max(‖k‖, eps)) (Graves et al. 2014, equations 5 and 6).
/// A vector of zeros fits everything by 0.
struct Cosine {
  double scale = 1;
  double eps = 1e-8;

  /// Throws    ValueError unless eps > 0
  DotProduct product(const Tensor& q, const Tensor& k) const;
};

/// score = qᵀ W k (Luong et al. 2015, equation 8, general).
struct Bilinear {
  Tensor weight;  // W [D, D of the keys], begins as a linear map's

  /// Throws    ValueError unless both widths are > 0
  Bilinear(int64_t query_width, int64_t key_width, Rng& rng);
  Bilinear(int64_t width, Rng& rng) : Bilinear(width, width, rng) {}

  DotProduct product(const Tensor& q, const Tensor& k) const;

  void visit(auto&& v) { v("weight", weight); }
};

/// score = energy · tanh(W q + U k + b) (Bahdanau et al. 2015, appendix A.1.2, where energy is v_a
/// and there is no b), for every head the same.
/// Cost      O(B H T S hidden) memory
struct Additive {
  Linear query;   // W [hidden, D], without bias
  Linear key;     // U [hidden, D], b [hidden]
  Tensor energy;  // [hidden]

  /// Throws    ValueError unless all widths are > 0
  Additive(int64_t query_width, int64_t key_width, int64_t hidden, Rng& rng);
  Additive(int64_t width, int64_t hidden, Rng& rng) : Additive(width, width, hidden, rng) {}

  Tensor operator()(const Tensor& q, const Tensor& k) const;

  void visit(auto&& v) {
    v("query", query);
    v("key", key);
    v("energy", energy);
  }
};

/// Any score: one of the above; a function of one's own, which may capture plain numbers; or a
/// module of one's own, if it has parameters:
///   Score distance = [](const Tensor& q, const Tensor& k) { return ...; };
/// It is held by value, so that copies of the module that it belongs to have parameters of their
/// own.
class Score {
 public:
  template <class S>
  requires(!std::is_same_v<S, Score>) Score(S score)
      : score_(score) {  // NOLINT: implicit on purpose
    static_assert(Module<S> || std::is_trivially_destructible_v<S>,
                  "a score that captures more than plain numbers is a module: its visit lists its "
                  "Tensors, or they would not be trained or saved");
    if constexpr (ProductScore<S>) {
      product_ = [](const std::any& s, const Tensor& q, const Tensor& k) {
        return std::any_cast<const S&>(s).product(q, k);
      };
    } else {
      call_ = [](const std::any& s, const Tensor& q, const Tensor& k) -> Tensor {
        return std::any_cast<const S&>(s)(q, k);
      };
    }
    visit_ = [](std::any& s, const TensorVisitor& v) {
      if constexpr (Module<S>) for_each_tensor("", std::any_cast<S&>(s), v);
    };
  }

  /// The scores [B, H, T, S]. Throws    ShapeError or DTypeError if a score of one's own
  /// has another shape or dtype
  Tensor operator()(const Tensor& q, const Tensor& k) const;

  /// What the scores are a dot product of; nothing if they are not one. Throws    ShapeError,
  /// DTypeError or ValueError for a product of one's own that does not fit
  std::optional<DotProduct> product(const Tensor& q, const Tensor& k) const;

  void visit(auto&& v) {
    visit_(score_, [&](const std::string& name, Tensor& tensor) { v(name, tensor); });
  }

 private:
  using TensorVisitor = std::function<void(const std::string& name, Tensor& tensor)>;

  std::any score_;
  DotProduct (*product_)(const std::any& score, const Tensor& q, const Tensor& k) = nullptr;
  Tensor (*call_)(const std::any& score, const Tensor& q, const Tensor& k) = nullptr;
  void (*visit_)(std::any& score, const TensorVisitor& v);
};

}  // namespace attograd::nn

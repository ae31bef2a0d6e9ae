#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <attograd/core/random.h>
#include <attograd/nn/module.h>

namespace attograd::nn {

/// y = f_n(... f_1(f_0(x))): modules and functions of one Tensor, one after the other.
///   Sequential(Linear(4, 8, rng), relu, Dropout(0.1), Linear(8, 2, rng))
/// Training passes a generator, which goes to those that take one. Parameters are named by the
/// place: "0.weight", "3.weight"; a function has none, but counts.
template <class... Fs>
struct Sequential {
  std::tuple<Fs...> steps;

  explicit Sequential(Fs... fs) : steps(std::move(fs)...) {
    static_assert(((Module<Fs> || std::is_trivially_destructible_v<Fs>)&&...),
                  "a step that captures more than plain numbers is a module: its visit lists its "
                  "Tensors, or they would not be trained or saved");
  }

  Tensor operator()(const Tensor& x, Rng* rng = nullptr) const {
    Tensor y = x;
    std::apply([&](const Fs&... f) { ((y = apply_one(f, y, rng)), ...); }, steps);
    return y;
  }

  void visit(auto&& v) {
    int place = 0;
    const auto visit_one = [&]<class F>(F& f) {
      if constexpr (Module<F>) v(std::to_string(place), f);
      ++place;
    };
    std::apply([&](Fs&... f) { (visit_one(f), ...); }, steps);
  }

 private:
  template <class F>
  static Tensor apply_one(const F& f, const Tensor& x, [[maybe_unused]] Rng* rng) {
    if constexpr (std::is_invocable_v<const F&, const Tensor&, Rng*>) {
      return f(x, rng);
    } else {
      return f(x);
    }
  }
};

}  // namespace attograd::nn

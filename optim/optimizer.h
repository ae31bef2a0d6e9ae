#pragma once

#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <attograd/core/graph.h>
#include <attograd/core/named_tensors.h>

namespace attograd::optim {

/// The names "0", "1", ... for parameters that come without.
NamedTensors numbered(const Tensors& parameters);

/// Throws ValueError unless the names differ, no tensor is in two groups, each is f32 or f64, not
/// expanded and not the result of an operation, and no two overlap in memory: what is written to
/// one would change the other.
void check_parameters(const char* optimizer, const NamedTensors& parameters);

/// f32 if one of them is, else f64: options that it holds are held by all.
DType narrowest(const NamedTensors& parameters);

/// Throws ValueError naming the first of these options that is negative, NaN, or infinite once it
/// is rounded to the dtype.
void check_not_negative(const char* optimizer, DType dtype,
                        std::initializer_list<std::pair<const char*, double>> options);

/// Throws ValueError unless eps, rounded to the dtype, is finite and > 0. PyTorch takes 0, and then
/// gives NaN to a weight whose gradients were all 0, as 0 / 0.
void check_eps(const char* optimizer, DType dtype, double eps);

/// Throws NumericError if a gradient holds NaN or infinity. Its norm may overflow.
void check_gradients(const char* optimizer, const NamedTensors& parameters);

/// What the numbers of a remembered tensor can be; never NaN. Means of finite gradients are finite,
/// but the square of a large one overflows: second moments may be infinite.
struct Range {
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
  const char* text = "finite numbers";
};
inline constexpr Range kNotNegative{0, std::numeric_limits<double>::infinity(), "numbers >= 0"};
inline constexpr Range kCount{0, 0x1p53, "numbers in [0, 2^53]"};  // doubles count no further

/// What a tensor of a state is read into.
struct Place {
  DType dtype;
  Range range;
};

/// Throws FormatError if a tensor, in the dtype of the place of its name, holds a number outside
/// that place's range.
void check_state(const char* optimizer, const std::map<std::string, Place>& places,
                 const NamedTensors& state);

/// What every optimizer does around its own formula. An optimizer is
///   struct Options { static constexpr const char* kName; double lr; ... };
///   struct State { explicit State(const Tensor& w); void visit(auto&& v); };   per parameter
///   void check_options(const Options&, DType narrowest);                       throws ValueError
///   void update(const Options&, State&, Tensor& w, const Tensor& g);           the formula
/// where visit calls v(name, tensor) or v(name, tensor, range) for each tensor of the state, and
/// `narrowest` is the least dtype of the parameters that the options are for.
///
/// A parameter without a gradient is left alone: value, state and step count. One whose gradient is
/// zero still decays and moves by its momentum. clear_gradients() makes them absent.
/// A tensor that is listed twice in a group counts once. check_options and update are found beside
/// Options. It is moved, never copied: a copy would share the state and count its steps twice.
template <class Options, class State>
class Optimizer {
 public:
  /// Parameters that share options.
  struct Group {
    NamedTensors parameters;
    Options options;
  };

  /// Throws    ValueError for a bad option, a tensor in two groups, two tensors of one name or that
  ///           overlap in memory, the result of an operation, or a dtype other than f32 and f64
  explicit Optimizer(const std::vector<Group>& groups) {
    NamedTensors all;
    for (const Group& group : groups) {
      options_.push_back(group.options);
      narrowest_.push_back(narrowest(group.parameters));
      for (const auto& entry : distinct(group.parameters)) {
        all.push_back(entry);
        slots_.push_back({options_.size() - 1, State(entry.second)});
      }
    }
    check_all_options();
    check_parameters(Options::kName, all);
    parameters_ = std::move(all);
  }
  explicit Optimizer(const NamedTensors& parameters, const Options& options = {})
      : Optimizer(std::vector<Group>{{parameters, options}}) {}
  explicit Optimizer(const Tensors& parameters, const Options& options = {})
      : Optimizer(numbered(parameters), options) {}
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(Optimizer&&) noexcept = default;

  /// Updates every parameter that has a gradient.
  /// Throws    NumericError if any gradient is NaN or infinite, ValueError for an option that was
  ///           changed to a bad one; nothing is updated then
  void step() {
    check_all_options();
    check_gradients(Options::kName, parameters_);
    const NoGrad updates_are_not_recorded;
    for (size_t i = 0; i < slots_.size(); ++i) {
      Tensor& w = parameters_[i].second;
      if (const Tensor g = w.grad(); g.defined())
        update(options_[slots_[i].group], slots_[i].state, w, g);
    }
  }

  void clear_gradients() {
    for (auto& [name, w] : parameters_) w.clear_grad();
  }

  /// The options of a group, which may be changed between steps. Throws    IndexError
  Options& options(size_t group = 0) {
    check<IndexError>(group < options_.size(), Options::kName, ": a group must be in [0, ",
                      options_.size(), "), the number of groups, got ", group);
    return options_[group];
  }
  /// The learning rate of all groups, as of the next step.
  void set_lr(double lr) {
    for (Options& options : options_) options.lr = lr;
  }

  /// What is remembered, as "blocks.0.feed_forward.up.weight.exp_avg": handles of the live tensors,
  /// which the next step overwrites. Options, and so the learning rate, are not part of it: a
  /// schedule gives them again.
  NamedTensors state() {
    NamedTensors list;
    visit_state([&](const std::string& name, const Tensor& tensor, Range) {
      list.emplace_back(name, tensor);
    });
    return list;
  }
  /// Continues from a state, bit for bit.
  /// Throws    FormatError as load() does, and for numbers that no training leads to (NaN, a step
  ///           or mean square < 0, a mean that is infinite or too large for its f32); the state is
  ///           as it was then
  LoadReport load_state(const NamedTensors& state_before, const LoadOptions& how = {}) {
    std::map<std::string, Place> places;
    visit_state([&](const std::string& name, const Tensor& tensor, Range range) {
      places.emplace(name, Place{tensor.dtype(), range});
    });
    check_state(Options::kName, places, state_before);
    return load(state(), state_before, how);
  }

 private:
  void check_all_options() const {
    for (size_t i = 0; i < options_.size(); ++i) check_options(options_[i], narrowest_[i]);
  }

  void visit_state(const auto& f) {
    for (size_t i = 0; i < slots_.size(); ++i)
      slots_[i].state.visit([&](const char* name, const Tensor& tensor, Range range = {}) {
        f(parameters_[i].first + "." + name, tensor, range);
      });
  }

  struct Slot {
    size_t group;
    State state;
  };

  std::vector<Options> options_;  // one per group
  std::vector<DType> narrowest_;  // and of its parameters
  NamedTensors parameters_;
  std::vector<Slot> slots_;  // one per parameter
};

}  // namespace attograd::optim

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

/// Throws ValueError unless the names differ, no tensor is in two groups, and each is f32 or f64,
/// not expanded and not the result of an operation.
void check_parameters(const char* optimizer, const NamedTensors& parameters);

/// Throws ValueError naming the first of these options that is negative, NaN or infinite.
void check_not_negative(const char* optimizer,
                        std::initializer_list<std::pair<const char*, double>> options);

/// Throws NumericError if a gradient holds NaN or infinity.
void check_gradients(const char* optimizer, const NamedTensors& parameters);

/// What the numbers of a remembered tensor can be; never NaN.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
inline constexpr Range kNotNegative{.low = 0};
inline constexpr Range kCount{.low = 0, .high = 0x1p53};  // doubles count no further

/// Throws FormatError if a tensor holds a number outside the range that `ranges` has under its
/// name.
void check_state(const char* optimizer, const std::map<std::string, Range>& ranges,
                 const NamedTensors& state);

/// What every optimizer does around its own formula. An optimizer is
///   struct Options { static constexpr const char* kName; double lr; ... };
///   struct State { explicit State(const Tensor& w); void visit(auto&& v); };   per parameter
///   void check_options(const Options&);                                        throws ValueError
///   void update(const Options&, State&, Tensor& w, const Tensor& g);           the formula
/// where visit calls v(name, tensor) or v(name, tensor, range) for each tensor of the state.
///
/// A parameter without a gradient is left alone: value, state and step count. One whose gradient is
/// zero still decays and moves by its momentum. clear_gradients() makes them absent.
/// A tensor that is listed twice in a group counts once. check_options and update are found beside
/// Options.
template <class Options, class State>
class Optimizer {
 public:
  /// Parameters that share options.
  struct Group {
    NamedTensors parameters;
    Options options;
  };

  /// Throws    ValueError for a bad option, a tensor in two groups, two tensors of one name, the
  ///           result of an operation, or a dtype other than f32 and f64
  explicit Optimizer(const std::vector<Group>& groups) {
    NamedTensors all;
    for (const Group& group : groups) {
      check_options(group.options);
      options_.push_back(group.options);
      for (const auto& entry : distinct(group.parameters)) {
        all.push_back(entry);
        slots_.push_back({options_.size() - 1, State(entry.second)});
      }
    }
    check_parameters(Options::kName, all);
    parameters_ = std::move(all);
  }
  explicit Optimizer(const NamedTensors& parameters, const Options& options = {})
      : Optimizer(std::vector<Group>{{parameters, options}}) {}
  explicit Optimizer(const Tensors& parameters, const Options& options = {})
      : Optimizer(numbered(parameters), options) {}

  /// Updates every parameter that has a gradient.
  /// Throws    NumericError if any gradient is NaN or infinite; nothing is updated then.
  void step() {
    for (const Options& options : options_) check_options(options);
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
  ///           or mean square < 0); the state is as it was then
  LoadReport load_state(const NamedTensors& state_before, const LoadOptions& how = {}) {
    std::map<std::string, Range> ranges;
    visit_state(
        [&](const std::string& name, const Tensor&, Range range) { ranges.emplace(name, range); });
    check_state(Options::kName, ranges, state_before);
    return load(state(), state_before, how);
  }

 private:
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
  NamedTensors parameters_;
  std::vector<Slot> slots_;  // one per parameter
};

}  // namespace attograd::optim

#include <map>

#include <attograd/core/graph.h>
#include <attograd/core/ops.h>
#include <attograd/optim/ema.h>
#include <attograd/optim/optimizer.h>

namespace attograd::optim {

Ema::Ema(const NamedTensors& parameters, double decay)
    : parameters_(distinct(parameters)), decay_(decay) {
  check<ValueError>(decay >= 0 && decay <= 1, "ema: decay must be in [0, 1], got ", decay);
  check_parameters("ema", parameters_);
  for (const auto& [name, w] : parameters_) averages_.emplace_back(name, Tensor(w.array().copy()));
}

Ema::Ema(const Tensors& parameters, double decay) : Ema(numbered(parameters), decay) {}

void Ema::update() {
  check_not_swapped("update");
  const NoGrad averages_are_not_recorded;
  for (size_t i = 0; i < averages_.size(); ++i) {
    Tensor& average = averages_[i].second;
    const Tensor& w = parameters_[i].second;
    if (decay_ == 0)
      average.assign(w);  // 0 times infinity is NaN
    else if (decay_ < 1)
      average.assign(decay_ * average + (1 - decay_) * w);
  }
}

void Ema::swap() {
  for (size_t i = 0; i < averages_.size(); ++i) {
    Tensor& average = averages_[i].second;
    Tensor& w = parameters_[i].second;
    const Tensor before(w.array().copy());
    w.assign(average);
    average.assign(before);
  }
  swapped_ = !swapped_;
}

NamedTensors Ema::averages() const {
  check_not_swapped("averages");
  return averages_;
}

LoadReport Ema::load_averages(const NamedTensors& averages, const LoadOptions& how) {
  check_not_swapped("load_averages");
  std::map<std::string, Place> places;
  for (const auto& [name, average] : averages_) places.emplace(name, Place{average.dtype(), {}});
  check_state("ema", places, averages);
  return load(averages_, averages, how);
}

void Ema::check_not_swapped(const char* act) const {
  check<ValueError>(!swapped_, "ema: ", act,
                    " needs the weights in their place, got them swapped with the averages; call "
                    "swap() again first");
}

}  // namespace attograd::optim

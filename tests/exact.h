#pragma once

#include <functional>
#include <random>
#include <string>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

// Helpers for tests of operations that only move, add and multiply numbers. Their data are small
// integers, so that every result is exact and compared with ==.
namespace attograd {

inline Tensor counted(const Shape& shape) {  // 0, 1, 2 ...
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i);
  return from_values(shape, v, DType::f64);
}

inline Tensor random_integers(const Shape& shape, uint64_t seed, DType dtype = DType::f64) {
  std::mt19937_64 bits(seed);
  std::vector<double> v(static_cast<size_t>(shape.numel()));
  for (double& x : v) x = static_cast<double>(bits() % 17) - 8;
  return from_values(shape, v, dtype);
}

inline std::vector<double> values_of(const Tensor& x) { return x.to_vector<double>(); }

inline Tensor ids_of(const std::vector<int64_t>& ids) {
  return from_values({static_cast<int64_t>(ids.size())}, ids);
}

/// <f(x), g> - <x, f'(g)>, which is 0 if the gradient of the linear f is its adjoint.
inline double adjoint_gap(const std::function<Tensor(const Tensor&)>& f, const Shape& shape) {
  const Tensor x = random_integers(shape, 1).set_requires_grad();
  const Tensor y = f(x);
  const Tensor g = random_integers(y.shape(), 2);
  const Tensor back = grad({y}, {x}, {}, {g})[0];
  return sum(y * g).item() - sum(x * back).item();
}

template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace attograd

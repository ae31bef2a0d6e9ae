#pragma once

#include <cstdint>

namespace attograd::kernels {

struct AdamWStep {
  double lr = 0, beta1 = 0, beta2 = 0, eps = 0, weight_decay = 0;
  int64_t step = 1;  // of this update, counted from 1
};

/// One update of n parameters in one pass (Loshchilov and Hutter 2019, algorithm 2):
/// w -= lr weight_decay w;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
/// w -= lr (m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + eps).
template <class T>
void adamw(int64_t n, const AdamWStep& s, const T* g, T* w, T* m, T* v);

}  // namespace attograd::kernels

#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/adamw.h>

namespace attograd::kernels {
namespace {

TEST_CASE_TEMPLATE("adamw is its algorithm step by step", T, float, double) {
  for (const int64_t n : {0, 1, 7, 17, 33}) {
    AdamWStep s{.lr = 0.01, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1};
    Doubles w = normals(n, 1);
    auto got = as<T>(w);
    std::vector<T> got_m(got.size()), got_v(got.size());
    std::vector<Exact> exact(w.begin(), w.end()), m(w.size()), v(w.size());
    for (s.step = 1; s.step <= 5; ++s.step) {
      const Doubles g = normals(n, static_cast<uint64_t>(10 + s.step));
      adamw(n, s, as<T>(g).data(), got.data(), got_m.data(), got_v.data());
      for (size_t i = 0; i < g.size(); ++i) {
        const auto t = static_cast<Exact>(s.step);
        exact[i] -= Exact{s.lr} * s.weight_decay * exact[i];
        m[i] = Exact{s.beta1} * m[i] + (1 - Exact{s.beta1}) * g[i];
        v[i] = Exact{s.beta2} * v[i] + (1 - Exact{s.beta2}) * g[i] * g[i];
        const Exact m_hat = m[i] / (1 - std::pow(Exact{s.beta1}, t));
        const Exact v_hat = v[i] / (1 - std::pow(Exact{s.beta2}, t));
        exact[i] -= s.lr * m_hat / (std::sqrt(v_hat) + s.eps);
      }
    }
    CHECK(ulps(got, Doubles(exact.begin(), exact.end())) <= 4);
    CHECK(ulps(got_m, Doubles(m.begin(), m.end()), 1) <= 4);
    CHECK(ulps(got_v, Doubles(v.begin(), v.end())) <= 8);
  }
}

TEST_CASE("a parameter without a gradient only decays") {
  const AdamWStep s{.lr = 0.5, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.5};
  const std::vector<double> g = {0, 0};
  std::vector<double> w = {4, -8}, m(2), v(2);
  adamw(2, s, g.data(), w.data(), m.data(), v.data());
  CHECK(w == Doubles{3, -6});
  CHECK(m == Doubles{0, 0});
  CHECK(v == Doubles{0, 0});
}

}  // namespace
}  // namespace attograd::kernels

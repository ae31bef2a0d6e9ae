#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/attention.h>

namespace attograd::kernels {
namespace {

struct Case {
  std::string name;
  int64_t B = 2, H = 3, T = 5, S = 5, D = 4, Dv = 4;
  bool causal = false;
  std::vector<bool> keep = {};  // [B, H, T, S] or, with strides, a part of it
  std::array<int64_t, 4> keep_strides = {};
  double deviation = 1;

  int64_t scores() const { return B * H * T * S; }
  bool sees(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const auto& s = keep_strides;
    return (!causal || j <= i + S - T) &&
           (keep.empty() || keep[static_cast<size_t>(b * s[0] + h * s[1] + i * s[2] + j * s[3])]);
  }
};

/// [B, H, rows, width] in memory as [B, rows, H, width], as heads lie in a projection.
HeadStrides strides(const Case& c, int64_t rows, int64_t width) {
  return {rows * c.H * width, width, c.H * width};
}

struct Operands {
  Doubles q, k, v, g;
  explicit Operands(const Case& c)
      : q(normals(c.B * c.H * c.T * c.D, 1, c.deviation)),
        k(normals(c.B * c.H * c.S * c.D, 2)),
        v(normals(c.B * c.H * c.S * c.Dv, 3)),
        g(normals(c.B * c.H * c.T * c.Dv, 4)) {}
};

template <class V>
struct Results {
  V y, logsumexp, dq, dk, dv;
  explicit Results(const Case& c, double fill = 0) {
    const auto sized = [&](int64_t n) {
      return V(static_cast<size_t>(n), static_cast<typename V::value_type>(fill));
    };
    y = sized(c.B * c.H * c.T * c.Dv);
    logsumexp = sized(c.B * c.H * c.T);
    dq = sized(c.B * c.H * c.T * c.D);
    dk = sized(c.B * c.H * c.S * c.D);
    dv = sized(c.B * c.H * c.S * c.Dv);
  }
};

/// Row [b, h, i] of a [B, H, rows, width] array that lies as strides() says.
template <class V>
auto* row(const Case& c, V& x, int64_t rows, int64_t width, int64_t b, int64_t h, int64_t i) {
  return x.data() + (b * rows + i) * c.H * width + h * width;
}

/// The definition, a row of the weights at a time; hidden keys are left out, not multiplied by 0.
Results<std::vector<Exact>> naive(const Case& c, const Operands& in, double scale) {
  Results<std::vector<Exact>> out(c);
  for (int64_t b = 0; b < c.B; ++b) {
    for (int64_t h = 0; h < c.H; ++h) {
      for (int64_t i = 0; i < c.T; ++i) {
        const double *q = row(c, in.q, c.T, c.D, b, h, i), *g = row(c, in.g, c.T, c.Dv, b, h, i);
        std::vector<Exact> p(static_cast<size_t>(c.S)), dp(p.size());
        Exact sum = 0, dot = 0;
        for (int64_t j = 0; j < c.S; ++j) {
          if (!c.sees(b, h, i, j)) continue;
          const double* k = row(c, in.k, c.S, c.D, b, h, j);
          Exact score = 0;
          for (int64_t d = 0; d < c.D; ++d) score += Exact{q[d]} * k[d];
          sum += p[static_cast<size_t>(j)] = std::exp(score * scale);
        }
        out.logsumexp[static_cast<size_t>((b * c.H + h) * c.T + i)] = std::log(sum);
        for (int64_t j = 0; j < c.S; ++j) {
          if (!c.sees(b, h, i, j)) continue;
          const auto at = static_cast<size_t>(j);
          p[at] /= sum;
          for (int64_t d = 0; d < c.Dv; ++d) {
            row(c, out.y, c.T, c.Dv, b, h, i)[d] += p[at] * row(c, in.v, c.S, c.Dv, b, h, j)[d];
            row(c, out.dv, c.S, c.Dv, b, h, j)[d] += p[at] * g[d];
            dp[at] += Exact{g[d]} * row(c, in.v, c.S, c.Dv, b, h, j)[d];
          }
          dot += p[at] * dp[at];
        }
        for (int64_t j = 0; j < c.S; ++j) {
          if (!c.sees(b, h, i, j)) continue;
          const Exact ds = p[static_cast<size_t>(j)] * (dp[static_cast<size_t>(j)] - dot) * scale;
          for (int64_t d = 0; d < c.D; ++d) {
            row(c, out.dq, c.T, c.D, b, h, i)[d] += ds * row(c, in.k, c.S, c.D, b, h, j)[d];
            row(c, out.dk, c.S, c.D, b, h, j)[d] += ds * q[d];
          }
        }
      }
    }
  }
  return out;
}

template <class T>
Results<std::vector<T>> run(const Case& c, const Operands& in, double scale) {
  // Results start as NaN: all of them must be written.
  Results<std::vector<T>> out(c, kNaN);
  AttentionSpec spec;
  spec.batch = c.B;
  spec.heads = c.H;
  spec.queries = c.T;
  spec.keys = c.S;
  spec.width = c.D;
  spec.value_width = c.Dv;
  spec.scale = scale;
  spec.causal = c.causal;
  const std::unique_ptr<bool[]> keep(new bool[c.keep.size()]);
  std::copy(c.keep.begin(), c.keep.end(), keep.get());
  spec.keep = c.keep.empty() ? nullptr : keep.get();
  spec.keep_strides = c.keep_strides;
  const HeadStrides of_q = strides(c, c.T, c.D), of_k = strides(c, c.S, c.D);
  const HeadStrides of_v = strides(c, c.S, c.Dv), of_y = strides(c, c.T, c.Dv);
  const auto q = as<T>(in.q), k = as<T>(in.k), v = as<T>(in.v), g = as<T>(in.g);
  attention(spec, q.data(), of_q, k.data(), of_k, v.data(), of_v, out.y.data(), of_y,
            out.logsumexp.data());
  attention_vjp(spec, g.data(), of_y, q.data(), of_q, k.data(), of_k, v.data(), of_v, out.y.data(),
                of_y, out.logsumexp.data(), out.dq.data(), of_q, out.dk.data(), of_k, out.dv.data(),
                of_v);
  return out;
}

Doubles rounded(const std::vector<Exact>& x) { return Doubles(x.begin(), x.end()); }

template <class T>
void check(const Case& c) {
  CAPTURE(c.name);
  const double scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.D, 1)));
  const Operands in(c);
  const auto wanted = naive(c, in, scale);
  const auto got = run<T>(c, in, scale);
  // A score s is off by about 1 ULP of s, and so is its weight: relatively by s ULP. In ds = p (dp
  // - dot) terms as large as products of g and v cancel.
  double s = 1;
  for (const Exact lse : wanted.logsumexp) {
    if (std::isfinite(lse)) s = std::max(s, static_cast<double>(std::fabs(lse)));
  }
  const double bound = 2 * (1 + s), ds = largest(in.g) * largest(in.v) * scale;
  CHECK(ulps(got.y, rounded(wanted.y)) <= bound);
  CHECK(ulps(got.dq, rounded(wanted.dq), ds * largest(in.k)) <= bound);
  CHECK(ulps(got.dk, rounded(wanted.dk), ds * largest(in.q)) <= bound);
  CHECK(ulps(got.dv, rounded(wanted.dv)) <= bound);
  for (size_t i = 0; i < got.logsumexp.size(); ++i) {
    if (std::isinf(wanted.logsumexp[i])) {
      CHECK(static_cast<double>(got.logsumexp[i]) == -kInfinity);
    } else {
      CHECK(ulps<T>({got.logsumexp[i]}, {static_cast<double>(wanted.logsumexp[i])}, 1) <= 8);
    }
  }
}

std::vector<bool> random_keep(int64_t n) {
  std::vector<bool> keep;
  for (const double x : normals(n, 9)) keep.push_back(x > 0);
  return keep;
}

std::vector<Case> cases() {
  std::vector<Case> list = {
      {.name = "small"},
      {.name = "one query and key", .T = 1, .S = 1},
      {.name = "wide", .T = 7, .S = 9, .D = 33, .Dv = 17},
      {.name = "causal", .T = 17, .S = 17, .causal = true},
      {.name = "one query after many keys", .T = 1, .S = 33, .causal = true},
      {.name = "fewer queries than keys", .T = 5, .S = 9, .causal = true},
      {.name = "more queries than keys", .T = 9, .S = 5, .causal = true},
      {.name = "several tiles", .B = 1, .H = 2, .T = 150, .S = 300},
      {.name = "several causal tiles", .B = 1, .H = 2, .T = 300, .S = 300, .causal = true},
      {.name = "tiles that some queries miss", .B = 1, .H = 1, .T = 200, .S = 33, .causal = true},
      {.name = "sharp weights", .T = 33, .S = 150, .D = 16, .deviation = 5},
      {.name = "no batch", .B = 0},
      {.name = "no queries", .T = 0},
      {.name = "no keys", .S = 0},
      {.name = "no width", .D = 0},
      {.name = "no value width", .Dv = 0},
  };
  Case padding{.name = "padding", .T = 7, .S = 33, .causal = true};
  padding.keep = random_keep(padding.B * padding.S);
  padding.keep_strides = {padding.S, 0, 0, 1};
  Case full{.name = "mask for every score", .T = 70, .S = 140};
  full.keep = random_keep(full.scores());
  full.keep_strides = {full.H * full.T * full.S, full.T * full.S, full.S, 1};
  Case queries{.name = "mask for queries", .T = 7, .S = 5};
  queries.keep = random_keep(queries.T);
  queries.keep_strides = {0, 0, 1, 0};
  list.insert(list.end(), {padding, full, queries});
  return list;
}

TEST_CASE_TEMPLATE("attention and its gradients are the definitions", T, float, double) {
  for (const Case& c : cases()) check<T>(c);
}

TEST_CASE_TEMPLATE("a query that may see nothing has output and gradient 0", T, float, double) {
  Case c{.name = "", .B = 1, .H = 1, .T = 2, .S = 2, .D = 2, .Dv = 2};
  c.keep = {true, true, false, false};
  c.keep_strides = {0, 0, 2, 1};
  Operands in(c);
  in.q = {1, 0, 0.5, -1};
  in.k = {0.2, 0.4, -0.3, 1};
  in.v = {1, 2, 3, 5};
  in.g = {1, 1, 1, 1};
  const auto got = run<T>(c, in, std::sqrt(0.5));
  const auto near = [](const std::vector<T>& x, const Doubles& wanted) {
    for (size_t i = 0; i < x.size(); ++i) {
      CHECK(static_cast<double>(x[i]) == doctest::Approx(wanted[i]).epsilon(1e-5));
      if (wanted[i] == 0) CHECK(x[i] == 0);
    }
  };
  near(got.y, {1.825042, 3.237563, 0, 0});
  near(got.dq, {-0.428414, 0.514097, 0, 0});
  near(got.dk, {-0.856828, 0, 0.856828, 0});
  near(got.dv, {0.587479, 0.587479, 0.412521, 0.412521});
}

TEST_CASE_TEMPLATE("left padding under a causal mask hides columns and not rows", T, float,
                   double) {
  Case c{.name = "", .B = 1, .H = 1, .T = 3, .S = 3, .D = 1, .Dv = 1, .causal = true};
  c.keep = {false, true, true};
  c.keep_strides = {0, 0, 0, 1};
  Operands in(c);
  in.q = {0, 0, 0};
  in.v = {10, 20, 40};
  CHECK(doubles(run<T>(c, in, 1).y) == Doubles{0, 20, 30});
}

TEST_CASE_TEMPLATE("the causal mask is aligned with the last key", T, float, double) {
  Case one{.name = "", .B = 1, .H = 1, .T = 1, .S = 4, .D = 1, .Dv = 1, .causal = true};
  Operands in(one);
  in.q = {0};
  in.v = {1, 2, 3, 4};
  CHECK(doubles(run<T>(one, in, 1).y) == Doubles{2.5});
  Case three{.name = "", .B = 1, .H = 1, .T = 3, .S = 2, .D = 1, .Dv = 1, .causal = true};
  Operands more(three);
  more.q = {0, 0, 0};
  more.v = {1, 5};
  CHECK(doubles(run<T>(three, more, 1).y) == Doubles{0, 1, 3});
}

TEST_CASE_TEMPLATE("what is hidden may be NaN or infinite", T, float, double) {
  // Key 4 is padding; query 2 may see nothing. Their rows hold garbage, which changes no other
  // number.
  Case c{.name = "", .B = 1, .H = 2, .T = 6, .S = 6, .D = 3, .Dv = 2};
  for (int64_t i = 0; i < c.T; ++i) {
    for (int64_t j = 0; j < c.S; ++j) c.keep.push_back(i != 2 && j != 4);
  }
  c.keep_strides = {0, 0, c.S, 1};
  const Operands clean(c);
  for (const double garbage : {kNaN, kInfinity, -kInfinity}) {
    Operands in = clean;
    for (int64_t h = 0; h < c.H; ++h) {
      row(c, in.k, c.S, c.D, 0, h, 4)[h] = garbage;
      row(c, in.v, c.S, c.Dv, 0, h, 4)[h] = garbage;
      row(c, in.q, c.T, c.D, 0, h, 2)[h] = garbage;
      row(c, in.g, c.T, c.Dv, 0, h, 2)[h] = garbage;
    }
    const auto got = run<T>(c, in, 0.7), wanted = run<T>(c, clean, 0.7);
    CHECK(ulps(got.y, doubles(wanted.y)) <= 4);
    CHECK(ulps(got.dq, doubles(wanted.dq)) <= 8);
    CHECK(ulps(got.dk, doubles(wanted.dk)) <= 8);
    CHECK(ulps(got.dv, doubles(wanted.dv)) <= 8);
  }
}

TEST_CASE_TEMPLATE("what is seen and NaN stays NaN", T, float, double) {
  Case c{.name = "", .B = 1, .H = 1, .T = 3, .S = 3, .D = 2, .Dv = 2, .causal = true};
  for (const int64_t key : {0, 1, 2}) {
    Operands in(c);
    row(c, in.k, c.S, c.D, 0, 0, key)[0] = kNaN;
    const auto got = run<T>(c, in, 1);
    for (int64_t i = 0; i < c.T; ++i) {
      CHECK(std::isnan(got.y[static_cast<size_t>(i * c.Dv)]) == (i >= key));
      CHECK(std::isnan(got.logsumexp[static_cast<size_t>(i)]) == (i >= key));
    }
  }
}

TEST_CASE_TEMPLATE("scores of any size have weights", T, float, double) {
  Case c{.name = "", .B = 1, .H = 1, .T = 1, .S = 3, .D = 1, .Dv = 1};
  Operands in(c);
  in.q = {100000};
  in.k = {1, 1.5, -3};
  in.v = {1, 2, 4};
  in.g = {1};
  const auto got = run<T>(c, in, 1);
  CHECK(doubles(got.y) == Doubles{2});
  CHECK(doubles(got.dq) == Doubles{0});
  CHECK(doubles(got.dv) == Doubles{0, 1, 0});
}

}  // namespace
}  // namespace attograd::kernels

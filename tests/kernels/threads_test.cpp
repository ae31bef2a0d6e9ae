#include <atomic>
#include <numeric>
#include <thread>

#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/accumulate.h>
#include <attograd/core/kernels/adamw.h>
#include <attograd/core/kernels/attention.h>
#include <attograd/core/kernels/blas.h>
#include <attograd/core/kernels/cross_entropy.h>
#include <attograd/core/kernels/dropout.h>
#include <attograd/core/kernels/gelu.h>
#include <attograd/core/kernels/norm.h>
#include <attograd/core/kernels/softmax.h>

// Under the thread sanitizer, which every test with "thread" in its file name also runs under.
namespace attograd::kernels {
namespace {

using Floats = std::vector<float>;

TEST_CASE("parallel_for covers the range once in parts of its own threads") {
  for (const int threads : {1, 2, 3, 7}) {
    const Threads now(threads);
    for (const int64_t n : {0, 1, 2, 10, 1000}) {
      for (const int64_t grain : {0, 1, 3, 2000}) {
        std::vector<int> visits(static_cast<size_t>(n));
        std::atomic<int> parts = 0;
        parallel_for(n, grain, [&](int64_t begin, int64_t end) {
          ++parts;
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        CHECK(visits == std::vector<int>(static_cast<size_t>(n), 1));
        CHECK(parts <= threads);
        if (n == 0) CHECK(parts == 0);
        if (n > 0 && n <= grain) CHECK(parts == 1);
        if (n >= 10 && grain <= 1) CHECK(parts == threads);
      }
    }
  }
}

TEST_CASE("parallel_for inside another is serial") {
  const Threads two(2);
  std::atomic<int> inner = 0;
  CHECK(!in_parallel_region());
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    CHECK(in_parallel_region());
    parallel_for(100, 1, [&](int64_t, int64_t) { inner += static_cast<int>(end - begin); });
  });
  CHECK(!in_parallel_region());
  CHECK(inner == 2);
}

TEST_CASE("thread_count is at least 1 and what was set") {
  const Threads three(3);
  CHECK(thread_count() == 3);
  const Threads none(-2);
  CHECK(thread_count() == 1);
}

/// Several results of one kernel, the same for 1, 2 and 3 threads.
template <class F>
void check_same_on_threads(F run) {
  std::vector<Floats> results[3];
  for (int i = 0; i < 3; ++i) {
    const Threads now(i + 1);
    results[i] = run();
  }
  CHECK(results[1] == results[0]);
  CHECK(results[2] == results[0]);
}

constexpr int64_t kRows = 700, kCols = 129, kSize = kRows * kCols;

struct Data {
  Floats x = as<float>(normals(kSize, 1)), g = as<float>(normals(kSize, 2));
  Floats w = as<float>(normals(kCols, 3)), b = as<float>(normals(kCols, 4));
};

TEST_CASE("softmax and gelu are the same on any threads") {
  const Data in;
  check_same_on_threads([&] {
    Floats y(kSize), dx(kSize), logs(kSize), dlogs(kSize), u(kSize), du(kSize), t(kSize), dt(kSize);
    softmax(kRows, kCols, in.x.data(), y.data());
    softmax_vjp(kRows, kCols, in.g.data(), y.data(), dx.data());
    log_softmax(kRows, kCols, in.x.data(), logs.data());
    log_softmax_vjp(kRows, kCols, in.g.data(), logs.data(), dlogs.data());
    gelu(kSize, in.x.data(), u.data());
    gelu_vjp(kSize, in.g.data(), in.x.data(), du.data());
    gelu_tanh(kSize, in.x.data(), t.data());
    gelu_tanh_vjp(kSize, in.g.data(), in.x.data(), dt.data());
    return std::vector{y, dx, logs, dlogs, u, du, t, dt};
  });
}

TEST_CASE("norms are the same on any threads") {
  const Data in;
  check_same_on_threads([&] {
    Floats y(kSize), mean(kRows), rstd(kRows), dx(kSize), dw(kCols), db(kCols);
    layer_norm(kRows, kCols, 1e-5, in.x.data(), in.w.data(), in.b.data(), y.data(), mean.data(),
               rstd.data());
    layer_norm_vjp(kRows, kCols, in.g.data(), in.x.data(), in.w.data(), mean.data(), rstd.data(),
                   dx.data(), dw.data(), db.data());
    Floats z(kSize), scale(kRows), dz(kSize), dv(kCols);
    rms_norm(kRows, kCols, 1e-5, in.x.data(), in.w.data(), z.data(), scale.data());
    rms_norm_vjp(kRows, kCols, in.g.data(), in.x.data(), in.w.data(), scale.data(), dz.data(),
                 dv.data());
    return std::vector{y, mean, rstd, dx, dw, db, z, scale, dz, dv};
  });
}

TEST_CASE("cross_entropy is the same on any threads") {
  const Data in;
  std::vector<int64_t> targets(kRows);
  for (size_t r = 0; r < targets.size(); ++r) targets[r] = static_cast<int64_t>(r) % kCols;
  check_same_on_threads([&] {
    Floats loss(kRows), lse(kRows), dx(kSize);
    cross_entropy(kRows, kCols, in.x.data(), targets.data(), 5, 0.1, loss.data(), lse.data());
    cross_entropy_vjp(kRows, kCols, in.g.data(), in.x.data(), targets.data(), 5, 0.1, lse.data(),
                      dx.data());
    return std::vector{loss, lse, dx};
  });
}

TEST_CASE("sums and updates are the same on any threads") {
  const Data in;
  check_same_on_threads([&] {
    Floats sum(kCols), y = in.g, w = in.x, m(kSize), v(kSize), dropped(kSize);
    column_sum(kRows, kCols, in.x.data(), sum.data());
    add_into(kSize, in.x.data(), y.data());
    const double squares = sum_of_squares(kSize, in.x.data());
    adamw(kSize, {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1},
          in.g.data(), w.data(), m.data(), v.data());
    dropout(kSize, 0.3, 1, 2, in.x.data(), dropped.data());
    const auto high = static_cast<float>(squares);
    const auto low = static_cast<float>(squares - static_cast<double>(high));
    return std::vector{sum, y, w, m, v, dropped, Floats{high, low}};
  });
}

TEST_CASE("attention is the same on any threads") {
  // More heads than threads, and fewer: then blocks of queries are shared out.
  for (const int64_t heads : {5, 1}) {
    AttentionSpec spec;
    spec.batch = 1;
    spec.heads = heads;
    spec.queries = spec.keys = 300;
    spec.width = spec.value_width = 16;
    spec.causal = true;
    const int64_t n = heads * 300 * 16;
    const HeadStrides s{0, 16, heads * 16};
    const auto q = as<float>(normals(n, 1)), k = as<float>(normals(n, 2));
    const auto v = as<float>(normals(n, 3)), g = as<float>(normals(n, 4));
    check_same_on_threads([&] {
      const auto size = static_cast<size_t>(n);
      Floats y(size), lse(size), dq(size), dk(size), dv(size);
      attention(spec, q.data(), s, k.data(), s, v.data(), s, y.data(), s, lse.data());
      attention_vjp(spec, g.data(), s, q.data(), s, k.data(), s, v.data(), s, y.data(), s,
                    lse.data(), dq.data(), s, dk.data(), s, dv.data(), s);
      return std::vector{y, lse, dq, dk, dv};
    });
  }
}

TEST_CASE("products repeat bit for bit and run side by side on the user's threads") {
  const auto a = as<float>(normals(200 * 200, 1)), b = as<float>(normals(200 * 200, 2));
  const auto multiply = [&](Op op) {
    Floats c(200 * 200);
    gemm<float>(op, Op::none, 200, 200, 200, 1, a.data(), 200, b.data(), 200, 0, c.data(), 200);
    return c;
  };
  const Threads two(2);
  const Floats plain = multiply(Op::none), transposed = multiply(Op::transpose);
  std::vector<std::thread> users;
  std::atomic<int> wrong = 0;
  for (const Op op : {Op::none, Op::transpose}) {
    users.emplace_back([&, op] {
      for (int i = 0; i < 20; ++i) wrong += multiply(op) != (op == Op::none ? plain : transposed);
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace attograd::kernels

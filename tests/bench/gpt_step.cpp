// One training step of a GPT against its floor, the matrix products of that step, each at its own
// shape and through cblas_sgemm alone (attention counted unmasked).
//   gpt_step [threads] [steps]      both sizes are nanoGPT's: the recipe for a laptop, and the
//   "baby" GPT

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cblas.h>

#include <attograd/core/autograd.h>
#include <attograd/core/kernels/parallel.h>
#include <attograd/core/ops.h>
#include <attograd/nn/gpt.h>
#include <attograd/nn/module.h>
#include <attograd/optim/adam.h>
#include <attograd/optim/clip.h>

using namespace attograd;

namespace {

struct Size {
  const char* name;
  nn::GptOptions model;
  int64_t batch;
};

double seconds_of(auto&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_of(int runs, auto&& f) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) times.push_back(seconds_of(f));
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<size_t>(runs / 2)];
}

/// c [m, n] = op(a) op(b), sizes as BLAS wants them.
struct Product {
  CBLAS_TRANSPOSE ta;
  CBLAS_TRANSPOSE tb;
  int64_t m, n, k;

  double seconds(int runs) const {
    std::vector<float> a(static_cast<size_t>(m * k), 0.5F);
    std::vector<float> b(static_cast<size_t>(k * n), 0.5F);
    std::vector<float> c(static_cast<size_t>(m * n));
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    return median_of(runs, [&] {
      cblas_sgemm(CblasRowMajor, ta, tb, i(m), i(n), i(k), 1, a.data(),
                  i(ta == CblasNoTrans ? k : m), b.data(), i(tb == CblasNoTrans ? n : k), 0,
                  c.data(), i(n));
    });
  }
};

/// y = x Wᵀ, dx = dy W, dW = dyᵀ x.
double linear_seconds(int64_t rows, int64_t in, int64_t out, int runs) {
  return Product{CblasNoTrans, CblasTrans, rows, out, in}.seconds(runs) +
         Product{CblasNoTrans, CblasNoTrans, rows, in, out}.seconds(runs) +
         Product{CblasTrans, CblasNoTrans, out, in, rows}.seconds(runs);
}

/// The products of one head: q kᵀ and p v forward; dp = g vᵀ, dv = pᵀ g, dq = ds k and dk = dsᵀ q
/// backward.
double head_seconds(int64_t t, int64_t d, int runs) {
  return 2 * Product{CblasNoTrans, CblasTrans, t, t, d}.seconds(runs) +
         2 * Product{CblasNoTrans, CblasNoTrans, t, d, t}.seconds(runs) +
         2 * Product{CblasTrans, CblasNoTrans, t, d, t}.seconds(runs);
}

double floor_seconds(const Size& size, int threads) {
  const nn::GptOptions& m = size.model;
  const int64_t rows = size.batch * m.context;
  const int64_t c = m.width;
  constexpr int kRuns = 15;
  openblas_set_num_threads(threads);
  const double block = linear_seconds(rows, c, 3 * c, kRuns) + linear_seconds(rows, c, c, kRuns) +
                       linear_seconds(rows, c, 4 * c, kRuns) +
                       linear_seconds(rows, 4 * c, c, kRuns);
  const double linear =
      static_cast<double>(m.layers) * block + linear_seconds(rows, c, m.vocabulary, kRuns);
  openblas_set_num_threads(1);  // heads run side by side, each on one thread
  const double heads = static_cast<double>(m.layers * size.batch * m.heads) / threads;
  return linear + heads * head_seconds(m.context, c / m.heads, 5 * kRuns);
}

double step_seconds(const Size& size, int steps) {
  Rng rng(1);
  const nn::Gpt model(size.model, rng);
  optim::AdamW adam(nn::parameters(model));
  const Shape shape = {size.batch, size.model.context};
  std::vector<int64_t> ids(static_cast<size_t>(shape.numel()));
  std::generate(ids.begin(), ids.end(), [&] { return rng.below(size.model.vocabulary); });
  const Tensor tokens = from_values(shape, ids);
  const auto step = [&] {
    adam.clear_gradients();
    backward(cross_entropy(model(tokens, &rng), tokens));
    optim::clip_gradient_norm(nn::parameters(model), 1);
    adam.step();
  };
  step();
  return median_of(steps, step);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : kernels::thread_count();
  const int steps = argc > 2 ? std::atoi(argv[2]) : 20;
  kernels::set_thread_count(threads);
  const Size sizes[] = {
      {"nano", {.vocabulary = 65, .context = 64, .layers = 4, .heads = 4, .width = 128}, 12},
      {"baby", {.vocabulary = 65, .context = 256, .layers = 6, .heads = 6, .width = 384}, 8},
  };
  std::printf("%d thread%s\n", threads, threads == 1 ? "" : "s");
  for (const Size& size : sizes) {
    const double step = step_seconds(size, steps);
    const double floor = floor_seconds(size, threads);
    std::printf("%s  step %8.2f ms   products %8.2f ms   ratio %.2f\n", size.name, step * 1e3,
                floor * 1e3, step / floor);
  }
}

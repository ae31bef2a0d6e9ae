#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

using namespace attograd;

namespace {

constexpr int kThreads = 4;

template <class F>
void on_threads(F f) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(f, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("separate graphs live on separate threads") {
  std::vector<double> gradients(kThreads);
  on_threads([&](int i) {
    const Tensor x = tensor({1, 2, 3}, DType::f64).set_requires_grad();
    for (int step = 0; step < 200; ++step) {
      Tensor y = x * static_cast<double>(i);
      for (int k = 0; k < 10; ++k) y = tanh(y) * x + exp(-y);
      x.node()->grad = Tensor();
      backward(sum(y * 0 + x * static_cast<double>(i)));
    }
    gradients[static_cast<size_t>(i)] = sum(x.grad()).item();
  });
  for (int i = 0; i < kThreads; ++i) CHECK(gradients[static_cast<size_t>(i)] == 3 * i);
}

TEST_CASE("threads may read the same constants") {
  const Tensor w = full({8, 8}, 0.5, DType::f64);
  std::atomic<int> right{0};
  on_threads([&](int) {
    const Tensor x = ones({4, 8}, DType::f64).set_requires_grad();
    for (int step = 0; step < 50; ++step) {
      const Tensor g = grad({sum(x * sum(w, 0) + tanh(sum(w)))}, {x})[0];
      if (sum(g).item() == 4 * 8 * 4) ++right;
    }
  });
  CHECK(right == kThreads * 50);
}

TEST_CASE("NoGrad on one thread does not reach the others") {
  const NoGrad guard;
  std::atomic<int> recorded{0};
  on_threads([&](int) {
    const Tensor x = tensor(2, DType::f64).set_requires_grad();
    if ((x * x).requires_grad()) ++recorded;
  });
  CHECK(recorded == kThreads);
  CHECK_FALSE(recording());
}

TEST_CASE("a graph may be freed on another thread than the one that built it") {
  Tensor y = tensor(1, DType::f64).set_requires_grad();
  for (int i = 0; i < 10'000; ++i) y = y + y;
  std::thread([moved = std::move(y)]() mutable { moved = Tensor(); }).join();
}

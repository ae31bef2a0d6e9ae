#include <memory>
#include <optional>
#include <thread>

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/observer.h>

using namespace attograd;

namespace {

struct Counter : Observer {
  int* count;
  explicit Counter(int& counted) : count(&counted) {}
  void computed(std::string_view, const Tensors&, const Array&) override { ++*count; }
};

void compute() { tensor(1) + tensor(2); }

}  // namespace

TEST_CASE("observers end in any order") {
  int a = 0, b = 0, c = 0;
  std::optional<Counter> first, second, third;
  first.emplace(a);
  second.emplace(b);
  third.emplace(c);
  compute();
  second.reset();
  compute();
  first.reset();
  compute();
  first.emplace(a);
  third.reset();
  compute();
  first.reset();
  CHECK_FALSE(is_observed());
  compute();
  CHECK(a == 3);
  CHECK(b == 1);
  CHECK(c == 3);
}

TEST_CASE("observers may end on another thread and after their own") {
  int here = 0, there = 0;
  auto moved = std::make_unique<Counter>(here);
  auto inner = std::make_unique<Counter>(here);
  std::thread([outer = std::move(moved), &there]() mutable {
    const Counter own(there);
    outer.reset();
    compute();
  }).join();
  compute();
  CHECK(here == 1);
  CHECK(there == 1);
  inner.reset();
  CHECK_FALSE(is_observed());

  std::unique_ptr<Counter> outer_left, inner_left;
  std::thread([&] {
    outer_left = std::make_unique<Counter>(there);
    inner_left = std::make_unique<Counter>(there);
  }).join();
  compute();
  CHECK(there == 1);
  std::thread([&] {  // likely in the place of the one that ended
    const Counter own(there);
    inner_left.reset();
    outer_left.reset();
    compute();
  })
      .join();
  compute();
  CHECK(there == 2);
  CHECK_FALSE(is_observed());
}

TEST_CASE("the latest guard that is alive decides whether to record") {
  std::optional<NoGrad> first, second;
  first.emplace();
  second.emplace();
  first.reset();
  CHECK_FALSE(recording());
  second.reset();
  CHECK(recording());
  std::optional<EnableGrad> on;
  first.emplace();
  on.emplace();
  second.emplace();
  CHECK_FALSE(recording());
  on.reset();
  second.reset();
  CHECK_FALSE(recording());
  on.emplace();
  first.reset();
  CHECK(recording());
  on.reset();
  CHECK(recording());
  auto moved = std::make_unique<NoGrad>();
  std::thread([guard = std::move(moved)]() mutable {
    guard.reset();
    CHECK(recording());
  }).join();
  CHECK(recording());
}

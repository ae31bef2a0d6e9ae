// A chain of operations as long as memory allows: nothing in the engine may recurse over it.
//   chain [operations]

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <sys/resource.h>

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/ops.h>

using namespace attograd;

namespace {

void report(const char* what, auto&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-24s %6.2f s   peak memory %6.2f GB\n", what, seconds.count(),
              static_cast<double>(usage.ru_maxrss) * 1e-6);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t operations = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const Tensor x = tensor(1.0).set_requires_grad();
  const auto chain = [&] {
    Tensor y = x;
    for (int64_t i = 0; i < operations; ++i) y = -y;
    return y;
  };
  Tensor y;
  report("build", [&] { y = chain(); });
  report("backward, which frees", [&] { backward(y); });
  std::printf("gradient %g\n", x.grad().item());
  report("build again", [&] { y = chain(); });
  report("free without backward", [&] { y = Tensor(); });
}

#include <filesystem>
#include <iterator>
#include <thread>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/blas.h>

extern "C" int openblas_get_num_threads();
extern "C" int openblas_get_parallel();  // 1 for the flavour with threads of its own, 2 for OpenMP

namespace attograd::kernels {
namespace {

struct Product {
  Op ta, tb;
  int64_t m, n, k;
  double alpha = 1, beta = 0;
  int64_t padding = 0;  // of every stored row

  int64_t lda() const { return (ta == Op::none ? k : m) + padding; }
  int64_t ldb() const { return (tb == Op::none ? n : k) + padding; }
  int64_t ldc() const { return n + padding; }
  int64_t a_size() const { return (ta == Op::none ? m : k) * lda(); }
  int64_t b_size() const { return (tb == Op::none ? k : n) * ldb(); }
  int64_t c_size() const { return m * ldc(); }
};

void naive(const Product& p, const double* a, const double* b, double* c) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < p.k; ++l) {
        sum += a[p.ta == Op::none ? i * p.lda() + l : l * p.lda() + i] *
               b[p.tb == Op::none ? l * p.ldb() + j : j * p.ldb() + l];
      }
      double& y = c[i * p.ldc() + j];
      y = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * y);
    }
  }
}

/// A sum of k products in T errs by at most k / 2 ULP of the sum of absolute products, which for
/// normal numbers is some sqrt(k) times the largest result: k + 4 covers all rounding here.
template <class T>
void check(const Product& p) {
  CAPTURE(p.m);
  CAPTURE(p.n);
  CAPTURE(p.k);
  const Doubles a = normals(p.a_size(), 1), b = normals(p.b_size(), 2);
  Doubles wanted = normals(p.c_size(), 3);
  auto got = as<T>(wanted);
  naive(p, a.data(), b.data(), wanted.data());
  gemm(p.ta, p.tb, p.m, p.n, p.k, static_cast<T>(p.alpha), as<T>(a).data(), p.lda(),
       as<T>(b).data(), p.ldb(), static_cast<T>(p.beta), got.data(), p.ldc());
  CHECK(ulps(got, wanted) <= static_cast<double>(p.k) + 4);
}

TEST_CASE_TEMPLATE("gemm is the triple loop", T, float, double) {
  for (const Op ta : {Op::none, Op::transpose}) {
    for (const Op tb : {Op::none, Op::transpose}) {
      for (const int64_t m : {0, 1, 7, 33}) {
        for (const int64_t n : {0, 1, 17, 33}) {
          for (const int64_t k : {0, 1, 7, 33}) check<T>({ta, tb, m, n, k, 1, 0, 3});
        }
      }
      check<T>({ta, tb, 129, 65, 70, -0.5, 2, 5});
    }
  }
}

TEST_CASE_TEMPLATE("gemm on two threads is the triple loop", T, float, double) {
  const Threads two(2);
  for (const Op ta : {Op::none, Op::transpose}) {
    for (const Op tb : {Op::none, Op::transpose}) {
      check<T>({ta, tb, 201, 65, 83, 1, 1, 3});
      check<T>({ta, tb, 65, 201, 83, 1, 0, 0});
      check<T>({ta, tb, 1, 3000, 400, 1, 0, 0});
    }
  }
}

TEST_CASE_TEMPLATE("beta 0 overwrites NaN and k 0 leaves beta c", T, float, double) {
  const std::vector<T> x = {1, 2, 3, 4};
  std::vector<T> c(4, static_cast<T>(kNaN));
  gemm<T>(Op::none, Op::none, 2, 2, 2, 1, x.data(), 2, x.data(), 2, 0, c.data(), 2);
  CHECK(doubles(c) == Doubles{7, 10, 15, 22});
  gemm<T>(Op::none, Op::none, 2, 2, 0, 1, x.data(), 0, x.data(), 2, 0.5, c.data(), 2);
  CHECK(doubles(c) == Doubles{3.5, 5, 7.5, 11});
  c.assign(4, static_cast<T>(kNaN));
  gemm<T>(Op::none, Op::none, 2, 2, 0, 1, x.data(), 0, x.data(), 2, 0, c.data(), 2);
  CHECK(doubles(c) == Doubles{0, 0, 0, 0});
}

TEST_CASE_TEMPLATE("any distance between rows works", T, float, double) {
  const std::vector<T> x = {1, 2, 3, 4};
  std::vector<T> c(4);
  // Row 0 of x, seen twice through a distance of 0: [1 2; 1 2].
  gemm<T>(Op::none, Op::none, 2, 2, 2, 1, x.data(), 0, x.data(), 2, 0, c.data(), 2);
  CHECK(doubles(c) == Doubles{7, 10, 7, 10});
  // A single row has no distance to another: whatever a tensor says there is ignored.
  gemm<T>(Op::none, Op::none, 1, 2, 2, 1, x.data(), -5, x.data(), 2, 0, c.data(), 1);
  CHECK(doubles(c) == Doubles{7, 10, 7, 10});
}

TEST_CASE("rows further apart than an int work") {
  const int64_t ld = (int64_t{1} << 31) + 5;
  const auto bytes = static_cast<size_t>(2 * ld) * sizeof(float);
  void* reserved = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(reserved != MAP_FAILED);
  auto* a = static_cast<float*>(reserved);
  a[0] = 1;
  a[1] = 2;
  a[ld] = 3;
  a[ld + 1] = 4;
  const float b[] = {1, 2, 3, 4};
  float c[4];
  gemm<float>(Op::none, Op::none, 2, 2, 2, 1, a, ld, b, 2, 0, c, 2);
  CHECK(std::vector(c, c + 4) == std::vector<float>{7, 10, 15, 22});
  munmap(reserved, bytes);
}

TEST_CASE_TEMPLATE("gemm_batched is one product for each offset", T, float, double) {
  // Products too small to share out, and products of which each is; more and fewer than threads.
  for (const int64_t size : {5, 90}) {
    for (const size_t batch : {size_t{0}, size_t{1}, size_t{7}}) {
      const Product p{Op::none, Op::transpose, size, size + 1, size + 2};
      const auto count = static_cast<int64_t>(batch);
      const Doubles a = normals(count * p.a_size() + 1, 1), b = normals(p.b_size(), 2);
      Doubles wanted(batch * static_cast<size_t>(p.c_size()));
      std::vector<int64_t> a_offsets, b_offsets(batch, 0), c_offsets;
      for (int64_t i = 0; i < count; ++i) {
        a_offsets.push_back((count - 1 - i) * p.a_size());
        c_offsets.push_back(i * p.c_size());
        naive(p, a.data() + a_offsets.back(), b.data(), wanted.data() + c_offsets.back());
      }
      for (const int threads : {1, 2}) {
        const Threads now(threads);
        std::vector<T> got(wanted.size());
        gemm_batched<T>(p.ta, p.tb, p.m, p.n, p.k, 1, as<T>(a).data(), p.lda(), a_offsets,
                        as<T>(b).data(), p.ldb(), b_offsets, 0, got.data(), p.ldc(), c_offsets);
        CHECK(ulps(got, wanted) <= static_cast<double>(p.k) + 4);
      }
    }
  }
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST_CASE("with one thread a product starts no other") {
  // 400^3 is far beyond what OpenBLAS keeps on one thread by itself; it would do so here in the
  // calling thread and, with its openmp flavour, anew in a thread that the user starts.
  const Threads one(1);
  const auto x = as<float>(normals(400 * 400, 1));
  const auto multiply = [&x] {
    std::vector<float> y(x.size());
    gemm<float>(Op::none, Op::none, 400, 400, 400, 1, x.data(), 400, x.data(), 400, 0, y.data(),
                400);
    return threads_of_this_process();
  };
  multiply();
  const std::ptrdiff_t before = threads_of_this_process();
  CHECK(multiply() == before);
  std::ptrdiff_t inside = 0;
  std::thread([&] { inside = multiply(); }).join();
  CHECK(inside == before + 1);
  // The former has started its threads already and is to use none of them.
  if (openblas_get_parallel() == 1) CHECK(openblas_get_num_threads() == 1);
}

}  // namespace
}  // namespace attograd::kernels

#include <doctest/doctest.h>
#include <tests/kernels/twins.h>

#include <attograd/core/kernels/norm.h>

namespace attograd::kernels {
namespace {

/// One row of either norm: n = (x - mean) rstd, where rms norm has mean 0.
struct Row {
  Exact rstd = 0;
  std::vector<Exact> n;
};

Row normalised(bool centred, int64_t cols, double eps, const double* x) {
  const auto count = static_cast<Exact>(cols);
  Exact mean = 0, var = 0;
  for (int64_t i = 0; centred && i < cols; ++i) mean += (x[i] - x[0]) / count;
  if (centred && cols > 0) mean += x[0];
  for (int64_t i = 0; i < cols; ++i) var += (x[i] - mean) * (x[i] - mean) / count;
  Row row{1 / std::sqrt(var + eps), {}};
  for (int64_t i = 0; i < cols; ++i) row.n.push_back((x[i] - mean) * row.rstd);
  return row;
}

struct Case {
  int64_t rows, cols;
  double eps = 1e-5;
  Doubles x, weight, bias, g;

  Case(int64_t r, int64_t c, double mean = 0)
      : rows(r),
        cols(c),
        x(normals(r * c, 1)),
        weight(normals(c, 2)),
        bias(normals(c, 3)),
        g(normals(r * c, 4)) {
    for (double& v : x) v = static_cast<double>(static_cast<float>(v + mean));
  }
};

struct Twin {
  Doubles y, dx, dweight, dbias;

  /// By the definitions, the Jacobian of a row written out.
  Twin(const Case& c, bool centred, bool affine)
      : y(c.x.size()), dx(c.x.size()), dweight(c.weight.size()), dbias(c.weight.size()) {
    const auto count = static_cast<Exact>(c.cols);
    const size_t cols = c.weight.size();
    std::vector<Exact> dw(cols), db(cols);
    for (int64_t r = 0; r < c.rows; ++r) {
      const size_t first = static_cast<size_t>(r) * cols;
      const Row row = normalised(centred, c.cols, c.eps, c.x.data() + first);
      std::vector<Exact> d(cols);
      for (size_t i = 0; i < cols; ++i) {
        const Exact w = affine ? c.weight[i] : 1, b = affine && centred ? c.bias[i] : 0;
        const Exact g = c.g[first + i];
        y[first + i] = static_cast<double>(row.n[i] * w + b);
        dw[i] += g * row.n[i];
        db[i] += g;
        for (size_t j = 0; j < cols; ++j) {
          const Exact slope =
              (i == j ? 1 : 0) - (centred ? 1 : 0) / count - row.n[i] * row.n[j] / count;
          d[j] += g * w * row.rstd * slope;
        }
      }
      for (size_t j = 0; j < cols; ++j) dx[first + j] = static_cast<double>(d[j]);
    }
    for (size_t i = 0; i < cols; ++i) {
      dweight[i] = static_cast<double>(dw[i]);
      dbias[i] = static_cast<double>(db[i]);
    }
  }
};

/// The kernel's results beside the twin's. Terms of dx are as large as rstd h and cancel,
/// completely so where there are one or two columns.
template <class T>
void check_layer_norm(const Case& c, bool affine) {
  CAPTURE(c.rows);
  CAPTURE(c.cols);
  const Twin twin(c, true, affine);
  const auto x = as<T>(c.x), g = as<T>(c.g), w = as<T>(c.weight), b = as<T>(c.bias);
  const T* weight = affine ? w.data() : nullptr;
  std::vector<T> got_y(x.size()), got_dx(x.size()), got_dw(w.size()), got_db(w.size());
  std::vector<T> mean(static_cast<size_t>(c.rows)), rstd(static_cast<size_t>(c.rows));
  layer_norm(c.rows, c.cols, c.eps, x.data(), weight, affine ? b.data() : nullptr, got_y.data(),
             mean.data(), rstd.data());
  layer_norm_vjp(c.rows, c.cols, g.data(), x.data(), weight, mean.data(), rstd.data(),
                 got_dx.data(), got_dw.data(), got_db.data());
  double terms = 0;
  for (const T scale : rstd) terms = std::max(terms, static_cast<double>(scale));
  terms *= largest(c.g) * (affine ? largest(c.weight) : 1);
  CHECK(ulps(got_y, twin.y) <= 4);
  CHECK(ulps(got_dx, twin.dx, terms) <= 8);
  CHECK(ulps(got_dw, twin.dweight, largest(c.g)) <= 4);
  CHECK(ulps(got_db, twin.dbias, largest(c.g)) <= 4);
}

TEST_CASE_TEMPLATE("layer_norm and its gradients are the definitions", T, float, double) {
  for (const int64_t cols : {1, 2, 7, 17, 33, 128, 600})
    for (const int64_t rows : {0, 1, 5, 40})
      for (const bool affine : {false, true}) check_layer_norm<T>(Case(rows, cols), affine);
  check_layer_norm<T>(Case(3, 0), true);
}

TEST_CASE_TEMPLATE("layer_norm keeps its precision under a large mean", T, float, double) {
  check_layer_norm<T>(Case(7, 33, 20000), true);
}

TEST_CASE_TEMPLATE("rms_norm and its gradients are the definitions", T, float, double) {
  for (const int64_t cols : {0, 1, 2, 7, 17, 33, 128, 600}) {
    for (const int64_t rows : {0, 1, 5, 40}) {
      for (const bool affine : {false, true}) {
        const Case c(rows, cols);
        const Twin twin(c, false, affine);
        const auto x = as<T>(c.x), g = as<T>(c.g), w = as<T>(c.weight);
        const T* weight = affine ? w.data() : nullptr;
        std::vector<T> got_y(x.size()), got_dx(x.size()), got_dw(w.size());
        std::vector<T> rstd(static_cast<size_t>(rows));
        rms_norm(rows, cols, c.eps, x.data(), weight, got_y.data(), rstd.data());
        rms_norm_vjp(rows, cols, g.data(), x.data(), weight, rstd.data(), got_dx.data(),
                     got_dw.data());
        double terms = 0;
        for (const T scale : rstd) terms = std::max(terms, static_cast<double>(scale));
        terms *= largest(c.g) * (affine ? largest(c.weight) : 1);
        CHECK(ulps(got_y, twin.y) <= 4);
        CHECK(ulps(got_dx, twin.dx, terms) <= 8);
        CHECK(ulps(got_dw, twin.dweight, largest(c.g)) <= 4);
      }
    }
  }
}

TEST_CASE("gradients that nobody wants are not written") {
  const Case c(5, 17);
  const auto x = as<float>(c.x), g = as<float>(c.g), w = as<float>(c.weight);
  std::vector<float> y(x.size()), mean(5), rstd(5), dx(x.size()), dw(17), db(17), only(x.size());
  layer_norm<float>(5, 17, c.eps, x.data(), w.data(), nullptr, y.data(), mean.data(), rstd.data());
  const auto vjp = [&](float* dx_to, float* dw_to, float* db_to) {
    layer_norm_vjp(5, 17, g.data(), x.data(), w.data(), mean.data(), rstd.data(), dx_to, dw_to,
                   db_to);
  };
  vjp(dx.data(), dw.data(), db.data());
  vjp(only.data(), nullptr, nullptr);
  CHECK(only == dx);
  only.resize(17);
  vjp(nullptr, only.data(), nullptr);
  CHECK(only == dw);
  vjp(nullptr, nullptr, only.data());
  CHECK(only == db);
  layer_norm<float>(5, 17, c.eps, x.data(), w.data(), nullptr, y.data(), nullptr, nullptr);
}

TEST_CASE_TEMPLATE("the mean is subtracted before anything is squared", T, float, double) {
  const std::vector<T> x = {65536, 65537, 65538, 65540};
  const std::vector<T> negative = {-65536, -65537, -65538, -65540};
  std::vector<T> y(4), z(4), mean(1), rstd(1);
  layer_norm<T>(1, 4, 1e-5, x.data(), nullptr, nullptr, y.data(), mean.data(), rstd.data());
  layer_norm<T>(1, 4, 1e-5, negative.data(), nullptr, nullptr, z.data(), nullptr, nullptr);
  const Doubles wanted = {-1.1832132, -0.5070914, 0.1690305, 1.5212742};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(static_cast<double>(y[i]) == doctest::Approx(wanted[i]).epsilon(1e-6));
    CHECK(z[i] == -y[i]);
  }
}

TEST_CASE_TEMPLATE("a constant row has large but finite gradients", T, float, double) {
  const std::vector<T> x = {3, 3, 3, 3}, g = {1, 2, 3, 4};
  const std::vector<T> bias(4, static_cast<T>(0.5));
  std::vector<T> y(4), mean(1), rstd(1), dx(4), dw(4), db(4);
  layer_norm<T>(1, 4, 1e-5, x.data(), nullptr, bias.data(), y.data(), mean.data(), rstd.data());
  CHECK(doubles(y) == Doubles(4, 0.5));
  layer_norm_vjp<T>(1, 4, g.data(), x.data(), nullptr, mean.data(), rstd.data(), dx.data(),
                    dw.data(), db.data());
  CHECK(ulps(dx, {-474.3416490252569, -158.1138830084190, 158.1138830084190, 474.3416490252569}) <=
        2);
  CHECK(doubles(dw) == Doubles(4, 0));
  CHECK(doubles(db) == Doubles{1, 2, 3, 4});
}

TEST_CASE_TEMPLATE("one column leaves the bias and no gradient", T, float, double) {
  const std::vector<T> x = {-3, 8}, g = {2, 5};
  const auto weight = as<T>({1e10}), bias = as<T>({-1});
  std::vector<T> y(2), mean(2), rstd(2), dx(2), dw(1), db(1);
  layer_norm<T>(2, 1, 0.1, x.data(), weight.data(), bias.data(), y.data(), mean.data(),
                rstd.data());
  CHECK(doubles(y) == Doubles{-1, -1});
  layer_norm_vjp<T>(2, 1, g.data(), x.data(), weight.data(), mean.data(), rstd.data(), dx.data(),
                    dw.data(), db.data());
  CHECK(doubles(dx) == Doubles{0, 0});
  CHECK(dw[0] == 0);
  CHECK(db[0] == 7);
}

}  // namespace
}  // namespace attograd::kernels

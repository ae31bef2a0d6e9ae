#include <algorithm>
#include <array>
#include <numeric>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/random.h>

namespace attograd::op_cases {
namespace {

/// Numbers drawn one by one.
Input drawn(const Shape& shape, std::function<double(Rng&)> draw) {
  return {shape, [draw](const Shape& sizes, uint64_t seed) {
            Rng rng(seed);
            std::vector<double> v(static_cast<size_t>(sizes.numel()));
            for (double& x : v) x = draw(rng);
            return from_values(sizes, v, DType::f64);
          }};
}

/// The offset in x of an element of y, whose shape x is broadcast to.
size_t broadcast_place(const Shape& y, size_t element, const Shape& x) {
  auto rest = static_cast<int64_t>(element);
  int64_t place = 0;
  int64_t step = 1;
  for (int axis = y.rank() - 1, own = x.rank() - 1; own >= 0; --axis, --own) {
    if (x[own] != 1) place += rest % y[axis] * step;
    step *= x[own];
    rest /= y[axis];
  }
  return static_cast<size_t>(place);
}

template <size_t N, class F>
Naive each_of(F f) {
  return [f](const std::vector<Numbers>& x) {
    check<ValueError>(x.size() == N, "each: takes ", N, " inputs, got ", x.size());
    Shape shape = x[0].shape;
    for (const Numbers& input : x) shape = broadcast_shapes("each", shape, input.shape);
    Numbers y(shape);
    for (size_t i = 0; i < y.values.size(); ++i) {
      std::array<double, N> in{};
      for (size_t k = 0; k < N; ++k) in[k] = x[k].values[broadcast_place(shape, i, x[k].shape)];
      y.values[i] = std::apply(f, in);
    }
    return y;
  };
}

}  // namespace

Numbers numbers(const Tensor& x) {
  Numbers y(x.shape());
  dispatch("numbers", x.dtype(), [&]<class T>() {
    const std::vector<T> v = x.to_vector<T>();
    std::transform(v.begin(), v.end(), y.values.begin(),
                   [](T value) { return static_cast<double>(value); });
  });
  return y;
}

Input normal(const Shape& shape, double scale) {
  return drawn(shape, [scale](Rng& rng) { return scale * rng.normal(); });
}

Input uniform(const Shape& shape, double low, double high) {
  return drawn(shape, [low, high](Rng& rng) { return low + (high - low) * rng.uniform(); });
}

Input distinct(const Shape& shape, double shift) {
  return {shape, [shift](const Shape& sizes, uint64_t seed) {
            const auto n = static_cast<size_t>(sizes.numel());
            std::vector<double> v(n);
            const auto half = static_cast<double>(n / 2);
            for (size_t k = 0; k < n; ++k) v[k] = (static_cast<double>(k) - half + 0.5) / 4 + shift;
            Rng rng(seed);
            for (size_t k = n; k > 1; --k)
              std::swap(v[k - 1], v[static_cast<size_t>(rng.below(static_cast<int64_t>(k)))]);
            return from_values(sizes, v, DType::f64);
          }};
}

Input values(const Shape& shape, const std::vector<double>& v) {
  return {shape, [v](const Shape& sizes, uint64_t) { return from_values(sizes, v, DType::f64); }};
}

Input ids(const Shape& shape, int64_t count) {
  return {shape,
          [count](const Shape& sizes, uint64_t seed) {
            Rng rng(seed);
            std::vector<int64_t> v(static_cast<size_t>(sizes.numel()));
            for (int64_t& id : v) id = rng.below(count);
            return from_values(sizes, v);
          },
          false};
}

Input ids(const Shape& shape, const std::vector<int64_t>& v) {
  return {shape, [v](const Shape& sizes, uint64_t) { return from_values(sizes, v); }, false};
}

Input mask(const Shape& shape) {
  return {shape,
          [](const Shape& sizes, uint64_t seed) {
            Rng rng(seed);
            std::vector<bool> v(static_cast<size_t>(sizes.numel()));
            for (size_t i = 0; i < v.size(); ++i) v[i] = rng.below(2) == 0;
            return from_values(sizes, v);
          },
          false};
}

Input mask(const Shape& shape, const std::vector<bool>& v) {
  return {shape, [v](const Shape& sizes, uint64_t) { return from_values(sizes, v); }, false};
}

Naive each(double (*f)(double)) { return each_of<1>(f); }
Naive each(double (*f)(double, double)) { return each_of<2>(f); }
Naive each(double (*f)(double, double, double)) { return each_of<3>(f); }

const Table& table() {
  static const Table all = [] {
    Table t;
    add_elementwise(t);
    add_functions(t);
    add_compare(t);
    add_elementwise_errors(t);
    add_reduce(t);
    add_shapes(t);
    add_parts(t);
    add_products(t);
    add_indexing(t);
    add_softmax(t);
    add_fused(t);
    add_attention(t);
    return t;
  }();
  return all;
}

}  // namespace attograd::op_cases

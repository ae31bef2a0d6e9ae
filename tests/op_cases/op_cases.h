#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <attograd/core/tensor.h>

namespace attograd::op_cases {

/// What the naive twins compute with: row-major numbers (ids as they are, masks as 0 and 1).
/// `x(i, j)` is an element; negative indices are not allowed.
struct Numbers {
  Shape shape;
  std::vector<double> values;

  /// Zeros, to be filled.
  explicit Numbers(const Shape& sizes) : shape(sizes), values(static_cast<size_t>(sizes.numel())) {}
  template <class... Index>
  double& operator()(Index... index) {
    return values[place(index...)];
  }
  template <class... Index>
  double operator()(Index... index) const {
    return values[place(index...)];
  }

 private:
  template <class... Index>
  size_t place(Index... index) const {
    int64_t at = 0;
    int axis = 0;
    ((at = at * shape[axis++] + static_cast<int64_t>(index)), ...);
    return static_cast<size_t>(at);
  }
};
Numbers numbers(const Tensor& x);

/// How to make an input from a seed. Floating ones are f64 (the tests cast them) and require
/// gradients.
struct Input {
  Shape shape;
  std::function<Tensor(const Shape&, uint64_t seed)> make;
  bool is_floating = true;
};
Input normal(const Shape& shape, double scale = 1);
Input uniform(const Shape& shape, double low, double high);
/// Numbers of both signs (k + 1/2) / 4 + shift, each once, in random order: for operations with
/// kinks or ties. They lie 1/4 apart and, with shift 0, 1/8 from every multiple of 1/4 (0, 1 ...),
/// much more than the stencil reaches. Inputs that are compared with each other take shifts that
/// differ: equal numbers then lie the difference apart.
Input distinct(const Shape& shape, double shift = 0);
Input values(const Shape& shape, const std::vector<double>& values);
Input ids(const Shape& shape, int64_t count);  // i64 in [0, count)
Input ids(const Shape& shape, const std::vector<int64_t>& values);
Input mask(const Shape& shape);  // boolean, about half of them true
Input mask(const Shape& shape, const std::vector<bool>& values);

using Naive = std::function<Numbers(const std::vector<Numbers>& x)>;

/// The naive twin of a function of one, two or three numbers, over broadcast inputs.
Naive each(double (*f)(double));
Naive each(double (*f)(double, double));
Naive each(double (*f)(double, double, double));

/// A row: one use of an operation, from which the tests are generated (value_test, gradient_test,
/// layout_test): value in f64 against the naive twin and against f32; gradients of order 1 and 2;
/// all of it for other layouts of the inputs; zero-size inputs, the same tensor twice, 1 and 2
/// threads. An operation may have as many rows as it has interesting shapes and options.
struct OpCase {
  std::string op;          // as in core/op_list.h
  std::string label = {};  // tells the rows of an operation apart: "over rows", "causal", ...
  std::vector<Input> inputs;
  std::function<Tensor(const Tensors& x)> call;
  Naive naive = {};  // the value, by plain loops; each operation needs it in at least one row

  bool differentiable = true;  // false: the result must not require gradients (comparisons, argmax)
  bool measurable = true;      // by differences; false: the value moves in steps (cast to f32)
  bool elementwise = false;    // takes any shapes that broadcast: many are tried
  std::vector<Input> large = {};  // for the same call: enough work for several threads
  double ulps = 64;  // largest error of the value, in eps of the dtype times the largest |value|

  std::string name() const { return label.empty() ? op : op + " " + label; }
};

/// A call that must throw exactly this. Made by `refuses`.
struct ErrorCase {
  std::string op;
  std::string message;  // the whole text
  std::function<void()> call;
  std::function<bool(const Error&)> has_right_type;
};

template <class E>
ErrorCase refuses(std::string op, std::function<void()> call, std::string message) {
  return {std::move(op), std::move(message), std::move(call),
          [](const Error& error) { return dynamic_cast<const E*>(&error) != nullptr; }};
}

struct Table {
  std::vector<OpCase> cases;
  std::vector<ErrorCase> errors;
};

/// All rows.
const Table& table();

// The groups, each in the file of its name.
void add_elementwise(Table& table);  // arithmetic
void add_functions(Table& table);
void add_compare(Table& table);
void add_elementwise_errors(Table& table);
void add_reduce(Table& table);
void add_shapes(Table& table);
void add_parts(Table& table);
void add_products(Table& table);
void add_indexing(Table& table);
void add_softmax(Table& table);
void add_fused(Table& table);
void add_attention(Table& table);

}  // namespace attograd::op_cases

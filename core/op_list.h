#pragma once

#include <array>
#include <string_view>

namespace attograd {

/// Every operation, by the name that error messages and the case table use. A name that is recorded
/// without standing here does not compile; a name that stands here without a case in tests/op_cases
/// fails a test.
inline constexpr std::array kOps = std::to_array<std::string_view>({
    // elementwise
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "pow",
    "exp",
    "log",
    "log1p",
    "expm1",
    "sqrt",
    "rsqrt",
    "square",
    "abs",
    "sign",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "relu",
    "leaky_relu",
    "elu",
    "silu",
    "softplus",
    "erf",
    "maximum",
    "minimum",
    "clamp",
    "where",
    "masked_fill",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "is_finite",
    "cast",
    "alias",
    "checkpoint",
    // reductions
    "sum",
    "mean",
    "var",
    "std",
    "max",
    "min",
    "argmax",
    "logsumexp",
    "norm",
    "cumsum",
    "prod",
    // shapes
    "reshape",
    "permute",
    "transpose",
    "expand",
    "squeeze",
    "unsqueeze",
    "slice",
    "select",
    "split",
    "cat",
    "stack",
    "pad",
    "flip",
    "tril",
    "triu",
    // products
    "matmul",
    "einsum",
    "outer",
    "dot",
    // indexing
    "gather",
    "scatter_add",
    "embedding",
    "one_hot",
    "take",
    // of networks, most of them fused
    "linear",
    "softmax",
    "log_softmax",
    "masked_softmax",
    "cross_entropy",
    "layer_norm",
    "rms_norm",
    "gelu",
    "dropout",
    "attention",
});

/// The name of an operation, checked while compiling.
class OpName {
 public:
  consteval OpName(const char* name) : name_(name) {  // NOLINT: .name = "tanh" is the point
    for (std::string_view listed : kOps)
      if (listed == name_) return;
    throw "this name is not in core/op_list.h: add it there, and a row in tests/op_cases";
  }
  constexpr operator std::string_view() const { return name_; }  // NOLINT

 private:
  struct Unlisted {};
  constexpr OpName(const char* name, Unlisted) : name_(name) {}
  friend constexpr OpName user_op(const char* name);

  std::string_view name_;
};

/// The name of an operation outside the library; `name` must live as long as the program.
constexpr OpName user_op(const char* name) { return {name, OpName::Unlisted{}}; }

}  // namespace attograd

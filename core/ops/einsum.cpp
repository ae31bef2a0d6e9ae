#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include <attograd/core/ops.h>
#include <attograd/core/ops/products.h>

namespace attograd {
namespace {

/// A tensor with a letter for each axis.
struct Labelled {
  Tensor x;
  std::string letters;
};

bool has(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

/// The letters that f takes, in their order.
template <class F>
std::string filter(std::string_view letters, F f) {
  std::string kept;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(kept), f);
  return kept;
}

// ---- the equation ----

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

Equation parse(std::string_view equation) {
  const std::string text = filter(equation, [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation parsed{{""}, ""};
  for (char c : left) {
    if (c == ',') {
      parsed.operands.emplace_back();
    } else {
      parsed.operands.back() += c;
    }
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = text.substr(arrow + 2);
  } else {
    result = filter(
        left, [&](char c) { return c != ',' && std::count(left.begin(), left.end(), c) == 1; });
    std::sort(result.begin(), result.end());
  }
  for (char c : filter(left, [](char c) { return c != ','; }) + result)
    check<ShapeError>(std::isalpha(static_cast<unsigned char>(c)) != 0,
                      "einsum: an equation has letters, commas and one ->, got \"", equation, "\"",
                      c == '.' ? "; give each axis a letter instead of ..." : "");
  for (char c : result) {
    check<ShapeError>(has(left, c), "einsum: the result has the letter ", c,
                      ", which no operand has, in \"", equation, "\"");
    check<ShapeError>(std::count(result.begin(), result.end(), c) == 1,
                      "einsum: the result has the letter ", c, " twice in \"", equation, "\"");
  }
  parsed.result = result;
  return parsed;
}

void check_fits(std::string_view equation, const Equation& parsed, const Tensors& x) {
  check<ShapeError>(parsed.operands.size() == x.size(), "einsum: \"", equation, "\" takes ",
                    parsed.operands.size(), " operands, got ", x.size());
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string& letters = parsed.operands[i];
    check<DTypeError>(x[i].dtype() == x[0].dtype(), "einsum: operands must have one dtype, got ",
                      signature(x[0]), " and ", signature(x[i]));
    check<ShapeError>(static_cast<int>(letters.size()) == x[i].rank(), "einsum: operand ", i,
                      " of \"", equation, "\" has ", letters.size(), " letters, got ",
                      signature(x[i]));
    for (size_t axis = 0; axis < letters.size(); ++axis) {
      const int64_t size = x[i].shape()[static_cast<int>(axis)];
      const auto [known, is_new] = sizes.emplace(letters[axis], size);
      check<ShapeError>(known->second == size, "einsum: the letter ", letters[axis], " of \"",
                        equation, "\" must have one size, got ", known->second, " and ", size);
    }
  }
}

// ---- one operand ----

Labelled ordered(const Labelled& a, const std::string& letters) {
  if (a.letters == letters) return a;
  Shape order;
  for (char c : letters) order.append(static_cast<int64_t>(a.letters.find(c)));
  return {permute(a.x, order), letters};
}

/// The axes of the letter at `first`, which repeats, become one: every (n + 1)th of their n * n
/// elements.
Labelled diagonal(const Labelled& a, size_t first) {
  const size_t second = a.letters.find(a.letters[first], first + 1);
  std::string rest;
  Shape order, merged;
  for (size_t axis = 0; axis < a.letters.size(); ++axis) {
    if (axis == first || axis == second) continue;
    rest += a.letters[axis];
    order.append(static_cast<int64_t>(axis));
    merged.append(a.x.shape()[static_cast<int>(axis)]);
  }
  order.append(static_cast<int64_t>(first));
  order.append(static_cast<int64_t>(second));
  const int64_t n = a.x.shape()[static_cast<int>(first)];
  merged.append(Shape{n, n}.numel());
  return {slice(reshape(permute(a.x, order), merged), -1, 0, kEnd, n + 1), rest + a.letters[first]};
}

Labelled without_repeats(Labelled a) {
  for (size_t i = 0; i < a.letters.size();) {
    const bool repeats = a.letters.find(a.letters[i], i + 1) != std::string::npos;
    if (repeats) a = diagonal(a, i);
    i = repeats ? 0 : i + 1;
  }
  return a;
}

/// Sums over the letters that are not needed.
Labelled summed(const Labelled& a, std::string_view needed) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < a.letters.size(); ++axis)
    if (!has(needed, a.letters[axis])) axes.push_back(static_cast<int64_t>(axis));
  if (axes.empty()) return a;
  return {sum(a.x, Axes(axes)), filter(a.letters, [&](char c) { return has(needed, c); })};
}

// ---- two operands ----

Shape sizes_of(const Labelled& a, std::string_view letters) {
  Shape sizes;
  for (char c : letters) sizes.append(a.x.shape()[static_cast<int>(a.letters.find(c))]);
  return sizes;
}

/// The product of a and b, summed over the letters that are not needed. Letters are of four kinds:
/// needed in both (the batch), summed over (inner), of a alone (rows) and of b alone (cols).
Labelled product(const Labelled& left, const Labelled& right, const std::string& needed) {
  const Labelled a = summed(left, needed + right.letters);
  const Labelled b = summed(right, needed + left.letters);
  const auto shared = [&](char c) { return has(b.letters, c); };
  const std::string batch = filter(a.letters, [&](char c) { return shared(c) && has(needed, c); });
  const std::string inner = filter(a.letters, [&](char c) { return shared(c) && !has(needed, c); });
  const std::string rows = filter(a.letters, [&](char c) { return !shared(c); });
  const std::string cols = filter(b.letters, [&](char c) { return !has(a.letters, c); });
  check<ShapeError>(batch.size() + 2 <= kMaxRank && (batch + rows + cols).size() <= kMaxRank,
                    "einsum: the product of two operands has at most ", kMaxRank,
                    " axes, two of them in one operand only, got ", a.letters, " and ", b.letters);
  Shape shape = sizes_of(a, batch + rows);
  for (int64_t size : sizes_of(b, cols)) shape.append(size);
  Shape of_a = sizes_of(a, batch), of_b = of_a;
  const int64_t k = sizes_of(a, inner).numel();
  of_a.append(sizes_of(a, rows).numel());
  of_a.append(k);
  of_b.append(k);
  of_b.append(sizes_of(b, cols).numel());
  const Tensor p = reshape(ordered(a, batch + rows + inner).x, of_a);  // [batch, m, k]
  const Tensor q = reshape(ordered(b, batch + inner + cols).x, of_b);  // [batch, k, n]
  const Tensor y = inner.empty() ? p * q : matmul(p, q);               // [batch, m, n]
  return {reshape(y, shape), batch + rows + cols};
}

}  // namespace

Tensor einsum(std::string_view equation, const Tensors& operands) {
  const Equation parsed = parse(equation);
  check_fits(equation, parsed, operands);
  Labelled y = without_repeats({operands[0], parsed.operands[0]});
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string needed = parsed.result;
    for (size_t later = i + 1; later < operands.size(); ++later) needed += parsed.operands[later];
    y = product(y, without_repeats({operands[i], parsed.operands[i]}), needed);
  }
  return ordered(summed(y, parsed.result), parsed.result).x;
}

}  // namespace attograd

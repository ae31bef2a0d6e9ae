#include <cmath>

#include <tests/nn/attention_paths.h>

#include <attograd/core/create.h>
#include <attograd/core/random.h>

namespace attograd::nn {
namespace {

/// A score of one's own, with a parameter.
struct Distance {
  Tensor sharpness;  // []

  /// -sharpness ‖q - k‖²
  Tensor operator()(const Tensor& q, const Tensor& k) const {
    return -sharpness * sum(square(unsqueeze(q, 3) - unsqueeze(k, 2)), -1);
  }
  void visit(auto&& v) { v("sharpness", sharpness); }
};

/// A tensor that broadcasts to the scores, and its entry at a place. Row 1 of all that keeps is
/// empty.
struct Broadcast {
  Shape shape;
  Vector numbers;

  explicit Broadcast(const Shape& of) : shape(of) {
    Rng rng(static_cast<uint64_t>(of.numel()));
    for (int64_t i = 0; i < of.numel(); ++i) numbers.push_back(2 * rng.uniform() - 1);
  }
  double at(const Place& p) const {
    const int64_t full[] = {p.b, p.h, p.t, p.s};
    int64_t i = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      // [T, S], [B, T, S] or [B, H, T, S]
      const int place = shape.rank() == 3 && axis == 0 ? 0 : axis + 4 - shape.rank();
      i = i * shape[axis] + (shape[axis] == 1 ? 0 : full[place]);
    }
    return numbers[static_cast<size_t>(i)];
  }
  bool keeps(const Place& p) const { return at(p) > -0.3; }
  Tensor booleans() const {
    std::vector<bool> kept;
    for (const double number : numbers) kept.push_back(number > -0.3);
    return from_values(shape, kept);
  }
};

void add_keep(std::vector<MaskRow>& rows, const Shape& shape) {
  const Broadcast values(shape);
  std::ostringstream name;
  name << "keep " << shape;
  rows.push_back({.name = name.str(),
                  .mask = [=](DType) { return Mask::keep(values.booleans()); },
                  .keep = [=](const Place& p) { return values.keeps(p); }});
}

}  // namespace

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Vector numbers(const Tensor& x) { return Tensor(x.array().cast(DType::f64)).to_vector<double>(); }

Vector row(const Vector& x, int64_t i, int64_t n) {
  return {x.begin() + i * n, x.begin() + (i + 1) * n};
}

std::vector<ScoreRow> score_rows() {
  Rng rng(7);
  const Additive additive(kWidth, 5, rng);
  const Bilinear bilinear(kWidth, rng);
  const Tensor sharpness = init::uniform({}, 0.3, 0.4, rng);
  const auto additive_value = [energy = numbers(additive.energy),
                               w = numbers(additive.query.weight), u = numbers(additive.key.weight),
                               b = numbers(additive.key.bias)](const Vector& q, const Vector& k) {
    double sum = 0;
    for (int64_t h = 0; h < 5; ++h)
      sum += energy[static_cast<size_t>(h)] *
             std::tanh(dot(row(w, h, kWidth), q) + dot(row(u, h, kWidth), k) +
                       b[static_cast<size_t>(h)]);
    return sum;
  };
  const auto bilinear_value = [w = numbers(bilinear.weight)](const Vector& q, const Vector& k) {
    double sum = 0;
    for (int64_t i = 0; i < kWidth; ++i)
      sum += q[static_cast<size_t>(i)] * dot(row(w, i, kWidth), k);
    return sum;
  };
  const auto distance_value = [s = numbers(sharpness)[0]](const Vector& q, const Vector& k) {
    return -s * (dot(q, q) - 2 * dot(q, k) + dot(k, k));
  };
  return {
      {"scaled dot", ScaledDot(),
       [](const Vector& q, const Vector& k) { return dot(q, k) / std::sqrt(3.0); }},
      {"temperature", ScaledDot{.temperature = 0.5},
       [](const Vector& q, const Vector& k) { return dot(q, k) / 0.5; }},
      {"dot", Dot(), dot},
      {"cosine", Cosine{.scale = 4},
       [](const Vector& q, const Vector& k) {
         return 4 * dot(q, k) / std::sqrt(dot(q, q) * dot(k, k));
       }},
      {"additive", additive, additive_value},
      {"bilinear", bilinear, bilinear_value},
      {"own module", Distance{sharpness}, distance_value},
      {"own function",
       [](const Tensor& q, const Tensor& k) { return matmul(tanh(q), transpose(k)); },
       [](Vector q, const Vector& k) {
         for (double& x : q) x = std::tanh(x);
         return dot(q, k);
       }},
  };
}

std::vector<MaskRow> mask_rows() {
  std::vector<MaskRow> rows = {{.name = "none", .mask = [](DType) { return Mask(); }}};
  for (const Shape& shape :
       {Shape{kQueries, kKeys}, Shape{1, kKeys}, Shape{kQueries, 1}, Shape{1, 1},
        Shape{kBatch, kQueries, kKeys}, Shape{kBatch, 1, kKeys}, Shape{1, kQueries, kKeys},
        Shape{kBatch, kHeads, kQueries, kKeys}, Shape{1, kHeads, kQueries, kKeys},
        Shape{kBatch, 1, 1, kKeys}, Shape{kBatch, 1, kQueries, 1}})
    add_keep(rows, shape);
  const Broadcast all({kBatch, kHeads, kQueries, kKeys}), some({kQueries, kKeys});
  const auto past = [](const Place& p) { return p.s <= p.t + kKeys - kQueries; };
  const auto short_of = [](const Place& p) { return p.s < (p.b == 0 ? 3 : 0); };
  const auto padding = [] { return Mask::padding(std::vector<int64_t>{3, 0}); };
  const auto bias = [some](DType dtype) {
    return Mask::bias(from_values(some.shape, some.numbers, dtype));
  };
  const auto added = [some](const Place& p) { return some.at(p); };
  rows.push_back({.name = "drop",
                  .mask = [=](DType) { return Mask::drop(all.booleans()); },
                  .keep = [=](const Place& p) { return !all.keeps(p); }});
  rows.push_back({.name = "causal", .mask = [](DType) { return Mask::causal(); }, .keep = past});
  rows.push_back({.name = "padding", .mask = [=](DType) { return padding(); }, .keep = short_of});
  rows.push_back({.name = "bias", .mask = bias, .bias = added});
  rows.push_back({.name = "bias of -inf",
                  .mask =
                      [=](DType dtype) {
                        return Mask::bias(masked_fill(zeros(all.shape, dtype),
                                                      logical_not(all.booleans()), -kInf));
                      },
                  .bias = [=](const Place& p) { return all.keeps(p) ? 0 : -kInf; }});
  rows.push_back({.name = "causal & padding",
                  .mask = [=](DType) { return Mask::causal() & padding(); },
                  .keep = [=](const Place& p) { return past(p) && short_of(p); }});
  rows.push_back(
      {.name = "causal & keep & bias",
       .mask =
           [=](DType dtype) { return Mask::causal() & Mask::keep(all.booleans()) & bias(dtype); },
       .keep = [=](const Place& p) { return past(p) && all.keeps(p); },
       .bias = added});
  return rows;
}

}  // namespace attograd::nn

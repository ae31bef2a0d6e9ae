#include <cmath>
#include <limits>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>

namespace attograd::op_cases {
namespace {

using In = std::vector<Numbers>;

/// What the naive twin adds to the score of query i and key j; -inf hides the key.
using Score = double (*)(const In& x, int b, int h, int i, int j);

Numbers naive_attention(const In& x, double scale, Score extra) {
  const Numbers &q = x[0], &k = x[1], &v = x[2];
  Numbers y({q.shape[0], q.shape[1], q.shape[2], v.shape[3]});
  for (int b = 0; b < q.shape[0]; ++b)
    for (int h = 0; h < q.shape[1]; ++h)
      for (int i = 0; i < q.shape[2]; ++i) {
        std::vector<double> weight;
        double z = 0;
        for (int j = 0; j < k.shape[2]; ++j) {
          double score = 0;
          for (int d = 0; d < q.shape[3]; ++d) score += scale * q(b, h, i, d) * k(b, h, j, d);
          weight.push_back(std::exp(score + extra(x, b, h, i, j)));
          z += weight.back();
        }
        for (int j = 0; j < k.shape[2] && z > 0; ++j)
          for (int d = 0; d < v.shape[3]; ++d)
            y(b, h, i, d) += weight[static_cast<size_t>(j)] / z * v(b, h, j, d);
      }
  return y;
}

constexpr double kHidden = -std::numeric_limits<double>::infinity();

double nothing(const In&, int, int, int, int) { return 0; }
double future(const In& x, int, int, int i, int j) {
  return j <= i + x[1].shape[2] - x[0].shape[2] ? 0 : kHidden;
}
double dropped(const In& x, int, int, int i, int j) { return x[3](i, j) != 0 ? 0 : kHidden; }
double padding(const In&, int b, int, int, int j) { return j < (b == 0 ? 3 : 0) ? 0 : kHidden; }

struct Row {
  std::string label;
  int64_t queries, keys;
  std::function<Mask(const Tensors& x)> mask;
  Score extra;
  std::vector<Input> more = {};
  std::vector<Input> large = {};
};

std::vector<Input> heads(int64_t batch, int64_t queries, int64_t keys) {
  return {normal({batch, 2, queries, 4}), normal({batch, 2, keys, 4}), normal({batch, 2, keys, 3})};
}

void add_row(Table& t, const Row& row) {
  std::vector<Input> inputs = heads(2, row.queries, row.keys);
  inputs.insert(inputs.end(), row.more.begin(), row.more.end());
  t.cases.push_back(
      {.op = "attention",
       .label = row.label,
       .inputs = inputs,
       .call = [mask = row.mask](
                   const Tensors& x) { return attention(x[0], x[1], x[2], {.mask = mask(x)}); },
       .naive = [extra = row.extra](
                    const In& x) { return naive_attention(x, 1 / std::sqrt(4.0), extra); },
       .large = row.large});
}

void add_masks(Table& t) {
  const auto none = [](const Tensors&) { return Mask(); };
  const auto causal = [](const Tensors&) { return Mask::causal(); };
  const auto keep = [](const Tensors& x) { return Mask::keep(x[3]); };
  const Input some = mask({3, 5}, {true, false, true, true, false,     //
                                   false, false, false, false, false,  //
                                   false, true, false, false, false});
  add_row(t, {"", 3, 5, none, nothing, {}, heads(2, 130, 131)});
  add_row(t, {"of one query", 1, 5, none, nothing});
  add_row(t, {"to no keys", 3, 0, none, nothing});
  add_row(t, {"of no queries", 0, 3, none, nothing});
  add_row(t, {"causal", 4, 4, causal, future, {}, heads(2, 130, 130)});
  add_row(t, {"causal with fewer queries", 2, 5, causal, future});
  add_row(t, {"causal with fewer keys", 5, 3, causal, future});
  add_row(t, {"with a mask", 3, 5, keep, dropped, {some}});
  add_row(t, {"with a dropping mask",
              3,
              5,
              [](const Tensors& x) { return Mask::drop(logical_not(x[3])); },
              dropped,
              {some}});
  add_row(t, {"causal with a mask",
              3,
              5,
              [](const Tensors& x) { return Mask::keep(x[3]) & Mask::causal(); },
              [](const In& x, int b, int h, int i, int j) {
                return dropped(x, b, h, i, j) + future(x, b, h, i, j);
              },
              {some}});
  add_row(t, {"with padding", 3, 5, [](const Tensors&) { return Mask::padding({3, 0}); }, padding});
  add_row(t, {"causal with padding", 5, 5,
              [](const Tensors&) {
                return Mask::causal() & Mask::padding({3, 0});
              },
              [](const In& x, int b, int h, int i, int j) {
                return padding(x, b, h, i, j) + future(x, b, h, i, j);
              }});
  add_row(
      t, {"with a mask for each head",
          3,
          4,
          keep,
          [](const In& x, int, int h, int i, int j) { return x[3](0, h, i, j) != 0 ? 0 : kHidden; },
          {mask({1, 2, 3, 4})}});
  add_row(t,
          {"with a mask for each sequence",
           3,
           4,
           keep,
           [](const In& x, int b, int, int i, int j) { return x[3](b, i, j) != 0 ? 0 : kHidden; },
           {mask({2, 3, 4})}});
  add_row(t, {"with a bias",
              3,
              4,
              [](const Tensors& x) { return Mask::bias(x[3]); },
              [](const In& x, int, int h, int i, int j) { return x[3](0, h, i, j); },
              {normal({1, 2, 3, 4})}});
  add_row(t, {"causal with a bias",
              4,
              3,
              [](const Tensors& x) { return Mask::bias(x[3]) & Mask::causal(); },
              [](const In& x, int b, int h, int i, int j) {
                return x[3](i, j) + future(x, b, h, i, j);
              },
              {normal({4, 3})}});
}

void add_others(Table& t) {
  t.cases.push_back(
      {.op = "attention",
       .label = "with a scale",
       .inputs = heads(1, 3, 4),
       .call = [](const Tensors& x) { return attention(x[0], x[1], x[2], {.scale = 0.25}); },
       .naive = [](const In& x) { return naive_attention(x, 0.25, nothing); }});
  t.cases.push_back(
      {.op = "attention",
       .label = "of heads side by side",
       .inputs = {normal({2, 3, 2, 4}), normal({2, 5, 2, 4}), normal({2, 5, 2, 3})},
       .call = [](const Tensors& x) {
         const auto heads_first = [](const Tensor& rows) { return transpose(rows, 1, 2); };
         return heads_first(attention(heads_first(x[0]), heads_first(x[1]), heads_first(x[2])));
       }});
  t.cases.push_back({.op = "attention",
                     .label = "weights",
                     .inputs = {normal({2, 2, 3, 4}), normal({2, 2, 5, 4})},
                     .call = [](const Tensors& x) { return attention_weights(x[0], x[1]); }});
  t.cases.push_back({.op = "attention",
                     .label = "weights under a mask",
                     .inputs = {normal({2, 2, 4, 4}), normal({2, 2, 3, 4})},
                     .call = [](const Tensors& x) {
                       return attention_weights(x[0], x[1], {.mask = Mask::causal()});
                     }});
}

void add_errors(Table& t) {
  const auto refuse = [&](auto error, const Shape& q, const Shape& k, const Tensor& v,
                          const AttentionOptions& options, std::string message) {
    t.errors.push_back(refuses<decltype(error)>(
        "attention", [=] { attention(zeros(q), zeros(k), v, options); }, std::move(message)));
  };
  refuse(
      ShapeError(""), {1, 2, 3, 4}, {1, 2, 5, 6}, zeros({1, 2, 5, 4}), {},
      "attention: q must be [B, H, T, D] and k [B, H, S, D], got q = f32[1, 2, 3, 4], k = f32[1, "
      "2, 5, 6]");
  refuse(
      ShapeError(""), {2, 3, 4}, {2, 5, 4}, zeros({2, 5, 4}), {},
      "attention: q must be [B, H, T, D] and k [B, H, S, D], got q = f32[2, 3, 4], k = f32[2, 5, "
      "4]");
  refuse(ShapeError(""), {1, 2, 3, 4}, {1, 2, 5, 4}, zeros({1, 2, 6, 4}), {},
         "attention: v must be [B, H, S, Dv], one vector for every key, got k = f32[1, 2, 5, 4], v "
         "= f32[1, 2, 6, 4]");
  refuse(DTypeError(""), {1, 2, 3, 4}, {1, 2, 5, 4}, zeros({1, 2, 5, 4}, DType::f64), {},
         "attention: q, k and v must all be f32 or all f64, got k = f32[1, 2, 5, 4], v = f64[1, 2, "
         "5, 4]");
  refuse(ValueError(""), {1, 2, 3, 4}, {1, 2, 5, 4}, zeros({1, 2, 5, 4}),
         {.scale = std::numeric_limits<double>::quiet_NaN()},
         "attention: scale must be finite, got nan");
  refuse(ShapeError(""), {1, 2, 3, 4}, {1, 2, 5, 4}, zeros({1, 2, 5, 4}),
         {.mask = Mask::keep(full({4, 5}, 1, DType::boolean))},
         "attention: a mask must fit the scores [B, H, T, S] = [1, 2, 3, 5] (or have 1 for an "
         "axis), got bool[1, 1, 4, 5]; rank 3 has the batch first: a mask for each head is [1, H, "
         "T, S]");
  refuse(DTypeError(""), {1, 2, 3, 4}, {1, 2, 5, 4}, zeros({1, 2, 5, 4}),
         {.mask = Mask::bias(zeros({3, 5}, DType::f64))},
         "attention: the mask's bias must have the dtype of the scores, got bias = f64, scores = "
         "f32[1, 2, 3, 5]");
}

}  // namespace

void add_attention(Table& t) {
  add_masks(t);
  add_others(t);
  add_errors(t);
}

}  // namespace attograd::op_cases

#include <limits>

#include <tests/close.h>

#include <attograd/core/gradcheck.h>
#include <attograd/core/random.h>
#include <attograd/nn/losses.h>

using namespace attograd;
using nn::bce_with_logits, nn::kl_divergence, nn::mse_loss;

// Right values by PyTorch 1.13 in float64.

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// k / 4 - 1 for k = 1, 2 ..., or 1 for a scalar.
Tensor seed_of(const Tensor& y) {
  if (y.rank() == 0) return ones_like(y);
  std::vector<double> g(static_cast<size_t>(y.numel()));
  for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<double>(i + 1) / 4 - 1;
  return from_values(y.shape(), g, y.dtype());
}

using Values = std::vector<double>;
using Loss = std::function<Tensor(const Tensors&)>;

/// The value and gradients of a loss of leaves, in f32 and f64, recorded or not.
void check_loss(const Loss& loss, const std::vector<std::pair<Shape, Values>>& inputs,
                const Values& value, const std::vector<Values>& gradients) {
  for (const DType dtype : kFloating) {
    Tensors x;
    for (const auto& [shape, values] : inputs) x.push_back(leaf(shape, values, dtype));
    const Tensor y = loss(x);
    check_close(y, value);
    for (const bool recorded : {false, true}) {
      const Tensors g = pulled_back(y, seed_of(y), x, recorded);
      for (size_t i = 0; i < gradients.size(); ++i) check_close(g[i], gradients[i]);
    }
  }
}

const std::pair<Shape, Values> kX{{2, 3}, {0.5, -1.25, 2, -0.75, 3, 0.25}};
const std::pair<Shape, Values> kNumbers{{2, 3}, {1.5, 0.5, -1, 0.25, 2, 0.125}};
const std::pair<Shape, Values> kAnswers{{2, 3}, {1, 0, 0.25, 0, 1, 0.5}};
const std::pair<Shape, Values> kWeights{{3}, {2, 0.5, 3}};
const std::pair<Shape, Values> kLogP{{2, 3},
                                     {-1.7326219831, -3.4826219831, -0.232621983102, -3.83383146624,
                                      -0.0838314662358, -2.83383146624}};
const std::pair<Shape, Values> kP{{2, 3}, {0.5, 0.25, 0.25, 0.125, 0.75, 0.125}};

}  // namespace

TEST_CASE("mse_loss is the squared distance with its gradients as in PyTorch") {
  const auto mse = [](Reduction reduction) {
    return [=](const Tensors& x) { return mse_loss(x[0], x[1], reduction); };
  };
  check_loss(
      mse(Reduction::mean), {kX, kNumbers}, {2.51302083333},
      {{-0.333333333333, -0.583333333333, 1.0, -0.333333333333, 0.333333333333, 0.0416666666667},
       {0.333333333333, 0.583333333333, -1.0, 0.333333333333, -0.333333333333, -0.0416666666667}});
  check_loss(mse(Reduction::sum), {kX, kNumbers}, {15.078125},
             {{-2, -3.5, 6, -2, 2, 0.25}, {2, 3.5, -6, 2, -2, -0.25}});
  check_loss(mse(Reduction::none), {kX, kNumbers}, {1, 3.0625, 9, 1, 1, 0.015625},
             {{1.5, 1.75, -1.5, 0, 0.5, 0.125}, {-1.5, -1.75, 1.5, 0, -0.5, -0.125}});
  CHECK_EQ(mse_loss(tensor({1, 2}), tensor({1, 4})).item(), 2);
}

TEST_CASE("bce_with_logits is the cross entropy of a yes as in PyTorch") {
  const auto bce = [](Reduction reduction) {
    return [=](const Tensors& x) { return bce_with_logits(x[0], x[1], {reduction}); };
  };
  check_loss(bce(Reduction::mean), {kX, kAnswers}, {0.581555309023},
             {{-0.0629234447997, 0.0371166898042, 0.10513284633, 0.0534702168041, -0.00790431219626,
               0.0103627501476}});
  check_loss(bce(Reduction::sum), {kX, kAnswers}, {3.48933185414},
             {{-0.377540668798, 0.222700138825, 0.630797077978, 0.320821300825, -0.0474258731776,
               0.0621765008858}});
  check_loss(
      bce(Reduction::none), {kX, kAnswers},
      {0.47407698418, 0.251929081345, 1.62692801104, 0.386871006115, 0.0485873515737,
       0.700939419879},
      {{0.283155501599, -0.111350069413, -0.157699269494, 0, -0.0118564682944, 0.0310882504429}});
}

TEST_CASE("pos_weight multiplies the positive part along the last axis as in PyTorch") {
  const auto weighted = [](Reduction reduction) {
    return [=](const Tensors& x) { return bce_with_logits(x[0], x[1], {reduction, x[2]}); };
  };
  check_loss(weighted(Reduction::mean), {kX, kAnswers, kWeights}, {0.763086431322},
             {{-0.125846889599, 0.0371166898042, 0.0951992694945, 0.0534702168041,
               -0.00395215609813, -0.0626078330381},
              {-0.00432050263665, 0.0831725765546, -0.291023996319, 0.314478501019, -0.504048945964,
               0.15031313996},
              {0.0790128306967, 0.00809789192896, 0.0532836187834}});
  check_loss(
      weighted(Reduction::none), {kX, kAnswers, kWeights},
      {0.94815396836, 0.251929081345, 1.69039201656, 0.386871006115, 0.0242936757869,
       1.27687883976},
      {{0.566311003197, -0.111350069413, -0.142798904242, 0, -0.0059282341472, -0.187823499114}});
  const Tensor x = tensor({{0.5, -1}, {2, 0}}), t = tensor({{1, 0.5}, {0, 1}});
  CHECK_EQ(bce_with_logits(x, t, {.pos_weight = tensor(2)}).item(),
           bce_with_logits(x, t, {.pos_weight = tensor({2, 2})}).item());
}

TEST_CASE("bce_with_logits of extreme logits is exact") {
  for (const DType dtype : kFloating)
    for (const double size : {1e4, 3e38})
      for (const double target : {0., 0.25, 1.}) {
        CAPTURE(target);
        const auto check_at = [&](double logit, double value, double slope) {
          const Tensor x = tensor(logit, dtype).set_requires_grad();
          const Tensor y = bce_with_logits(x, tensor(target, dtype));
          const double right = tensor(value, dtype).item();
          CHECK_EQ(y.item(), right);
          for (const bool recorded : {false, true})
            CHECK_EQ(pulled_back(y, ones_like(y), {x}, recorded)[0].item(), slope);
        };
        check_at(size, (1 - target) * tensor(size, dtype).item(), 1 - target);
        check_at(-size, target * tensor(size, dtype).item(), -target);
      }
}

TEST_CASE("bce_with_logits of sure and right logits does not cancel to 0") {
  // log(1 + e^-20) = 2.06115362031e-9
  for (const DType dtype : kFloating) {
    check_close(bce_with_logits(tensor(20, dtype), tensor(1, dtype)), {2.06115362031e-9});
    check_close(bce_with_logits(tensor(-20, dtype), tensor(0, dtype)), {2.06115362031e-9});
  }
}

TEST_CASE("kl_divergence is that of the target from the prediction as in PyTorch") {
  const auto kl = [](Reduction reduction) {
    return [=](const Tensors& x) { return kl_divergence(x[0], x[1], reduction); };
  };
  check_loss(kl(Reduction::mean), {kLogP, kP}, {0.45805536937},
             {{-0.25, -0.125, -0.125, -0.0625, -0.375, -0.0625},
              {1.01973740127, 1.54816381099, -0.0768361890089, 1.37719496228, 0.398074696892,
               0.877194962278}});
  check_loss(kl(Reduction::sum), {kLogP, kP}, {0.916110738739},
             {{-0.5, -0.25, -0.25, -0.125, -0.75, -0.125},
              {2.03947480254, 3.09632762198, -0.153672378018, 2.75438992456, 0.796149393784,
               1.75438992456}});
  // Over rows, a [2] with the cotangent [-3/4, -1/2].
  check_loss(kl(Reduction::none), {kLogP, kP}, {0.755401212262, 0.160709526477},
             {{0.375, 0.1875, 0.1875, 0.0625, 0.375, 0.0625},
              {-1.52960610191, -2.32224571649, 0.115254283513, -1.37719496228, -0.398074696892,
               -0.877194962278}});
  for (const DType dtype : kFloating) {
    const Tensor x = from_values({2, 3}, kX.second, dtype);
    check_close(kl_divergence(log_softmax(x), from_values({2, 3}, kP.second, dtype)),
                {0.45805536937});
    check_close(kl_divergence(log_softmax(x), softmax(x)) + 1, {1});  // of equals: 0
  }
}

TEST_CASE("a target probability of 0 contributes nothing to kl_divergence") {
  const Values p{1, 0, 0, 0, 0.75, 0.25};
  for (const DType dtype : kFloating)
    for (const bool recorded : {false, true}) {
      // Where the target is 0 the prediction may be anything.
      Values log_p = kLogP.second;
      log_p[1] = -kInf;
      log_p[2] = std::numeric_limits<double>::quiet_NaN();
      const Tensor x = leaf({2, 3}, log_p, dtype);
      const Tensor t = leaf({2, 3}, p, dtype);
      const Tensor y = kl_divergence(x, t, Reduction::none);
      check_close(y, {1.7326219831, 0.208996321617});
      const Tensors g = pulled_back(y, seed_of(y), {x, t}, recorded);
      check_close(g[0], {0.75, 0, 0, 0, 0.375, 0.125});
      // log t + 1 - log p, times -3/4 or -1/2
      check_close(g[1], {-2.04946648733, 0, 0, 0, -0.398074696892, -1.223768552677});
    }
}

TEST_CASE("kl_divergence from what the prediction holds impossible is infinite") {
  const Tensor x = tensor({0, -kInf}).set_requires_grad();
  const Tensor y = kl_divergence(x, tensor({0.5, 0.5}));
  CHECK_EQ(y.item(), kInf);
  check_close(grad({y}, {x})[0], {-0.5, -0.5});
}

TEST_CASE("losses have exact gradients of both orders") {
  Rng rng(4);
  const auto normal = [&] { return randn({2, 3}, rng, DType::f64).set_requires_grad(); };
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    const auto mse = [=](const Tensors& x) { return mse_loss(x[0], x[1], reduction); };
    const auto bce = [=](const Tensors& x) {
      return bce_with_logits(x[0], sigmoid(x[1]), {reduction, exp(select(x[2], 0, 0))});
    };
    const auto kl = [=](const Tensors& x) {
      return kl_divergence(log_softmax(x[0]), softmax(x[1]), reduction);
    };
    for (const TensorFunction& f : {TensorFunction(mse), TensorFunction(bce), TensorFunction(kl)}) {
      const Tensors x{normal(), normal(), normal()};
      const GradcheckReport first = gradcheck(f, x, {.allow_unused = true});
      CHECK_MESSAGE(first.ok(), first);
      const GradcheckReport second = gradgradcheck(f, x, {.allow_unused = true});
      CHECK_MESSAGE(second.ok(), second);
    }
  }
}

TEST_CASE("a loss over nothing is 0 with an empty gradient") {
  const Tensor x = zeros({0, 3}).set_requires_grad(), t = zeros({0, 3});
  for (const Tensor& y : {mse_loss(x, t), bce_with_logits(x, t), kl_divergence(x, t)}) {
    CHECK_EQ(y.item(), 0);
    CHECK_EQ(grad({y}, {x})[0].shape(), Shape{0, 3});
  }
}

TEST_CASE("losses name what they cannot take") {
  const Tensor x = zeros({2, 3});
  CHECK_EQ(message_of<ShapeError>([&] { mse_loss(x, zeros({3})); }),
           "mse_loss: prediction and target must have one shape, got prediction = f32[2, 3], "
           "target = f32[3]; broadcast with expand if that is meant");
  CHECK_EQ(message_of<DTypeError>([&] {
             bce_with_logits(x, zeros({2, 3}, DType::i64));
           }),
           "bce_with_logits: logits and target must both be f32 or both f64, got logits = f32[2, "
           "3], target = i64[2, 3]; convert with cast(x, DType::f32)");
  CHECK_EQ(message_of<ShapeError>([&] {
             kl_divergence(x, zeros({2, 1}));
           }),
           "kl_divergence: log_p and target must have one shape, got log_p = f32[2, 3], target = "
           "f32[2, 1]; broadcast with expand if that is meant");
  CHECK_EQ(message_of<ShapeError>([&] { kl_divergence(zeros({}), zeros({})); }),
           "kl_divergence: log_p and target must be [..., V], got both f32[]");
  CHECK_EQ(message_of<ShapeError>([&] { bce_with_logits(x, x, {.pos_weight = ones({2})}); }),
           "bce_with_logits: pos_weight must be [] or [C], got pos_weight = f32[2], logits = "
           "f32[2, 3]");
  CHECK_THROWS_AS(bce_with_logits(x, x, {.pos_weight = ones({3}, DType::f64)}), DTypeError);
  CHECK_THROWS_AS(bce_with_logits(x, x, {.pos_weight = ones({2, 3})}), ShapeError);
}

TEST_CASE("a number that is no reduction is an error of every loss") {
  const auto seven = static_cast<Reduction>(7);
  const Tensor x = zeros({2, 3});
  CHECK_EQ(message_of<ValueError>([&] { mse_loss(x, x, seven); }),
           "mse_loss: no such reduction, got 7");
  CHECK_EQ(message_of<ValueError>([&] { bce_with_logits(x, x, {seven}); }),
           "bce_with_logits: no such reduction, got 7");
  CHECK_EQ(message_of<ValueError>([&] { kl_divergence(x, x, seven); }),
           "kl_divergence: no such reduction, got 7");
}

TEST_CASE("a mean of large losses does not overflow") {
  const Tensor zero = zeros({1000});
  CHECK(mse_loss(full({1000}, 5e18), zero).item() == doctest::Approx(2.5e37));
  CHECK(bce_with_logits(full({2}, 3e38), zeros({2})).item() == doctest::Approx(3e38));
}

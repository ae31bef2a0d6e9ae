// Layer norm, and dropout.

#include <limits>

#include <tests/close.h>

#include <attograd/nn/dropout.h>
#include <attograd/nn/layer_norm.h>
#include <attograd/nn/rms_norm.h>

using namespace attograd;

TEST_CASE("LNM-01 a large mean does not cancel the variance") {
  const std::vector<double> right = {-1.18321325214, -0.507091393772, 0.169030464591,
                                     1.52127418132};
  for (const double sign : {1.0, -1.0}) {
    const Tensor x =
        leaf({4}, {sign * 65536, sign * 65537, sign * 65538, sign * 65540}, DType::f32);
    const Tensor y = layer_norm(x, ones({4}), zeros({4}));
    std::vector<double> signed_right = right;
    for (double& v : signed_right) v *= sign;
    check_close(y, signed_right);
    CHECK(all_finite(pulled_back(y, tensor({1, 2, 3, 4}), {x}, false)[0]));
  }
}

TEST_CASE("LNM-03 equal numbers have a large but finite gradient") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({4}, {3, 3, 3, 3}, dtype), w = leaf({4}, {1, 1, 1, 1}, dtype),
                 b = leaf({4}, {0.5, 0.5, 0.5, 0.5}, dtype);
    const Tensor y = layer_norm(x, w, b);
    check_close(y, {0.5, 0.5, 0.5, 0.5});
    for (const bool recorded : {false, true}) {
      const Tensors g = pulled_back(y, tensor({1, 2, 3, 4}, dtype), {x, w, b}, recorded);
      check_close(g[0], {-474.341649025, -158.113883008, 158.113883008, 474.341649025});
      check_close(g[1], {0, 0, 0, 0});
      check_close(g[2], {1, 2, 3, 4});
    }
  }
}

TEST_CASE("LNM-03 an eps of 0 is refused by name where it is given") {
  const std::string rule = " eps must be > 0 and finite, got 0";
  const Tensor x = full({4}, 3, DType::f64);
  CHECK_EQ(message_of<ValueError>([&] { layer_norm(x, {}, {}, 0); }), "layer_norm:" + rule);
  CHECK_EQ(message_of<ValueError>([&] { rms_norm(x, {}, 0); }), "rms_norm:" + rule);
  CHECK_EQ(message_of<ValueError>([&] { nn::RMSNorm(4, {.eps = 0}); }), "RMSNorm:" + rule);
  CHECK_EQ(message_of<ValueError>([&] { nn::LayerNorm(4, {.eps = 0}); }), "LayerNorm:" + rule);
}

TEST_CASE("LNM-04 one number is exactly its bias") {
  for (const DType dtype : kFloating) {
    const Tensor x = leaf({2, 1}, {-3, 8}, dtype), w = leaf({1}, {1e10}, dtype),
                 b = leaf({1}, {-1}, dtype);
    const Tensor y = layer_norm(x, w, b, 0.1);
    CHECK_EQ(values_of(cast(y, DType::f64)), std::vector<double>{-1, -1});
    for (const bool recorded : {false, true}) {
      const Tensors g = pulled_back(y, from_values({2, 1}, {2, 5}, dtype), {x, w, b}, recorded);
      check_close(g[0], {0, 0});
      check_close(g[1], {0});
      check_close(g[2], {7});
    }
  }
}

TEST_CASE("LNM-05 the variance is biased and eps stands inside the root") {
  for (const DType dtype : kFloating)
    check_close(layer_norm(tensor({1, 2, 4}, dtype), {}, {}, 0.5),
                {-0.929981109951, -0.232495277488, 1.16247638744});
}

TEST_CASE("DRP-01 dropout with probability 1 gives zeros and with 0 nothing but x") {
  for (const DType dtype : kFloating) {
    Rng rng(1);
    const Tensor x = leaf({2}, {2, -3}, dtype);
    for (const bool recorded : {false, true}) {
      const Tensor all = nn::Dropout(1)(x, &rng), none = nn::Dropout(0)(x, &rng);
      check_close(all, {0, 0});
      check_close(pulled_back(all, ones({2}, dtype), {x}, recorded)[0], {0, 0});
      check_close(none, {2, -3});
      check_close(pulled_back(none, ones({2}, dtype), {x}, recorded)[0], {1, 1});
    }
  }
}

TEST_CASE("DRP-01 what is no probability is refused where it is given") {
  Rng rng(1);
  for (const double p : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    std::ostringstream rule;
    rule << "must be in [0, 1], got " << p;
    const auto names_it = [&](const std::string& text) {
      return text.find(rule.str()) != std::string::npos;
    };
    CHECK(names_it(message_of<ValueError>([&] { nn::Dropout{p}; })));
    for (Rng* generator : {&rng, static_cast<Rng*>(nullptr)})
      CHECK(names_it(message_of<ValueError>([&] { dropout(zeros({2}), p, generator); })));
  }
}

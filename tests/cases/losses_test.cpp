#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/ops.h>
#include <attograd/nn/losses.h>

using namespace attograd;

TEST_CASE("CEL-06 no loss broadcasts its prediction against its target") {
  const Tensor prediction = unsqueeze(tensor({1, 3}), 1), target = tensor({1, 3});  // [2, 1], [2]
  CHECK_THROWS_AS(nn::mse_loss(prediction, target), ShapeError);
  CHECK_THROWS_AS(nn::bce_with_logits(prediction, target), ShapeError);
  CHECK_THROWS_AS(nn::kl_divergence(prediction, target), ShapeError);
  CHECK(nn::mse_loss(squeeze(prediction, -1), target).item() == 0);
  CHECK_THROWS_AS(cross_entropy(zeros({4, 5}), zeros({3}, DType::i64)), ShapeError);
  CHECK_THROWS_AS(cross_entropy(zeros({4, 5}), zeros({4, 1}, DType::i64)), ShapeError);
}

#include <sstream>

#include <tests/close.h>

using namespace attograd;

namespace {

using Flags = std::vector<bool>;

Tensor booleans(const Shape& shape, const Flags& values) { return from_values(shape, values); }

/// What the mask keeps of scores [B, H, T, S], written out.
Flags kept(const Mask& mask, const Shape& scores) {
  return expand(mask.kept(scores, "test"), scores).to_vector<bool>();
}

std::string printed(const Mask& mask) {
  std::ostringstream text;
  text << mask;
  return text.str();
}

}  // namespace

TEST_CASE("a default mask hides nothing and adds nothing") {
  const Mask mask;
  CHECK_FALSE(mask.kept({1, 1, 2, 2}, "test").defined());
  CHECK_FALSE(mask.added({1, 1, 2, 2}, "test").defined());
  CHECK_FALSE(mask.is_causal());
}

TEST_CASE("keep and drop are each other's opposite") {
  const Flags flags = {true, false, true, true};
  CHECK_EQ(kept(Mask::keep(booleans({2, 2}, flags)), {1, 1, 2, 2}), flags);
  CHECK_EQ(kept(Mask::drop(booleans({2, 2}, flags)), {1, 1, 2, 2}),
           Flags{false, true, false, false});
}

TEST_CASE("a mask of rank 3 has the batch first") {
  const Tensor first_sequence_only = booleans({2, 1, 1}, {true, false});
  CHECK_EQ(kept(Mask::keep(first_sequence_only), {2, 2, 1, 1}), Flags{true, true, false, false});
  const Tensor first_head_only = booleans({1, 2, 1, 1}, {true, false});
  CHECK_EQ(kept(Mask::keep(first_head_only), {2, 2, 1, 1}), Flags{true, false, true, false});
}

TEST_CASE("the causal mask is aligned at the last query and key") {
  CHECK_EQ(kept(Mask::causal(), {1, 1, 2, 3}), Flags{true, true, false, true, true, true});
  CHECK_EQ(kept(Mask::causal(), {1, 1, 3, 2}), Flags{false, false, true, false, true, true});
  CHECK_FALSE(Mask::causal().kept_without_causal({1, 1, 2, 3}, "test").defined());
}

TEST_CASE("padding keeps the first keys of each sequence") {
  CHECK_EQ(kept(Mask::padding({2, 0}), {2, 1, 1, 3}),
           Flags{true, true, false, false, false, false});
  CHECK_EQ(kept(Mask::padding({2}), {2, 1, 1, 3}), Flags{true, true, false, true, true, false});
}

TEST_CASE("masks compose in any order") {
  const Tensor flags = booleans({2, 3}, {true, false, true, false, true, true});
  const Tensor others = booleans({1, 3}, {true, true, false});
  const Flags right = {true, false, false, false, true, false};
  CHECK_EQ(kept(Mask::keep(flags) & Mask::keep(others), {1, 1, 2, 3}), right);
  CHECK_EQ(kept(Mask::keep(others) & Mask::keep(flags), {1, 1, 2, 3}), right);
  CHECK_EQ(kept(Mask::keep(flags) & Mask::padding({2}) & Mask(), {1, 1, 2, 3}), right);
  CHECK_EQ(kept(Mask::padding({3, 1}) & Mask::padding({2, 2}), {2, 1, 1, 3}),
           Flags{true, true, false, true, false, false});
  const Mask all = Mask::keep(flags) & Mask::causal() & Mask::padding({3}) &
                   Mask::bias(full({2, 3}, 1)) & Mask::bias(full({1, 3}, 2));
  CHECK_EQ(kept(all, {1, 1, 2, 3}), Flags{true, false, false, false, true, true});
  CHECK_EQ(all.added({1, 1, 2, 3}, "test").to_vector<float>(), std::vector<float>(6, 3));
  CHECK(all.is_causal());
}

TEST_CASE("a mask that does not fit says what it is and what it should fit") {
  const auto error_of = [](const Mask& mask, const Shape& scores) {
    return message_of<Error>([&] {
      mask.kept(scores, "attention");
      mask.added(scores, "attention");
    });
  };
  const std::string scores = "the scores [B, H, T, S] = [2, 4, 3, 3]";
  const std::string got = "attention: a mask must fit " + scores +
                          " (or have 1 for an axis), got bool[4, 1, 3, 3]; rank 3 has the batch "
                          "first: a mask for each head is [1, H, T, S]";
  CHECK_EQ(error_of(Mask::keep(full({4, 3, 3}, 1, DType::boolean)), {2, 4, 3, 3}), got);
  CHECK_EQ(error_of(Mask::bias(zeros({3, 4})), {2, 4, 3, 3}),
           "attention: a mask must fit " + scores +
               " (or have 1 for an axis), got f32[1, 1, 3, 4]; rank 3 has the batch first: a mask "
               "for each head is [1, H, T, S]");
  CHECK_EQ(error_of(Mask::padding({1, 2, 3}), {2, 4, 3, 3}),
           "attention: padding needs a length for each sequence of " + scores + ", got 3");
  CHECK_EQ(error_of(Mask::padding({1, 4}), {2, 4, 3, 3}),
           "attention: a length of Mask::padding must be at most S = 3, the number of keys, got 4");
}

TEST_CASE("masks refuse what they cannot mean") {
  CHECK_EQ(message_of<DTypeError>([] {
             Mask::keep(zeros({2, 2}));
           }),
           "Mask::keep: takes bool, got f32[2, 2]; compare first, as in x > 0; numbers to be added "
           "are Mask::bias");
  CHECK_EQ(message_of<DTypeError>([] {
             Mask::bias(full({2, 2}, 1, DType::boolean));
           }),
           "Mask::bias: takes f32 or f64, got bool[2, 2]; booleans are Mask::keep or Mask::drop");
  CHECK_EQ(message_of<ShapeError>([] { Mask::drop(full({2}, 1, DType::boolean)); }),
           "Mask::drop: a mask is [T, S], [B, T, S] or [B, H, T, S] (1 for any axis), got bool[2]; "
           "for sequences of different lengths: Mask::padding");
  CHECK_EQ(message_of<ValueError>([] {
             Mask::padding({2, -1});
           }),
           "Mask::padding: lengths must be >= 0, got -1");
  CHECK_EQ(message_of<DTypeError>([] { Mask::padding(zeros({2})); }),
           "Mask::padding: lengths must be i64, got f32[2]");
  CHECK_EQ(
      message_of<ShapeError>([] {
        Mask::keep(full({2, 2}, 1, DType::boolean)) & Mask::keep(full({3, 3}, 1, DType::boolean));
      }),
      "mask & mask: shapes must broadcast (aligned at the end: equal, or one of them 1), got "
      "[1, 1, 2, 2] and [1, 1, 3, 3]");
}

TEST_CASE("parts of a mask that do not fit each other are refused where they are composed") {
  const auto keep = [](const Shape& shape) { return Mask::keep(full(shape, 1, DType::boolean)); };
  CHECK_THROWS_WITH_AS(keep({2, 1, 5}) & Mask::padding({1, 2, 3}),
                       doctest::Contains("got [2, 1, 1, 5] and [3, 1, 1, 1]"), ShapeError);
  CHECK_THROWS_WITH_AS(keep({3, 5}) & Mask::bias(zeros({4, 5})),
                       doctest::Contains("got [1, 1, 3, 5] and [1, 1, 4, 5]"), ShapeError);
  CHECK_THROWS_WITH_AS(Mask::bias(zeros({1, 1})) & Mask::bias(zeros({1, 1}, DType::f64)),
                       "mask & mask: biases must both be f32 or both f64, got f32[1, 1, 1, 1] and "
                       "f64[1, 1, 1, 1]",
                       DTypeError);
  CHECK_NOTHROW(keep({2, 1, 5}) & Mask::padding({1, 2}) & Mask::bias(zeros({4, 1})));
}

TEST_CASE("a mask prints its parts and a picture") {
  CHECK_EQ(printed(Mask()), "mask: nothing is hidden");
  CHECK_EQ(printed(Mask::bias(zeros({2, 3}))), "mask: bias f32[1, 1, 2, 3]");
  CHECK_EQ(printed(Mask::causal()),
           "mask: causal\n"
           "#....\n"
           "##...\n"
           "###..\n"
           "####.\n"
           "#####");
  CHECK_EQ(printed(Mask::padding({2, 4})), "mask: padding [2, 4] i64[2]\n##..");
  CHECK_EQ(printed(Mask::keep(booleans({2, 3}, {true, false, true, false, true, true})) &
                   Mask::causal()),
           "mask: causal & keep bool[1, 1, 2, 3]\n"
           "#..\n"
           ".##");
  const std::string large = printed(Mask::keep(full({20, 70}, 1, DType::boolean)));
  CHECK_EQ(large.substr(0, 37), "mask: keep bool[1, 1, 20, 70]\n#######");
  CHECK_EQ(large.substr(large.size() - 16), "######## ...\n...");
}

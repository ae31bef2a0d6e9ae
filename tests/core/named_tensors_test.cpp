#include <string>

#include <doctest/doctest.h>

#include <attograd/core/create.h>
#include <attograd/core/named_tensors.h>

namespace attograd {
namespace {

std::string message_of(auto&& f) {
  try {
    f();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("a tensor with two names is listed once under the first") {
  const Tensor a = tensor({1, 2});
  const Tensor same = a;  // a handle
  const Tensor equal = tensor({1, 2});
  const NamedTensors once = distinct(NamedTensors{{"a", a}, {"b", equal}, {"c", same}});
  REQUIRE(once.size() == 2);
  CHECK(once[0].first == "a");
  CHECK(once[1].first == "b");
  CHECK(distinct(Tensors{a, equal, same, a}).size() == 2);
}

TEST_CASE("loading writes into the tensors themselves and converts between f32 and f64") {
  const Tensor a = zeros({2});
  const Tensor b = zeros({}, DType::f64);
  const LoadReport report =
      load({{"a", a}, {"b", b}}, {{"b", tensor(3.0)}, {"a", tensor({1, 2}, DType::f64)}});
  CHECK(report.missing.empty());
  CHECK(report.unexpected.empty());
  CHECK(a.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(b.item() == 3);
}

TEST_CASE("a strict load that fails lists all problems and writes nothing") {
  const Tensor a = zeros({2});
  const Tensor b = zeros({2, 3});
  const Tensor c = zeros({2});
  const NamedTensors model{{"a", a}, {"b", b}, {"c", c}};
  const NamedTensors file{{"a", ones({2})}, {"b", ones({3, 2})}, {"d", ones({1})}};
  CHECK(message_of([&] { load(model, file); }) ==
        "load: every tensor must have one of its name, shape and type, got\n"
        "  of another shape or type: b (f32[3, 2] for f32[2, 3])\n"
        "  missing: c\n"
        "  unexpected: d");
  CHECK(a.to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("a load that is not strict reports what it passed over") {
  const Tensor a = zeros({2});
  const Tensor c = zeros({2});
  const LoadReport report =
      load({{"a", a}, {"c", c}}, {{"a", ones({2})}, {"d", ones({1})}}, {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"c"});
  CHECK(report.unexpected == std::vector<std::string>{"d"});
  CHECK(a.to_vector<float>() == std::vector<float>{1, 1});
  CHECK(c.to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("another shape or type or a name listed twice is an error even if not strict") {
  const Tensor a = zeros({2, 3});
  const auto load_one = [&](const NamedTensors& file) {
    return message_of([&] { load({{"a", a}}, file, {.strict = false}); });
  };
  CHECK(load_one({{"a", ones({3, 2})}}).find("a (f32[3, 2] for f32[2, 3])") != std::string::npos);
  CHECK(load_one({{"a", zeros({2, 3}, DType::i64)}}).find("i64[2, 3]") != std::string::npos);
  CHECK(load_one({{"a", ones({2, 3})}, {"a", ones({2, 3})}}).find("listed twice: a") !=
        std::string::npos);
  CHECK(a.to_vector<float>() == std::vector<float>(6, 0));
}

TEST_CASE("load exchanges tensors that are each other's source") {
  const Tensor a = tensor({1, 2}, DType::f64);
  const Tensor b = tensor({3, 4}, DType::f64);
  load({{"a", a}, {"b", b}}, {{"a", b}, {"b", a}});
  CHECK(a.to_vector<double>() == std::vector<double>{3, 4});
  CHECK(b.to_vector<double>() == std::vector<double>{1, 2});
}

}  // namespace
}  // namespace attograd

#include <doctest/doctest.h>
#include <tests/exact.h>

#include <attograd/core/dot.h>

using namespace attograd;

TEST_CASE("a small graph is written out in full") {
  const Tensor x = tensor({1, 2}, DType::f64).set_requires_grad();
  const Tensor w = tensor({{1, 2}, {3, 4}}, DType::f64).set_requires_grad();
  const Tensor h = x * w;
  const Tensor y = sum(h * h + x);
  const std::string right =
      "digraph {\n"
      "  n0 [label=\"leaf\\nf64[2]\", shape=box];\n"
      "  n1 [label=\"layer.\\\"0\\\".\\\\w\\nf64[2, 2]\", shape=box];\n"
      "  n2 [label=\"mul\\nf64[2, 2]\"];\n"
      "  n0 -> n2;\n"
      "  n1 -> n2;\n"
      "  n3 [label=\"mul\\nf64[2, 2]\"];\n"
      "  n2 -> n3;\n"
      "  n2 -> n3;\n"
      "  n4 [label=\"add\\nf64[2, 2]\"];\n"
      "  n3 -> n4;\n"
      "  n0 -> n4;\n"
      "  n5 [label=\"sum\\nf64[]\"];\n"
      "  n4 -> n5;\n"
      "}\n";
  const NamedTensors names = {{"layer.\"0\".\\w", w}, {"unused", tensor(1)}};
  CHECK(to_dot(y, names) == right);
  CHECK(to_dot(y, names) == right);
  CHECK(to_dot(x, {{"x", x}}) == "digraph {\n  n0 [label=\"x\\nf64[2]\", shape=box];\n}\n");
}

TEST_CASE("names of any bytes and length are one short line of text") {
  const Tensor x = tensor(1, DType::f64).set_requires_grad();
  const auto label_of = [&](const std::string& name) {
    const std::string text = to_dot(x, {{name, x}}), before = "digraph {\n  n0 [label=\"";
    REQUIRE(text.starts_with(before));
    return text.substr(before.size(), text.find("\\nf64[]") - before.size());
  };
  CHECK(label_of(std::string("a\0b", 3)) == "a\\\\x00b");
  CHECK(label_of("\x1b[31m\t\r\x7f") == "\\\\x1b[31m\\\\x09\\\\x0d\\\\x7f");
  CHECK(label_of("a\nb\\") == "a\\nb\\\\");
  CHECK(label_of("\xc3\xa9") == "\xc3\xa9");
  CHECK(label_of(std::string(100, 'a')) == std::string(100, 'a'));
  CHECK(label_of(std::string(20'000, 'a')) == std::string(100, 'a') + "...");
  CHECK(label_of(std::string(99, 'a') + "\xc3\xa9") == std::string(99, 'a') + "...");
  CHECK(label_of(std::string(1000, '\x80')) == "...");
}

TEST_CASE("what was freed is marked and what has no graph is an error") {
  const Tensor x = tensor(2, DType::f64).set_requires_grad();
  const Tensor y = x * x;
  backward(y);
  CHECK(to_dot(y) == "digraph {\n  n0 [label=\"mul\\nf64[]\\nfreed\"];\n}\n");
  CHECK(message_of<GraphError>([] {
          to_dot(tensor({1, 2}));
        }) == "to_dot: nothing that f32[2] depends on requires gradients, so it has no graph");
}

TEST_CASE("a graph of any depth is written") {
  const Tensor x = tensor(1, DType::f64).set_requires_grad();
  Tensor y = x;
  constexpr int kDeep = 100'000;
  for (int i = 0; i < kDeep; ++i) y = y + x;
  const std::string text = to_dot(y);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2 + 1 + 3 * kDeep);
}

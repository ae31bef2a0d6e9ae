#include <iomanip>

#include <attograd/core/graph.h>
#include <attograd/core/tensor.h>

namespace attograd {

Tensor::Tensor(Array array, std::shared_ptr<Node> node)
    : value_(array.defined() ? std::make_shared<Value>(Value{std::move(array), std::move(node)})
                             : nullptr) {}

const Array& Tensor::array() const {
  check<GraphError>(
      defined(),
      "tensor: has no value; it was default-constructed, moved from, or is a gradient that "
      "does not exist");
  return value_->array;
}

Array& Tensor::writable() {
  for (int axis = 0; axis < rank(); ++axis)
    check<ShapeError>(shape()[axis] <= 1 || array().strides()[axis] != 0,
                      "mutable_data: several elements of the expanded ", signature(*this),
                      " share one place in memory; write to a copy");
  return value_->array;
}

double Tensor::item() const {
  check<ShapeError>(numel() == 1, "item: needs exactly one element, got ", signature(*this));
  return dispatch("item", dtype(), [&]<class T>() { return static_cast<double>(*data<T>()); });
}

void Tensor::assign(const Tensor& source) {
  check<DTypeError>(dtype() != DType::i64 || !is_floating(source.dtype()),
                    "assign: i64 does not hold every ", source.dtype(),
                    "; convert with cast(x, DType::i64)");
  attograd::assign(writable(), source.array());
}

Tensor& Tensor::set_requires_grad(bool on) {
  check<DTypeError>(!on || is_floating(dtype()), "set_requires_grad: needs f32 or f64, got ",
                    signature(*this));
  if (on == requires_grad()) return *this;
  check<GraphError>(on || node()->is_leaf(), "set_requires_grad: cannot be switched off on ",
                    signature(*this), ", the result of an operation; use detach(x) for a constant");
  check<GraphError>(on || node().use_count() == 1, "set_requires_grad: cannot be switched off on ",
                    signature(*this),
                    " while a recorded graph refers to it; run backward on that "
                    "graph or let go of it first, or use detach(x) for a constant");
  value_->node = on ? std::make_shared<Node>(user_op("leaf"), array()) : nullptr;
  return *this;
}

Tensor Tensor::grad() const { return node() ? node()->grad : Tensor(); }

void Tensor::set_grad(const Tensor& g) {
  check<GraphError>(requires_grad(), "set_grad: ", signature(*this), " does not require gradients");
  check<ShapeError>(g.shape() == shape() && g.dtype() == dtype(), "set_grad: the gradient of ",
                    signature(*this), " cannot be ", signature(g));
  node()->grad = g;
}

void Tensor::clear_grad() {
  if (node()) node()->grad = Tensor();
}

void Tensor::retain_grad() {
  check<GraphError>(requires_grad(), "retain_grad: ", signature(*this),
                    " does not require gradients");
  node()->retains_grad = true;
}

const std::shared_ptr<Node>& Tensor::node() const {
  static const std::shared_ptr<Node> kNone;
  return value_ ? value_->node : kNone;
}

namespace {

void print_element(std::ostream& out, bool v) { out << (v ? "true" : "false"); }
template <class T>
void print_element(std::ostream& out, T v) {
  out << v;
}

/// Rows in brackets; of more than 6 entries along an axis the first and last 3.
template <class T>
void print_values(std::ostream& out, const Array& x, const T* at, int axis) {
  if (axis == x.rank()) return print_element(out, *at);
  constexpr int64_t kEdge = 3;
  const int64_t size = x.shape()[axis];
  const bool innermost = axis == x.rank() - 1;
  out << '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0)
      out << (innermost ? ", " : ",\n")
          << std::string(innermost ? 0 : static_cast<size_t>(axis) + 1, ' ');
    if (i == kEdge && size > 2 * kEdge) {
      out << "...";
      i = size - kEdge - 1;
    } else {
      print_values(out, x, at + i * x.strides()[axis], axis + 1);
    }
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined";
  dispatch("print", x.dtype(), [&]<class T>() {
    std::ostringstream text;
    text << std::setprecision(6);
    print_values(text, x.array(), x.data<T>(), 0);
    out << text.str();
  });
  out << ' ' << signature(x);
  if (x.requires_grad()) out << " from " << std::string_view(x.node()->name);
  return out;
}

}  // namespace attograd

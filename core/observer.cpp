#include <attograd/core/observer.h>

namespace attograd {

Observer*& Observer::innermost() {
  thread_local Observer* observer = nullptr;
  return observer;
}

Observer::Observer(bool sees_parts) : outer_(innermost()), sees_parts_(sees_parts) {
  innermost() = this;
}
Observer::~Observer() { innermost() = outer_; }

bool& Step::inside() {
  thread_local bool is_inside = false;
  return is_inside;
}

}  // namespace attograd

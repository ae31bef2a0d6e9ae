#include <attograd/core/observer.h>

namespace attograd {

Observer::Observer(bool sees_parts) : sees_parts_(sees_parts) {}

int& Step::depth() {
  thread_local int depth = 0;
  return depth;
}

}  // namespace attograd

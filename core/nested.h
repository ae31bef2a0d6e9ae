#pragma once

namespace attograd {

/// The base of what acts on the thread that made it while it is alive: the guards and observers.
/// They may end in any order, after their thread has, and on another thread (but, as with any
/// object, not at the moment when their own one uses it).
template <class T>
class Nested {
 public:
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

  /// The latest of this thread that is alive, or null.
  static T* innermost() { return static_cast<T*>(head()); }
  /// The one before.
  T* outer() const { return static_cast<T*>(outer_); }

 protected:
  Nested() : place_(&head()), outer_(head()) {
    if (outer_) outer_->place_ = &outer_;
    head() = this;
    thread_local const ThreadEnd end;
  }
  ~Nested() {
    if (place_) *place_ = outer_;
    if (outer_) outer_->place_ = place_;
  }

 private:
  struct ThreadEnd {
    ThreadEnd() = default;
    ThreadEnd(const ThreadEnd&) = delete;
    ThreadEnd& operator=(const ThreadEnd&) = delete;
    ~ThreadEnd() {
      if (head()) head()->place_ = nullptr;
      head() = nullptr;
    }
  };

  static Nested*& head() {
    thread_local Nested* innermost = nullptr;
    return innermost;
  }

  Nested** place_;  // where the pointer to this one stands; null once the thread has ended
  Nested* outer_;
};

}  // namespace attograd

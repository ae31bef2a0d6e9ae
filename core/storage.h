#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace attograd {

/// A block of memory, aligned for any element (64 bytes if large) and shared by all views of it,
/// with a count of the writes: a value that was saved for the backward pass and written since is
/// recognised by it.
class Storage {
 public:
  explicit Storage(size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() { return data_; }
  size_t bytes() const { return bytes_; }
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr size_t kSmall = 16;  // bytes: numbers need no block of their own

  alignas(kSmall) std::byte small_[kSmall];
  std::byte* data_;
  size_t bytes_;
  std::atomic<uint64_t> version_{0};
};

/// Bytes in the blocks of living tensors of all threads (numbers that need no block do not count).
struct MemoryUse {
  size_t living = 0;
  size_t peak = 0;  // the most that lived at once since the start, or since reset_peak_memory()
};
MemoryUse memory_use();
void reset_peak_memory();

/// Freed blocks are kept for the next tensor of about that size (at most 1 GiB in all), so that a
/// training loop in steady state asks the system for nothing. This gives them back.
void release_cached_memory();

}  // namespace attograd

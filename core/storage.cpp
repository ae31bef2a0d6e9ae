#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <vector>

#include <attograd/core/storage.h>

#if defined(__SANITIZE_ADDRESS__)
#define ATTOGRAD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTOGRAD_ASAN 1
#endif
#endif

namespace attograd {
namespace {

/// The address sanitizer must see every use after free, so under it no block is kept.
#ifdef ATTOGRAD_ASAN
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

constexpr std::align_val_t kAlignment{64};
constexpr size_t kCacheLimit = size_t{1} << 30;

/// Blocks come in sizes of four steps per power of two, so at most a quarter of a block is unused.
size_t block_size(size_t bytes) {
  if (bytes <= 64) return 64;
  const size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

size_t bucket_of(size_t block) {
  const auto exponent = static_cast<size_t>(std::bit_width(block)) - 1;
  return exponent * 4 + ((block >> (exponent - 2)) & 3);
}

/// One list of free blocks per size, and the count of those in use.
class FreeLists {
 public:
  std::byte* take(size_t block) {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte*>& list = lists_[bucket_of(block)];
    std::byte* data = nullptr;
    if (list.empty()) {
      data = static_cast<std::byte*>(::operator new(block, kAlignment));
    } else {
      data = list.back();
      list.pop_back();
      cached_ -= block;
    }
    use_.living += block;
    use_.peak = std::max(use_.peak, use_.living);
    return data;
  }

  void give(std::byte* data, size_t block) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      use_.living -= block;
      if (kKeepsBlocks && cached_ + block <= kCacheLimit) {
        lists_[bucket_of(block)].push_back(data);
        cached_ += block;
        return;
      }
    } catch (const std::bad_alloc&) {  // no room to remember the block: give it back
    }
    ::operator delete(data, kAlignment);
  }

  void release() {
    const std::lock_guard lock(mutex_);
    for (std::vector<std::byte*>& list : lists_) {
      for (std::byte* data : list) ::operator delete(data, kAlignment);
      list.clear();
    }
    cached_ = 0;
  }

  MemoryUse use() {
    const std::lock_guard lock(mutex_);
    return use_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    use_.peak = use_.living;
  }

 private:
  std::mutex mutex_;
  std::array<std::vector<std::byte*>, 256> lists_;
  size_t cached_ = 0;
  MemoryUse use_;
};

/// Never destroyed: tensors with static lifetime may outlive any object of this file.
FreeLists& free_lists() {
  static FreeLists& lists = *new FreeLists;
  return lists;
}

}  // namespace

Storage::Storage(size_t bytes)
    : data_(bytes <= kSmall ? small_ : free_lists().take(block_size(bytes))), bytes_(bytes) {}

Storage::~Storage() {
  if (data_ != small_) free_lists().give(data_, block_size(bytes_));
}

MemoryUse memory_use() { return free_lists().use(); }
void reset_peak_memory() { free_lists().reset_peak(); }

void release_cached_memory() { free_lists().release(); }

}  // namespace attograd

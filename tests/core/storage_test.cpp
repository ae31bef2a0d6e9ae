#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <attograd/core/storage.h>

using namespace attograd;

TEST_CASE("blocks are aligned and as large as asked for") {
  for (const int wanted : {0, 1, 15, 16, 17, 63, 64, 65, 80, 81, 127, 128, 129, 1000, 1 << 20}) {
    const auto bytes = static_cast<size_t>(wanted);
    CAPTURE(bytes);
    Storage storage(bytes);
    CHECK(storage.bytes() == bytes);
    const size_t alignment = bytes > 16 ? 64 : 16;
    CHECK(reinterpret_cast<uintptr_t>(storage.data()) % alignment == 0);
    std::memset(storage.data(), 0xAB, bytes);  // the sanitizer sees what lies outside
  }
}

TEST_CASE("living blocks do not overlap whatever was freed before") {
  std::vector<std::unique_ptr<Storage>> living;
  const size_t sizes[] = {24, 64, 65, 100, 4096, 5000, 5120, 5121};
  for (int round = 0; round < 50; ++round) {
    for (const size_t size : sizes) {
      living.push_back(std::make_unique<Storage>(size));
      std::memset(living.back()->data(), static_cast<int>(living.size()), size);
      if (living.size() % 3 == 0) living[living.size() / 2].reset();
    }
    if (round == 25) release_cached_memory();
  }
  for (size_t i = 0; i < living.size(); ++i) {
    if (!living[i]) continue;
    const auto mark = static_cast<std::byte>(i + 1);
    CHECK(living[i]->data()[0] == mark);
    CHECK(living[i]->data()[living[i]->bytes() - 1] == mark);
  }
}

TEST_CASE("the version counts the writes") {
  Storage storage(64);
  CHECK(storage.version() == 0);
  storage.bump_version();
  storage.bump_version();
  CHECK(storage.version() == 2);
}

TEST_CASE("living bytes and their peak are counted") {
  const size_t before = memory_use().living;
  reset_peak_memory();
  {
    const Storage number(8);  // needs no block
    CHECK(memory_use().living == before);
    const Storage kept(1 << 16);
    CHECK(memory_use().living == before + (1 << 16));
    { const Storage passing(1 << 20); }
    CHECK(memory_use().living == before + (1 << 16));
  }
  CHECK(memory_use().living == before);
  CHECK(memory_use().peak == before + (1 << 16) + (1 << 20));
  { const Storage again(1 << 20); }  // from the free list
  CHECK(memory_use().peak == before + (1 << 16) + (1 << 20));
  reset_peak_memory();
  CHECK(memory_use().peak == before);
}

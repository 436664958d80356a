#include <thread>

#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

using ConcurrencyTest = StoreTest;

TEST_F(ConcurrencyTest, ThreadsReserveWriteSyncReadAndReleaseTheirOwn) {
  options_.directories.push_back(directory("d1"));
  options_.open_files_max = 16;
  open();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (unsigned t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 60; ++i) {
        const std::uint64_t sizes[] = {1000, 40'000, 1 << 20, kBig};
        const std::uint64_t wanted = sizes[(i + t) % 4];
        const auto bytes = pattern(wanted == kBig ? 700'000 : std::min<std::size_t>(wanted, 600'000), t * 1000 + i);
        const auto blob = store_->reserve(wanted);
        std::vector<std::byte> back(bytes.size());
        const bool good = blob && store_->read(*blob, 0, back) && all_zero(back) && put(*blob, 0, bytes) &&
                          store_->sync(std::span(&*blob, 1)) && store_->read(*blob, 0, back) && back == bytes &&
                          store_->release(*blob);
        failures += !good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(listed().empty());
}

TEST_F(ConcurrencyTest, ManyWritersOfOneFileDoNotDisturbEachOther) {
  open();
  const BlobId blob = reserve(kBig);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (unsigned t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 8; ++i) {
        const std::uint64_t at = std::uint64_t{i * 6 + t} << 20;
        failures += !put(blob, at, pattern(1 << 20, i * 6 + t));
        failures += !store_->sync(std::span(&blob, 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  for (unsigned i = 0; i < 48; ++i) EXPECT_TRUE(get(blob, std::uint64_t{i} << 20, 1 << 20) == pattern(1 << 20, i)) << i;
}

}  // namespace
}  // namespace stoa::blob_local

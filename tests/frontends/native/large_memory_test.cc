#include "frontends/native/client/large_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "frontends/native/protocol/message.h"

namespace stoa::native {
namespace {

TEST(LargeMemory, AnySizeMayBeTaken) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, LargeMemory::kFrom - 1, LargeMemory::kFrom,
                                  kPayloadBytesMax, kMessageBytesMax, 2 * kMessageBytesMax, 5 * kMessageBytesMax + 1}) {
    void* const memory = LargeMemory::take(bytes);
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 0x5a, bytes);
    LargeMemory::give(memory, bytes);
  }
  LargeMemory::give(nullptr, kPayloadBytesMax);
}

TEST(LargeMemory, IsUsedAgainWhileThereIsWork) {
  void* const first = LargeMemory::take(kPayloadBytesMax);
  LargeMemory::give(first, kPayloadBytesMax);
  LargeMemory::rest();
  void* const second = LargeMemory::take(LargeMemory::kFrom);
  EXPECT_EQ(first, second);
  LargeMemory::give(second, LargeMemory::kFrom);
}

TEST(LargeMemory, ManyMayBeTakenAtOnceAndNoneTwice) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int round = 0; round < 50; ++round) {
        std::vector<LargeArray> arrays;
        for (std::size_t i = 0; i < 12; ++i) {
          arrays.push_back(make_large_array(LargeMemory::kFrom + i));
          std::memset(arrays.back().get(), thread + 1, 4096);
        }
        for (const LargeArray& one : arrays) ASSERT_EQ(one[100], std::byte(thread + 1));
        if (round % 10 == 0) LargeMemory::rest();
      }
    });
  }
  for (std::thread& one : threads) one.join();
}

TEST(LargeMemory, ContentGrowsOverAllSizes) {
  Content content;
  for (std::size_t i = 0; content.size() < 3 * kMessageBytesMax; ++i) content.insert(content.end(), 1000, std::byte(i));
  for (std::size_t i = 0; i < content.size(); ++i) ASSERT_EQ(content[i], std::byte(i / 1000));
  const Content copy = content;
  EXPECT_EQ(copy, content);
}

}  // namespace
}  // namespace stoa::native

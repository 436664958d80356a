#include "frontends/native/fuse/ring_memory.h"

#include <gtest/gtest.h>

#include "frontends/native/fuse/ring_entry.h"

namespace stoa::native::fuse {
namespace {

OwnedFd copy_of(const RingMemory& memory) {
  return OwnedFd(::dup(memory.fd()));
}

TEST(RingMemory, IsTakenOverAtItsAddressAndHasWhatWasThere) {
  auto first = RingMemory::make(3);
  ASSERT_TRUE(first);
  (*first)->slot(0)[0] = std::byte{1};
  (*first)->slot(2)[RingMemory::kSlotBytes - 1] = std::byte{2};
  OwnedFd fd = copy_of(**first);
  const std::uint64_t address = (*first)->address();
  first->reset();
  const auto second = RingMemory::take_over(std::move(fd), address, 3);
  ASSERT_TRUE(second) << describe(second.error());
  EXPECT_EQ((*second)->address(), address);
  EXPECT_EQ((*second)->slot(0)[0], std::byte{1});
  EXPECT_EQ((*second)->slot(2)[RingMemory::kSlotBytes - 1], std::byte{2});
}

TEST(RingMemory, NothingIsMappedOverWhatLiesThere) {
  const auto first = RingMemory::make(2);
  ASSERT_TRUE(first);
  (*first)->slot(1)[0] = std::byte{7};
  const auto second = RingMemory::take_over(copy_of(**first), (*first)->address(), 1);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kBusy);
  const auto third = RingMemory::take_over(copy_of(**first), (*first)->address() + RingMemory::kSlotBytes, 1);
  ASSERT_FALSE(third);
  EXPECT_EQ((*first)->slot(1)[0], std::byte{7});
}

TEST(RingMemory, WhatIsNoMemoryOfRingsIsRefused) {
  auto first = RingMemory::make(2);
  ASSERT_TRUE(first);
  OwnedFd fd = copy_of(**first);
  const std::uint64_t address = (*first)->address();
  first->reset();
  struct Wrong {
    std::uint64_t address;
    std::uint32_t slots;
  };
  for (const Wrong wrong : {Wrong{address, 0}, Wrong{address, 3}, Wrong{address, RingMemory::kSlotsMost + 1},
                            Wrong{address + 1, 2}, Wrong{0, 1}}) {
    const auto taken = RingMemory::take_over(OwnedFd(::dup(fd.get())), wrong.address, wrong.slots);
    ASSERT_FALSE(taken) << wrong.address << " " << wrong.slots;
    EXPECT_EQ(taken.error().code, Errc::kInvalid);
  }
  EXPECT_FALSE(RingMemory::take_over(OwnedFd{}, address, 1));
  EXPECT_TRUE(RingMemory::take_over(std::move(fd), address, 2));
}

TEST(RingEntry, GivesTheMemoryOfALargePayloadBack) {
  const auto memory = RingMemory::make(1);
  ASSERT_TRUE(memory);
  RingEntry entry(0, **memory, 0);
  EXPECT_FALSE(entry.is_large());
  const std::vector<std::byte> body(kIoBytes, std::byte{9});
  entry.put_reply(0, body);
  EXPECT_TRUE(entry.is_large());
  entry.give_back();
  EXPECT_FALSE(entry.is_large());
  EXPECT_EQ(entry.payload().front(), std::byte{9});
  EXPECT_EQ(entry.payload().back(), std::byte{0});
}

TEST(RingEntry, KnowsARequestForAnAttributeByItsWholeName) {
  const auto memory = RingMemory::make(1);
  ASSERT_TRUE(memory);
  RingEntry entry(0, **memory, 0);
  auto* const head = reinterpret_cast<RingEntryHead*>((*memory)->slot(0));
  const auto put = [&](std::uint32_t opcode, std::string_view name) {
    const fuse_in_header header{.len = 0, .opcode = opcode};
    std::memcpy(head->header, &header, sizeof(header));
    std::memcpy(entry.payload().data(), name.data(), name.size());
    entry.payload()[name.size()] = std::byte{0};
    head->payload_bytes = static_cast<std::uint32_t>(name.size() + 1);
  };
  put(FUSE_GETXATTR, "user.name");
  EXPECT_TRUE(entry.asks_for_attribute("user.name"));
  EXPECT_FALSE(entry.asks_for_attribute("user.names"));
  EXPECT_FALSE(entry.asks_for_attribute("user.nam"));
  EXPECT_FALSE(entry.asks_for_attribute("user.nama"));
  put(FUSE_LOOKUP, "user.name");
  EXPECT_FALSE(entry.asks_for_attribute("user.name"));
}

}  // namespace
}  // namespace stoa::native::fuse

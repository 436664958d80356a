#include "frontends/native/data/write_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace stoa::native::data {
namespace {

constexpr std::uint64_t kPiece = WriteBuffer::kPieceBytes;
const auto kAny = [](const Piece&) { return true; };

std::vector<std::byte> of(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

TEST(WriteBuffer, WritesThatFollowBecomeOnePieceThatEndsAtItsBoundary) {
  WriteBuffer buffer;
  const auto open = std::make_shared<OpenFile>();
  for (std::uint64_t at = 5; at < kPiece + 1000; at += 1000) buffer.add(at, of(1000, 1), 1, open);
  const auto first = buffer.take(true, kAny);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->offset, 5u);
  EXPECT_EQ(first->end(), kPiece);
  EXPECT_EQ(buffer.take(true, kAny), nullptr);
  const auto second = buffer.take(false, kAny);
  EXPECT_EQ(second->offset, kPiece);
  EXPECT_EQ(open->unsent, 2u);
}

TEST(WriteBuffer, TellsWhenAPieceIsFull) {
  WriteBuffer buffer;
  const auto open = std::make_shared<OpenFile>();
  EXPECT_FALSE(buffer.add(0, of(kPiece - 1, 1), 1, open).full);
  EXPECT_TRUE(buffer.add(kPiece - 1, of(1, 1), 1, open).full);
  EXPECT_TRUE(buffer.add(kPiece, of(kPiece, 1), 1, open).full);
}

TEST(WriteBuffer, OverwritesInPlaceAndFillsGaps) {
  WriteBuffer buffer;
  const auto open = std::make_shared<OpenFile>();
  buffer.add(10, of(10, 1), 1, open);
  buffer.add(30, of(10, 2), 1, open);
  const auto added = buffer.add(15, of(20, 3), 1, open);
  EXPECT_EQ(added.bytes, 10u);
  EXPECT_EQ(buffer.bytes(), 30u);
  std::vector<std::byte> seen(30);
  for (const auto& piece : buffer.overlapping(10, 30)) {
    std::memcpy(seen.data() + (piece->offset - 10), piece->bytes.data(), piece->bytes.size());
  }
  std::vector<std::byte> expected = of(5, 1);
  expected.insert(expected.end(), 20, std::byte{3});
  expected.insert(expected.end(), 5, std::byte{2});
  EXPECT_EQ(seen, expected);
}

TEST(WriteBuffer, WhatLiesOverBytesThatAreBeingSentWaits) {
  WriteBuffer buffer;
  const auto open = std::make_shared<OpenFile>();
  buffer.add(0, of(100, 1), 1, open);
  const auto sending = buffer.take(false, kAny);
  buffer.add(99, of(2, 2), 1, open);
  buffer.add(200, of(1, 3), 1, open);
  EXPECT_EQ(sending->bytes[99], std::byte{1});
  EXPECT_EQ(buffer.take(false, kAny)->offset, 200u);
  EXPECT_EQ(buffer.take(false, kAny), nullptr);
  buffer.sent(*sending);
  EXPECT_EQ(buffer.take(false, kAny)->offset, 99u);
  EXPECT_EQ(buffer.end(), 201u);
}

TEST(WriteBuffer, DropsWhatWaitsUnderALease) {
  WriteBuffer buffer;
  const auto open = std::make_shared<OpenFile>();
  buffer.add(0, of(100, 1), 7, open);
  EXPECT_TRUE(buffer.drop_waiting(8).empty());
  EXPECT_EQ(buffer.drop_waiting(7).size(), 1u);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.bytes(), 0u);
}

}  // namespace
}  // namespace stoa::native::data

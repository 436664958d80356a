#include "frontends/nfs/rpc/xdr.h"

#include <gtest/gtest.h>

#include "tests/frontends/nfs/wire_client.h"

namespace stoa::rpc {
namespace {

using test::Xdr;

TEST(XdrReader, GivesWhatWasWrittenInOrder) {
  Xdr x;
  x.u32(7).u64(0x0102030405060708).string("abc").u32(1);
  XdrReader in(x);
  EXPECT_EQ(in.u32(), 7u);
  EXPECT_EQ(in.u64(), 0x0102030405060708u);
  EXPECT_EQ(in.string(255), "abc");
  EXPECT_TRUE(in.boolean());
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.left(), 0u);
}

TEST(XdrReader, FailsForGoodWhenBytesRunOut) {
  const Xdr x = Xdr().u32(7);
  XdrReader in(x);
  EXPECT_EQ(in.u64(), 7ull << 32);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_TRUE(in.opaque(10).empty());
}

TEST(XdrReader, RefusesALengthBeyondTheLimitOrTheInput) {
  const Xdr four = Xdr().string("abcd");
  XdrReader too_long(four);
  EXPECT_TRUE(too_long.string(3).empty());
  EXPECT_FALSE(too_long.ok());
  const Xdr lying = Xdr().u32(0xffff'ffff).u32(0);
  XdrReader lies(lying);
  EXPECT_TRUE(lies.opaque(~std::size_t{0}).empty());
  EXPECT_FALSE(lies.ok());
}

TEST(XdrReader, RefusesMissingPadding) {
  Xdr x;
  x.u32(3).raw(std::as_bytes(std::span("abc", 3)));
  XdrReader in(x);
  EXPECT_TRUE(in.string(255).empty());
  EXPECT_FALSE(in.ok());
}

TEST(XdrReader, TakesOnlyZeroAndOneForABoolean) {
  const Xdr x = Xdr().u32(2);
  XdrReader in(x);
  in.boolean();
  EXPECT_FALSE(in.ok());
}

TEST(XdrWriter, PadsWithZeros) {
  ReplyBuffer buffer;
  buffer.append(test::Bytes(64, std::byte{0xff}));
  buffer.truncate(0);
  XdrWriter out(buffer);
  out.string("abcde");
  const Xdr expected = Xdr().string("abcde");
  EXPECT_TRUE(std::ranges::equal(buffer.bytes(), expected.bytes()));
}

TEST(ReplyBuffer, KeepsItsBytesWhenItGrows) {
  ReplyBuffer buffer;
  XdrWriter out(buffer);
  for (std::uint32_t i = 0; i < 10'000; ++i) out.u32(i);
  XdrReader in(buffer.bytes());
  for (std::uint32_t i = 0; i < 10'000; ++i) ASSERT_EQ(in.u32(), i);
}

// The steps of a READ: the bytes come first, then their head.
test::Bytes reserved_and_filled(ReplyBuffer& buffer, std::size_t most, std::size_t length) {
  test::Bytes expected(buffer.bytes().begin(), buffer.bytes().end());
  XdrWriter out(buffer);
  static const test::Bytes all = [] {
    test::Bytes bytes(70'000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + 7);
    return bytes;
  }();
  const auto content = std::span(all).first(length);
  auto place = out.reserve(12, most);
  if (most > 0) std::memset(place.content().data(), 0xee, most);
  if (length > 0) std::memcpy(place.content().data(), content.data(), length);
  place.commit(length, [&] {
    out.u64(length + 1);
    out.u32(static_cast<std::uint32_t>(length));
  });
  const Xdr tail = Xdr().u64(length + 1).opaque(content);
  expected.insert(expected.end(), tail.bytes().begin(), tail.bytes().end());
  return expected;
}

// Test code is not optimised: byte by byte this would take seconds.
bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

TEST(ReplyBuffer, WhatIsReadIntoAReservationStandsBehindItsHeadForAnyLengthAndAnyFill) {
  for (const std::size_t before : {0u, 4u, 28u, 4064u, 4068u, 4072u, 4076u, 4080u, 4084u, 4092u, 4096u, 16'384u}) {
    for (const std::size_t most :
         {0u, 1u, 2u, 3u, 4u, 5u, 4091u, 4095u, 4096u, 4097u, 13'497u, 16'815u, 21'915u, 65'537u}) {
      for (const std::size_t less : {0u, 1u, 2u, 3u, 4u, 5u, 4096u}) {
        if (less > most) continue;
        ReplyBuffer buffer;
        buffer.append(test::Bytes(before, std::byte{0x11}));
        const auto expected = reserved_and_filled(buffer, most, most - less);
        ASSERT_TRUE(same(buffer.bytes(), expected)) << before << ' ' << most << ' ' << less;
        buffer.clear(1 << 20);
        const auto again = reserved_and_filled(buffer, most, most - less);
        ASSERT_TRUE(same(buffer.bytes(), again)) << before << ' ' << most << ' ' << less;
      }
    }
  }
}

TEST(ReplyBuffer, AReservationThatIsDroppedLeavesNothing) {
  ReplyBuffer buffer;
  XdrWriter out(buffer);
  out.u32(1);
  {
    auto place = out.reserve(8, 10'000);
    place.drop();
    out.u32(2);
  }
  {
    const auto place = out.reserve(8, 100'000);
  }
  out.u32(3);
  const Xdr expected = Xdr().u32(1).u32(2).u32(3);
  EXPECT_TRUE(std::ranges::equal(buffer.bytes(), expected.bytes()));
}

TEST(ReplyBuffer, ABufferThatWasMovedFromIsEmptyAndGoodForUse) {
  ReplyBuffer first;
  XdrWriter(first).u32(1);
  ReplyBuffer second = std::move(first);
  EXPECT_TRUE(first.empty());
  XdrWriter(first).u32(2);
  EXPECT_EQ(load_be32(first.bytes().data()), 2u);
  EXPECT_EQ(load_be32(second.bytes().data()), 1u);
}

TEST(ReplyBufferDeathTest, NothingElseIsWrittenWhileAReservationIsOpen) {
  ReplyBuffer buffer;
  XdrWriter out(buffer);
  out.u32(1);
  auto place = out.reserve(8, 100);
  EXPECT_DEATH(out.u32(2), "reserved_");
  EXPECT_DEATH(out.truncate(0), "reserved_");
  EXPECT_DEATH(place.commit(100, [&] { out.u64(1), out.u32(2); }), "reserved_");  // a head longer than announced
  EXPECT_DEATH(place.commit(100, [&] { out.u32(1); }), "head_");
  EXPECT_DEATH(place.commit(101, [&] { out.u64(1); }), "most_");
}

#ifdef STOA_ASAN
TEST(ReplyBufferDeathTest, WhatWasNotWrittenOrIsNoMoreMayNotBeTouched) {
  ReplyBuffer buffer;
  XdrWriter out(buffer);
  out.u64(1);
  const std::byte* const written = buffer.bytes().data();
  EXPECT_DEATH(std::fprintf(stderr, "%d", static_cast<int>(written[8])), "use-after-poison");
  std::span<std::byte> content;
  {
    auto place = out.reserve(8, 64);
    content = place.content();
    std::ranges::fill(content, std::byte{1});
    place.commit(10, [&] { out.u64(2); });
  }
  EXPECT_EQ(content[9], std::byte{1});
  EXPECT_DEATH(content[12] = std::byte{2}, "use-after-poison");
  out.truncate(8);
  EXPECT_DEATH(content[0] = std::byte{2}, "use-after-poison");
}
#endif

}  // namespace
}  // namespace stoa::rpc

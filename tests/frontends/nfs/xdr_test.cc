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
  std::memset(buffer.extend(64), 0xff, 64);
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

}  // namespace
}  // namespace stoa::rpc

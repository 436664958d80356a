#include "bench/load/nfs41_results.h"

#include <gtest/gtest.h>

namespace stoa::bench {
namespace {

constexpr std::uint32_t kNoEnt = 2;

std::string_view view(const XdrOut& out) {
  return {out.data(), out.size()};
}

// An accepted reply, up to the results.
XdrOut reply(std::uint32_t status, std::uint32_t results) {
  XdrOut out;
  for (const std::uint32_t word : {0u, 0u, 0u, 0u}) out.u32(word);  // accepted, AUTH_NONE, success
  out.u32(status);
  out.opaque("");
  out.u32(results);
  return out;
}
void result(XdrOut& out, Op op, std::uint32_t status = kNfs4Ok) {
  out.u32(static_cast<std::uint32_t>(op));
  out.u32(status);
}

TEST(Nfs41ResultsTest, ReadsOpenWithAReadDelegation) {
  XdrOut out = reply(kNfs4Ok, 2);
  result(out, Op::kOpen);
  out.u32(7);
  out.fixed("open stateid", 12);
  out.fixed("change_info4--------", 20);
  out.u32(0);  // rflags
  out.u32(1);
  out.u32(0x10);  // attrset
  out.u32(1);     // OPEN_DELEGATE_READ
  out.u32(1);
  out.fixed("deleg.stateid", 12);
  for (int i = 0; i < 4; ++i) out.u32(0);  // not recalled, nfsace4
  out.opaque("EVERYONE@");
  result(out, Op::kGetFh);
  out.opaque("handle");

  Results41 results(view(out));
  EXPECT_EQ(results.status(), kNfs4Ok);
  const Opened41 opened = results.open();
  EXPECT_EQ(opened.stateid.seqid, 7u);
  EXPECT_EQ(std::string_view(opened.stateid.other.data(), 12), "open stateid");
  EXPECT_EQ(opened.delegation, Delegation41::kRead);
  EXPECT_EQ(std::string_view(opened.delegation_stateid.other.data(), 12), "deleg.statei");
  Handle41 handle;
  results.getfh(handle);
  EXPECT_EQ(handle.view(), "handle");
  EXPECT_TRUE(results.ok()) << results.why();
  EXPECT_EQ(results.in().left(), 0u);
}

TEST(Nfs41ResultsTest, ReadsTheAttributesThatCountWhateverElseComes) {
  XdrOut out = reply(kNfs4Ok, 1);
  result(out, Op::kGetattr);
  out.u32(2);
  out.u32(1 << 1 | 1 << 3 | 1 << 4 | 1 << 20);
  out.u32(0);
  out.u32(4 + 8 + 8 + 8);
  out.u32(kTypeRegular);
  out.u64(99);
  out.u64(4096);
  out.u64(5);
  Results41 results(view(out));
  const Attributes41 attributes = results.getattr();
  EXPECT_TRUE(results.ok()) << results.why();
  EXPECT_EQ(attributes.type, kTypeRegular);
  EXPECT_EQ(attributes.change, 99u);
  EXPECT_EQ(attributes.size, 4096u);
}

TEST(Nfs41ResultsTest, NamesTheOperationThatFailedAndTheFirstThingThatIsWrong) {
  XdrOut out = reply(kNoEnt, 2);
  result(out, Op::kPutFh);
  result(out, Op::kOpen, kNoEnt);
  Results41 results(view(out));
  results.expect(Op::kPutFh).open();
  results.close();
  EXPECT_FALSE(results.ok());
  EXPECT_EQ(results.why(), "OPEN: NFS4ERR_NOENT");
}

TEST(Nfs41ResultsTest, AShortReadAndAReplyThatEndsEarlyAreErrors) {
  XdrOut out = reply(kNfs4Ok, 1);
  result(out, Op::kRead);
  out.u32(1);
  out.opaque("abc");
  std::string_view data;
  Results41 shorter(view(out));
  shorter.read(4, data);
  EXPECT_EQ(shorter.why(), "short READ");
  Results41 cut(view(out).substr(0, out.size() - 4));
  cut.read(3, data);
  EXPECT_FALSE(cut.ok());
}

TEST(Nfs41ResultsTest, ACallThatRpcRefusedHasNoStatus) {
  XdrOut out;
  out.u32(1);
  Results41 results(view(out));
  EXPECT_FALSE(results.status().has_value());
  EXPECT_EQ(results.why(), "RPC: denied");
}

}  // namespace
}  // namespace stoa::bench

// Mandatory byte-range locks (MS-FSA 2.1.4.10, 2.1.5.8) and handle leases, which an SMB server will need.
#include <random>

#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class MandatoryLockTest : public TableTest {
 protected:
  // "granted", "conflict", or the error.
  std::string lock(OpenId open, LockRange range, bool exclusive) {
    const auto got = table().lock_mandatory(open, range, exclusive);
    return !got ? std::string(to_string(got.error().code)) : *got ? "conflict" : "granted";
  }
  bool io(const OpenId open, std::uint64_t offset, std::uint64_t length, bool write) {
    OpContext ctx;
    ctx.open = open;
    const Status may = table().before_io(ctx, kFile, offset, length, write);
    EXPECT_TRUE(may || may.error().code == Errc::kLocked);
    return may.has_value();
  }
  bool reads(OpenId open, std::uint64_t offset, std::uint64_t length) { return io(open, offset, length, false); }
  bool writes(OpenId open, std::uint64_t offset, std::uint64_t length) { return io(open, offset, length, true); }
  OpenId opened(const Client& who) { return *open(who, kShareBoth); }
};

TEST_F(MandatoryLockTest, KeepOthersFromReadingAndWriting) {
  const Client a = client(), b = client();
  const OpenId mine = opened(a), same = opened(a), other = opened(b);
  EXPECT_EQ(lock(mine, {10, 10}, true), "granted");
  EXPECT_TRUE(reads(mine, 0, 100) && writes(mine, 0, 100));
  for (const OpenId who : {same, other, kNoOpen}) {
    EXPECT_FALSE(reads(who, 19, 1) || writes(who, 0, 11));
    EXPECT_TRUE(reads(who, 0, 10) && writes(who, 20, 100) && writes(who, 15, 0));
  }
  EXPECT_TRUE(table().unlock_mandatory(mine, {10, 10}));
  EXPECT_EQ(lock(mine, {10, 10}, false), "granted");
  for (const OpenId who : {mine, same, other, kNoOpen}) EXPECT_TRUE(reads(who, 0, 100) && !writes(who, 19, 1));
}

TEST_F(MandatoryLockTest, StandByThemselves) {
  const Client a = client(), b = client();
  const OpenId mine = opened(a), other = opened(b);
  EXPECT_EQ(lock(mine, {0, 10}, false), "granted");
  EXPECT_EQ(lock(mine, {0, 10}, false), "granted");  // a second one
  EXPECT_EQ(lock(mine, {10, 10}, false), "granted");
  EXPECT_EQ(lock(mine, {5, 1}, true), "conflict");  // no upgrade
  EXPECT_EQ(lock(other, {5, 1}, false), "granted");
  EXPECT_EQ(code(table().unlock_mandatory(mine, {0, 20})), Errc::kNotFound);
  EXPECT_EQ(code(table().unlock_mandatory(mine, {2, 3})), Errc::kNotFound);
  EXPECT_EQ(code(table().unlock_mandatory(other, {0, 10})), Errc::kNotFound);
  EXPECT_TRUE(table().unlock_mandatory(mine, {0, 10}));
  EXPECT_FALSE(writes(other, 0, 1));
  EXPECT_TRUE(table().unlock_mandatory(mine, {0, 10}));
  EXPECT_TRUE(writes(other, 0, 5));
  EXPECT_EQ(code(table().unlock_mandatory(mine, {0, 10})), Errc::kNotFound);
  EXPECT_EQ(lock(mine, {20, 10}, true), "granted");
  EXPECT_EQ(lock(mine, {25, 1}, true), "conflict");  // exclusive ones do not overlap, even of one open
  EXPECT_EQ(lock(mine, {25, 1}, false), "granted");  // a shared one may lie over its own exclusive one
  EXPECT_EQ(lock(other, {25, 1}, false), "conflict");
}

TEST_F(MandatoryLockTest, RangesOfNoBytesAndToTheEnd) {
  const Client a = client(), b = client();
  const OpenId mine = opened(a), other = opened(b);
  EXPECT_EQ(lock(mine, {0, 0}, true), "granted");
  EXPECT_EQ(lock(other, {0, 0}, true), "granted");
  EXPECT_EQ(lock(mine, {10, 10}, true), "granted");
  EXPECT_EQ(lock(other, {10, 0}, true), "granted");  // before its first byte
  EXPECT_EQ(lock(other, {20, 0}, true), "granted");
  EXPECT_EQ(lock(other, {15, 0}, true), "conflict");
  EXPECT_EQ(lock(other, {kEnd, 1}, true), "granted");
  EXPECT_EQ(lock(mine, {30, LockRange::kToEnd}, false), "conflict");
  EXPECT_EQ(lock(mine, {kEnd, 2}, true), "invalid");
  EXPECT_EQ(lock(OpenId{12345 << 6}, {0, 1}, true), "invalid");
  EXPECT_EQ(code(table().unlock_mandatory(OpenId{12345 << 6}, {0, 1})), Errc::kInvalid);
}

TEST_F(MandatoryLockTest, ConflictWithThoseOfOtherProtocols) {
  const Client smb = client(), nfs = client();
  const OpenId open = opened(smb);
  ASSERT_EQ(lock(open, {0, 10}, false), "granted");
  const auto shared = table().lock(kFile, {nfs.id, "o"}, {0, 5}, false);
  EXPECT_TRUE(shared && !*shared);
  const auto exclusive = table().lock(kFile, {nfs.id, "o"}, {9, 5}, true);
  ASSERT_TRUE(exclusive && *exclusive);
  EXPECT_EQ((*exclusive)->range, (LockRange{0, 10}));
  EXPECT_EQ((*exclusive)->owner.holder, smb.id);
  EXPECT_EQ(lock(open, {3, 1}, true), "conflict");
  EXPECT_EQ(lock(open, {20, 1}, true), "granted");
  const auto test = table().test_lock(kFile, {nfs.id, "o"}, {20, 1}, false);
  EXPECT_TRUE(test && *test);
  EXPECT_TRUE(reads(kNoOpen, 0, 5) && writes(open, 30, 1));  // those of POSIX forbid nothing
}

TEST_F(MandatoryLockTest, EndWithTheirOpenAndServeWhoWaits) {
  const Client smb = client();
  std::size_t granted = 0;
  const HolderId nfs = table().add_holder(Protocol::kNfs, on_grant([&](const LockGranted&) { ++granted; }));
  const OpenId first = opened(smb), second = opened(smb);
  ASSERT_EQ(lock(first, {0, 10}, true), "granted");
  ASSERT_EQ(lock(first, {50, 10}, true), "granted");
  ASSERT_EQ(lock(second, {20, 10}, true), "granted");
  for (const std::uint64_t at : {0u, 20u, 50u}) {
    const auto waits = table().lock_or_wait({kFile, {nfs, std::to_string(at)}, {at, 1}, true});
    EXPECT_TRUE(waits && !*waits);
  }
  EXPECT_TRUE(table().unlock_mandatory(first, {50, 10}));
  EXPECT_EQ(granted, 1u);
  table().close(first);
  EXPECT_EQ(granted, 2u);
  table().remove_holder(smb.id);
  EXPECT_EQ(granted, 3u);
  EXPECT_TRUE(reads(kNoOpen, 0, 100));
  table().remove_holder(nfs);
  EXPECT_NE(metrics_.render().find("stoa_byte_range_locks 0"), std::string::npos);
}

TEST_F(MandatoryLockTest, CountAgainstTheLimit) {
  options_.locks_max = 2;
  const Client a = client();
  const OpenId mine = opened(a);
  EXPECT_EQ(lock(mine, {0, 1}, false), "granted");
  EXPECT_EQ(lock(mine, {0, 1}, false), "granted");
  EXPECT_EQ(lock(mine, {0, 1}, false), "busy");
  EXPECT_TRUE(table().unlock_mandatory(mine, {0, 1}));
  EXPECT_EQ(lock(mine, {0, 1}, false), "granted");
}

// --- handle leases

class HandleLeaseTest : public TableTest {};

TEST_F(HandleLeaseTest, IsRecalledBeforeSomebodyIsRefusedForAShareReservation) {
  const Client a = client(), b = client(), c = client();
  const auto open_a = open(a, kShareRead, kShareWrite);
  const auto open_c = open(c, kShareRead);
  const auto lease = grant(table(), kFile, a.id, kKeepsHandle);
  const auto bystander = grant(table(), kFile, c.id, kKeepsHandle);
  ASSERT_TRUE(open_a && open_c && lease && bystander);
  EXPECT_TRUE(open(b, kShareRead));  // conflicts with nothing
  EXPECT_TRUE(a.recalled->empty());
  EXPECT_EQ(code(open(b, kShareWrite)), Errc::kRecallPending);
  EXPECT_EQ(code(open(b, kShareWrite)), Errc::kRecallPending);
  EXPECT_EQ(*a.recalled, std::vector{(Recalled{*lease, kFile})});
  EXPECT_TRUE(c.recalled->empty());
  table().return_lease(*lease);
  EXPECT_EQ(code(open(b, kShareWrite)), Errc::kShareConflict);  // really open
  table().close(*open_a);
  EXPECT_TRUE(open(b, kShareWrite));
}

TEST_F(HandleLeaseTest, LapsesAsOthersDo) {
  const Client a = client(), b = client();
  ASSERT_TRUE(open(a, kShareRead, kShareBoth));
  const auto lease = grant(table(), kFile, a.id, kKeepsHandle);
  ASSERT_TRUE(lease);
  EXPECT_EQ(code(open(b, kShareRead)), Errc::kRecallPending);
  now_ += std::chrono::seconds(11);
  EXPECT_EQ(code(open(b, kShareRead)), Errc::kShareConflict);
  EXPECT_TRUE(table().lease_revoked(*lease));
}

TEST_F(HandleLeaseTest, OfAKeyGoesBesideThoseOfOtherKeys) {
  const Client a = client(), b = client();
  ASSERT_TRUE(open(a, kShareBoth));
  const auto writing = grant(table(), kFile, a.id, kWriteDelegation);
  const auto handle = grant(table(), kFile, a.id, kKeepsHandle, {.low = 1});
  ASSERT_TRUE(writing && handle);
  EXPECT_EQ(grant(table(), kFile, a.id, kKeepsHandle, {.low = 1}), handle);
  EXPECT_EQ(code(open(b, kShareRead)), Errc::kRecallPending);
  EXPECT_EQ(*a.recalled, std::vector{(Recalled{*writing, kFile})});
  table().return_lease(*writing);
  EXPECT_TRUE(open(b, kShareRead));
  const FileId files[] = {kOther, kFile};
  OpContext mine = a.ctx();
  mine.lease_key.low = 1;
  EXPECT_TRUE(table().before_name_goes(mine, files));
  for (const Client& who : {a, b}) {
    EXPECT_EQ(code(table().before_name_goes(who.ctx(), files)), Errc::kRecallPending);
  }
  table().return_lease(*handle);
  EXPECT_TRUE(table().before_name_goes(b.ctx(), files));
}

}  // namespace
}  // namespace stoa::core::test

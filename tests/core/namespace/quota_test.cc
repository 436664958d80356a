// Limits of directories, users and groups on a whole volume. After each test the verifier counts again.
#include <thread>

#include "core/journal/note.h"
#include "tests/core/usage/quota_fixture.h"

namespace stoa::core::test {
namespace {

TYPED_TEST_SUITE(QuotaTest, Engines);

// --- room that is taken ahead

TYPED_TEST(QuotaTest, AllocatingBeyondALimitOrTheDisksTakesNoSpace) {
  const FileId dir = this->mkdir(kRootId, "d").value();
  ASSERT_TRUE(this->limit(dir, {.bytes = 64 << 20}));
  const FileId file = this->create(dir, "f").value();
  std::size_t blobs = 0;
  const auto count = [&] {
    blobs = 0;
    this->blobs_.for_each([&](BlobId) { ++blobs; });
    return blobs;
  };
  const std::size_t before = count();
  const auto allocate = [&](std::uint64_t offset, std::uint64_t length) {
    return this->ns().allocate(this->root_, {file, offset, length});
  };
  EXPECT_EQ(allocate(0, (64 << 20) + 1).error().code, Errc::kQuota);
  EXPECT_EQ(allocate(64 << 20, 1).error().code, Errc::kQuota);
  EXPECT_EQ(allocate(0, kFileBytesMax).error().code, Errc::kNoSpace);
  EXPECT_EQ(count(), before);
  EXPECT_EQ(this->known(dir).usage.bytes, 0);
  EXPECT_TRUE(allocate(0, 64 << 20));
  EXPECT_EQ(this->known(dir).usage.bytes, 64 << 20);
}

// --- sizes of sparse files

TYPED_TEST(QuotaTest, NobodyUsesUpWhatCanBeCounted) {
  const FileId dir = this->counted("d");
  std::vector<FileId> sparse;
  ByteCount sum = 0;
  for (int i = 0; i < 6; ++i) {
    sparse.push_back(this->create_as(dir, "sparse" + std::to_string(i), kAnn).value());
    const std::uint64_t size = kFileBytesMax - static_cast<std::uint64_t>(i);
    ASSERT_TRUE(this->truncate(sparse.back(), size));
    sum += size;
  }
  EXPECT_TRUE(this->known(kRootId).usage.bytes == sum);
  EXPECT_EQ(bytes_of(this->of_user(dir, kAnn)), std::numeric_limits<std::uint64_t>::max());
  const FileId other = this->create(kRootId, "other").value();
  EXPECT_TRUE(this->truncate(other, 1));
  EXPECT_TRUE(this->chown(sparse[0], kBob));
  EXPECT_TRUE(this->rename(dir, "sparse1", dir, "sparse2"));
  EXPECT_TRUE(this->known(dir).usage.bytes == sum - (kFileBytesMax - 2));
  this->reopen();
  EXPECT_TRUE(this->known(dir).usage.bytes == sum - (kFileBytesMax - 2));
  EXPECT_EQ(this->of_user(dir, kBob).bytes, kFileBytesMax);
}

// --- soft limits

TYPED_TEST(QuotaTest, ASoftLimitAndItsClockSurviveARestart) {
  const FileId dir = this->mkdir(kRootId, "d").value();
  ASSERT_TRUE(this->limit(dir, {.bytes = 100, .soft_bytes = 10, .grace_s = 3600}));
  const FileId file = this->create(dir, "f").value();
  ASSERT_TRUE(this->write(file, 0, this->text(10)));
  EXPECT_EQ(this->known(dir).since, SoftExcess{});
  ASSERT_TRUE(this->write(file, 0, this->text(11)));
  const Timestamp since = this->known(dir).since.bytes;
  EXPECT_NE(since, Timestamp{});
  this->reopen();
  EXPECT_EQ(this->known(dir).limits, (QuotaLimits{.bytes = 100, .soft_bytes = 10, .grace_s = 3600}));
  // The stored clock is that of the commit, a moment later.
  EXPECT_GE(this->known(dir).since.bytes, since);
  EXPECT_TRUE(this->write(file, 0, this->text(12)));
  ASSERT_TRUE(this->limit(dir, {.bytes = 100, .soft_bytes = 10, .grace_s = 0}));
  EXPECT_EQ(this->write(file, 0, this->text(13)).error().code, Errc::kQuota);
  EXPECT_TRUE(this->write(file, 0, this->text(12)));
  EXPECT_TRUE(this->truncate(file, 10));
  EXPECT_EQ(this->known(dir).since, SoftExcess{});
  this->reopen();
  EXPECT_EQ(this->known(dir).since, SoftExcess{});
  EXPECT_TRUE(this->write(file, 0, this->text(20)));
  EXPECT_EQ(this->write(file, 0, this->text(21)).error().code, Errc::kQuota);
}

TYPED_TEST(QuotaTest, WhenASoftLimitIsPassedOrKeptAgainTheJournalSaysSo) {
  const auto changes = [&] {
    std::size_t found = 0;
    const auto it = this->kv_->scan(Family::kJournal, {}, {});
    for (; it->valid(); it->next()) {
      const auto record = JournalRecord::decode(it->value());
      EXPECT_TRUE(record);
      if (record && record->kind == ChangeKind::kQuota) ++found;
    }
    return found;
  };
  const FileId dir = *this->mkdir(kRootId, "d");
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = dir, .limits = {.soft_files = 1}}));
  const std::size_t before = changes();
  for (const char* name : {"a", "b"}) ASSERT_TRUE(this->create(dir, name));
  ASSERT_TRUE(this->volume_->run_gc());
  ASSERT_TRUE(this->volume_->flush());
  EXPECT_EQ(changes(), before + 1);
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = dir, .name = "a"}));
  ASSERT_TRUE(this->volume_->run_gc());
  ASSERT_TRUE(this->volume_->flush());
  EXPECT_EQ(changes(), before + 2);
  const auto events = this->volume_->events().after(0);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kSoftLimitPassed);
  EXPECT_EQ(events[1].kind, EventKind::kSoftLimitKept);
  EXPECT_EQ(events[1].path, "/d");
  EXPECT_EQ(events[0].facts,
            (std::vector<std::string>{"", "", "0", "2", "", "1", std::to_string(QuotaLimits{}.grace_s)}));
}

TYPED_TEST(QuotaTest, WhatMovesWithinOrIsReplacedDoesNotStopTheStoredClock) {
  const FileId dir = this->mkdir(kRootId, "d").value();
  const FileId a = this->mkdir(dir, "a").value(), b = this->mkdir(dir, "b").value();
  ASSERT_TRUE(this->limit(dir, {.soft_bytes = 10}));
  ASSERT_TRUE(this->put(dir, "a/f", this->text(20)));
  this->reopen();
  const Timestamp since = this->known(dir).since.bytes;
  ASSERT_NE(since, Timestamp{});
  ASSERT_TRUE(this->rename(a, "f", b, "f"));
  ASSERT_TRUE(this->put(dir, "b/f", this->text(30)));
  ASSERT_TRUE(this->put(dir, "a/g", this->text(15)));
  ASSERT_TRUE(this->rename(a, "g", b, "f"));
  ASSERT_TRUE(this->rename(dir, "b", a, "b"));
  EXPECT_EQ(this->known(dir).since.bytes, since);
  this->reopen();
  EXPECT_EQ(this->known(dir).since.bytes, since);
}

TYPED_TEST(QuotaTest, ASoftLimitAboveTheHardOneIsRefused) {
  const FileId dir = this->mkdir(kRootId, "d").value();
  EXPECT_EQ(this->limit(dir, {.bytes = 100, .soft_bytes = 101}).error().code, Errc::kInvalid);
  EXPECT_EQ(this->limit(dir, {.files = 1, .soft_files = 2}).error().code, Errc::kInvalid);
  EXPECT_TRUE(this->limit(dir, {.bytes = 100, .soft_bytes = 100, .soft_files = 7}));
}

TYPED_TEST(QuotaTest, WhatIsLeftIsToldWithSoftLimits) {
  const FileId dir = this->mkdir(kRootId, "d").value();
  ASSERT_TRUE(this->limit(dir, {.bytes = 100, .files = 10, .soft_bytes = 50}));
  ASSERT_TRUE(this->write(this->create(dir, "f").value(), 0, this->text(30)));
  const StatfsReply fs = this->ns().statfs(this->root_, {dir}).value();
  EXPECT_EQ(fs.bytes_total, 100u);
  EXPECT_EQ(fs.bytes_available, 70u);
  EXPECT_EQ(fs.bytes_quota.used, 30u);
  EXPECT_EQ(fs.bytes_quota.soft_room, 20u);
  EXPECT_EQ(fs.files_total, 10u);
  EXPECT_EQ(fs.files_free, 9u);
}

// --- limits of new children

TYPED_TEST(QuotaTest, EachNewDirectoryGetsTheLimitsForChildren) {
  const FileId homes = this->mkdir(kRootId, "homes").value();
  const FileId before = this->mkdir(homes, "before").value();
  ASSERT_TRUE(this->limit(homes, {.bytes = 10}, QuotaOf::kChildren));
  const FileId ann = this->mkdir(homes, "ann").value();
  EXPECT_EQ(this->known(ann).limits, (QuotaLimits{.bytes = 10}));
  EXPECT_EQ(this->known(before).limits, QuotaLimits{});
  EXPECT_EQ(this->known(homes).limits, QuotaLimits{});
  // Below a child there are no more of them.
  EXPECT_EQ(this->known(this->mkdir(ann, "deeper").value()).limits, QuotaLimits{});
  EXPECT_EQ(this->write(this->create(ann, "f").value(), 0, this->text(11)).error().code, Errc::kQuota);
  // The directory that a key implies is one, too.
  EXPECT_EQ(this->put(homes, "bob/key", this->text(11)).error().code, Errc::kQuota);
  ASSERT_TRUE(this->put(homes, "bob/key", this->text(10)));
  this->reopen();
  EXPECT_EQ(this->known(ann).limits, (QuotaLimits{.bytes = 10}));
  EXPECT_EQ(this->known(homes).child_limits, (QuotaLimits{.bytes = 10}));
  const auto quotas = this->ns().list_quotas(this->root_, {});
  EXPECT_EQ(quotas->quotas.size(), 3u);  // homes, ann, bob
  ASSERT_TRUE(this->limit(homes, {}, QuotaOf::kChildren));
  EXPECT_EQ(this->known(this->mkdir(homes, "carl").value()).limits, QuotaLimits{});
  EXPECT_EQ(this->known(ann).limits, (QuotaLimits{.bytes = 10}));
}

TYPED_TEST(QuotaTest, ADirectoryThatMovesInGetsThemUnlessItHasItsOwn) {
  const FileId homes = this->mkdir(kRootId, "homes").value();
  ASSERT_TRUE(this->limit(homes, {.bytes = 10}, QuotaOf::kChildren));
  const FileId small = this->mkdir(kRootId, "small").value();
  ASSERT_TRUE(this->write(this->create(small, "f").value(), 0, this->text(10)));
  const FileId large = this->mkdir(kRootId, "large").value();
  ASSERT_TRUE(this->write(this->create(large, "f").value(), 0, this->text(11)));
  ASSERT_TRUE(this->rename(kRootId, "small", homes, "small"));
  EXPECT_EQ(this->known(small).limits, (QuotaLimits{.bytes = 10}));
  EXPECT_EQ(this->rename(kRootId, "large", homes, "large").error().code, Errc::kQuota);
  EXPECT_EQ(this->known(large).limits, QuotaLimits{});
  ASSERT_TRUE(this->limit(large, {.bytes = 1000}));
  ASSERT_TRUE(this->rename(kRootId, "large", homes, "large"));
  EXPECT_EQ(this->known(large).limits, (QuotaLimits{.bytes = 1000}));
}

TYPED_TEST(QuotaTest, ADirectoryThatIsGoneLeavesNoQuotaBehind) {
  const FileId homes = this->mkdir(kRootId, "homes").value();
  ASSERT_TRUE(this->limit(homes, {.files = 5}, QuotaOf::kChildren));
  ASSERT_TRUE(this->mkdir(homes, "ann"));
  EXPECT_EQ(this->ns().list_quotas(this->root_, {})->quotas.size(), 2u);
  ASSERT_TRUE(this->ns().rmdir(this->root_, {homes, "ann"}));
  EXPECT_EQ(this->ns().list_quotas(this->root_, {})->quotas.size(), 1u);
}

// --- users and groups

TYPED_TEST(QuotaTest, WhatUsersAndGroupsOwnIsExact) {
  const FileId dir = this->counted("d");
  const FileId deep = this->mkdir(dir, "deep").value();  // of root
  const FileId a = this->create_as(deep, "a", kAnn).value();
  ASSERT_TRUE(this->write(a, 0, this->text(100)));
  ASSERT_TRUE(this->write(a, 50, this->text(100'000)));  // beyond inline size
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{100'050, 1, 0}));
  ASSERT_TRUE(this->truncate(a, 70));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{70, 1, 0}));
  EXPECT_EQ(this->of_group(dir, kStaff), (Usage{70, 1, 0}));
  EXPECT_EQ(this->of_user(dir, 0), (Usage{0, 0, 1}));
  ASSERT_TRUE(this->chown(a, kBob));
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});
  EXPECT_EQ(this->of_user(dir, kBob), (Usage{70, 1, 0}));
  EXPECT_EQ(this->of_group(dir, kStaff), (Usage{70, 1, 0}));
  ASSERT_TRUE(this->chown(deep, kAnn));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{0, 0, 1}));
  this->reopen();
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{0, 0, 1}));
  EXPECT_EQ(this->of_user(dir, kBob), (Usage{70, 1, 0}));
  EXPECT_EQ(this->usage(dir), (Usage{70, 1, 1}));
  ASSERT_TRUE(this->unlink(deep, "a"));
  ASSERT_TRUE(this->ns().rmdir(this->root_, {dir, "deep"}));
  EXPECT_TRUE(this->ns().list_owner_quotas(this->root_, {dir})->owners.empty());
}

TYPED_TEST(QuotaTest, LimitsOfUsersAndGroupsHoldForEveryWayToGrow) {
  const FileId dir = this->counted("d");
  ASSERT_TRUE(this->limit(dir, {.bytes = 100, .files = 2}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(dir, {.bytes = 150}, QuotaOf::kGroup, kStaff));
  const FileId a = this->create_as(dir, "a", kAnn).value();
  const FileId b = this->create_as(dir, "b", kBob).value();
  ASSERT_TRUE(this->write(a, 0, this->text(100)));
  EXPECT_EQ(this->write(a, 100, "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->truncate(a, 101).error().code, Errc::kQuota);
  ASSERT_TRUE(this->write(b, 0, this->text(50)));
  EXPECT_EQ(this->write(b, 50, "x").error().code, Errc::kQuota);  // the group
  ASSERT_TRUE(this->create_as(dir, "a2", kAnn));
  EXPECT_EQ(this->create_as(dir, "a3", kAnn).error().code, Errc::kQuota);
  EXPECT_EQ(this->chown(b, kAnn).error().code, Errc::kQuota);
  EXPECT_EQ(this->of_user(dir, kBob), (Usage{50, 1, 0}));
  // The limits go with a restart no more than the usage.
  this->reopen();
  EXPECT_EQ(this->write(a, 100, "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn})->limits,
            (QuotaLimits{.bytes = 100, .files = 2}));
  ASSERT_TRUE(this->limit(dir, {}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->chown(a, kAnn, kStaff + 1));
  EXPECT_TRUE(this->write(a, 100, "x"));
  const auto owners = this->ns().list_owner_quotas(this->root_, {dir});
  ASSERT_EQ(owners->owners.size(), 4u);
  EXPECT_EQ(owners->owners[0].id, kAnn);
  EXPECT_EQ(owners->owners[2].of, QuotaOf::kGroup);
  EXPECT_EQ(owners->owners[2].limits, (QuotaLimits{.bytes = 150}));
  const auto page = this->ns().list_owner_quotas(this->root_, {dir, std::pair(QuotaOf::kUser, kBob), 1});
  ASSERT_EQ(page->owners.size(), 1u);
  EXPECT_TRUE(page->truncated);
  EXPECT_EQ(page->owners[0].id, kStaff);
}

TYPED_TEST(QuotaTest, StatfsIsThatOfTheCaller) {
  const FileId dir = this->counted("d");
  ASSERT_TRUE(this->limit(dir, {.bytes = 100}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(dir, {.bytes = 300}, QuotaOf::kGroup, kStaff));
  OpContext ctx;
  ctx.cred = {.uid = kAnn, .gid = kStaff};
  EXPECT_EQ(this->ns().statfs(ctx, {dir})->bytes_total, 100u);
  ctx.cred = {.uid = kBob, .gid = kStaff};
  EXPECT_EQ(this->ns().statfs(ctx, {dir})->bytes_total, 300u);
  ctx.cred = {.uid = kBob, .gid = kStaff + 1};
  EXPECT_FALSE(this->ns().statfs(ctx, {dir})->bytes_quota.limited());
}

TYPED_TEST(QuotaTest, OwnersAreCountedWhereThatIsAskedFor) {
  const FileId dir = this->mkdir(kRootId, "d").value();
  EXPECT_EQ(this->limit(dir, {.bytes = 1}, QuotaOf::kUser, kAnn).error().code, Errc::kNotSupported);
  EXPECT_EQ(this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn}).error().code, Errc::kNotSupported);
  EXPECT_EQ(this->ns().list_owner_quotas(this->root_, {dir}).error().code, Errc::kNotSupported);
  ASSERT_TRUE(this->ns().count_owners(this->root_, {dir, true}));
  ASSERT_TRUE(this->ns().count_owners(this->root_, {dir, true}));  // as it is
  EXPECT_FALSE(this->known(dir).counting);                         // nothing was there
  ASSERT_TRUE(this->create_as(dir, "f", kAnn));
  ASSERT_TRUE(this->limit(dir, {.files = 1}, QuotaOf::kUser, kAnn));
  EXPECT_EQ(this->create_as(dir, "g", kAnn).error().code, Errc::kQuota);
  ASSERT_TRUE(this->ns().count_owners(this->root_, {dir, false}));
  EXPECT_TRUE(this->create_as(dir, "g", kAnn));
  this->reopen();
  EXPECT_FALSE(this->known(dir).counts_owners);
  OpContext ann;
  ann.cred = {.uid = kAnn, .gid = kStaff};
  EXPECT_EQ(this->ns().count_owners(ann, {dir, true}).error().code, Errc::kNotOwner);
}

TYPED_TEST(QuotaTest, FilesTakeTheirOwnersChargeAcross) {
  const FileId dir = this->counted("d");
  const FileId out = this->mkdir(kRootId, "out").value();
  ASSERT_TRUE(this->limit(dir, {.bytes = 50}, QuotaOf::kUser, kAnn));
  const FileId file = this->create_as(out, "f", kAnn).value();
  ASSERT_TRUE(this->write(file, 0, this->text(51)));
  EXPECT_EQ(this->rename(out, "f", dir, "f").error().code, Errc::kQuota);
  ASSERT_TRUE(this->truncate(file, 50));
  ASSERT_TRUE(this->rename(out, "f", dir, "f"));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{50, 1, 0}));
  ASSERT_TRUE(this->rename(dir, "f", out, "f"));
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});
  // Over a file of the same owner: the replaced one makes room.
  ASSERT_TRUE(this->write(this->create_as(dir, "g", kAnn).value(), 0, this->text(50)));
  ASSERT_TRUE(this->rename(out, "f", dir, "g"));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{50, 1, 0}));
}

TYPED_TEST(QuotaTest, AFullDirectoryDoesNotCrossWhereOwnersAreCounted) {
  const FileId dir = this->counted("d");
  const FileId out = this->mkdir(kRootId, "out").value();
  const FileId moved = this->mkdir(out, "m").value();
  ASSERT_TRUE(this->create_as(moved, "f", kAnn));
  EXPECT_EQ(this->rename(out, "m", dir, "m").error().code, Errc::kCrossDevice);
  ASSERT_TRUE(this->unlink(moved, "f"));
  ASSERT_TRUE(this->chown(moved, kAnn));
  ASSERT_TRUE(this->rename(out, "m", dir, "m"));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{0, 0, 1}));
  ASSERT_TRUE(this->create_as(moved, "f", kAnn));
  EXPECT_EQ(this->rename(dir, "m", out, "m").error().code, Errc::kCrossDevice);
  // Within the directory that counts, and together with it, everything moves.
  const FileId inner = this->mkdir(dir, "inner").value();
  ASSERT_TRUE(this->rename(dir, "m", inner, "m"));
  ASSERT_TRUE(this->rename(kRootId, "d", out, "d"));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{0, 1, 1}));
}

TYPED_TEST(QuotaTest, HardLinksOrphansAndKeysAreCountedForTheirOwner) {
  const FileId dir = this->counted("d");
  const FileId one = this->mkdir(dir, "one").value();
  const FileId two = this->mkdir(dir, "two").value();
  const FileId file = this->create_as(one, "f", kAnn).value();
  ASSERT_TRUE(this->write(file, 0, this->text(10)));
  ASSERT_TRUE(this->ns().link(this->root_, {.id = file, .parent = two, .name = "g"}));
  ASSERT_TRUE(this->unlink(one, "f"));  // the charge moves to the other directory
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{10, 1, 0}));
  OpContext ann;
  ann.cred = {.uid = kAnn, .gid = kStaff};
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = dir, .set = {.mode = 0777}}));
  const auto put = [&](const std::string& bytes) -> Status {
    STOA_CHECK_OK(this->ns().put_key(ann, {.root = dir, .key = "p/q/key", .bytes = std::as_bytes(std::span(bytes))}));
    return {};
  };
  ASSERT_TRUE(put(this->text(7)));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{17, 2, 2}));
  ASSERT_TRUE(put(this->text(3)));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{13, 2, 2}));
  ASSERT_TRUE(this->ns().remove_key(ann, {.root = dir, .key = "p/q/key"}));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{10, 1, 0}));
  ASSERT_TRUE(this->unlink(two, "g"));
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});
}

TYPED_TEST(QuotaTest, TwoDirectoriesOnOneChainCountEachForItself) {
  const FileId outer = this->counted("outer");
  const FileId inner = this->mkdir(outer, "inner").value();
  ASSERT_TRUE(this->ns().count_owners(this->root_, {inner, true}));
  ASSERT_TRUE(this->limit(outer, {.bytes = 30}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(inner, {.bytes = 20}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->write(this->create_as(inner, "f", kAnn).value(), 0, this->text(20)));
  EXPECT_EQ(this->write(this->create_as(inner, "g", kAnn).value(), 0, "x").error().code, Errc::kQuota);
  ASSERT_TRUE(this->write(this->create_as(outer, "h", kAnn).value(), 0, this->text(10)));
  EXPECT_EQ(this->write(this->create_as(outer, "i", kAnn).value(), 0, "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->of_user(inner, kAnn).bytes, 20);
  EXPECT_EQ(this->of_user(outer, kAnn).bytes, 30);
}

// Everything at once, and the verifier counts again.
TYPED_TEST(QuotaTest, ManyWritersOwnersAndRenamesStayExact) {
  const FileId dir = this->counted("d");
  const FileId out = this->mkdir(kRootId, "out").value();
  constexpr std::int64_t kMost = 200'000;
  ASSERT_TRUE(this->limit(dir, {.bytes = 3 * kMost}));
  ASSERT_TRUE(this->limit(dir, {.bytes = kMost, .files = 12}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(dir, {.bytes = 2 * kMost}, QuotaOf::kGroup, kStaff));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      unsigned random = t + 1;
      const auto next = [&random](unsigned below) { return (random = random * 1103515245u + 12345u) / 65536u % below; };
      OpContext lazy;
      lazy.durability = Durability::kApplied;
      for (int i = 0; i < 300; ++i) {
        const FileId in = next(2) == 0 ? dir : out, other = next(2) == 0 ? dir : out;
        const std::string name = std::to_string(next(6));
        const std::uint32_t uid = next(2) == 0 ? kAnn : kBob;
        const auto found = this->ns().lookup(lazy, {in, name});
        const std::string bytes = this->text(1 + next(40'000));
        const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
        switch (next(7)) {
          case 0:
            (void)this->create_as(in, name, uid, kStaff + next(2));
            break;
          case 1:
          case 2:
            if (found) (void)this->ns().write(lazy, {found->attr.id, next(30'000), pieces});
            break;
          case 3:
            if (found) (void)this->chown(found->attr.id, uid, kStaff + next(2));
            break;
          case 4:
            (void)this->rename(in, name, other, std::to_string(next(6)));
            break;
          case 5:
            if (found) (void)this->truncate(found->attr.id, next(20'000));
            break;
          default:
            (void)this->unlink(in, name);
            break;
        }
        EXPECT_LE(this->usage(dir).bytes, 3 * kMost);
        EXPECT_LE(this->of_user(dir, kAnn).bytes, kMost);
        EXPECT_LE(this->of_user(dir, kAnn).files, 12);
        EXPECT_LE(this->of_group(dir, kStaff).bytes, 2 * kMost);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  const Usage ann = this->of_user(dir, kAnn), bob = this->of_user(dir, kBob);
  EXPECT_EQ(ann.bytes + bob.bytes, this->usage(dir).bytes);
  this->reopen();
  EXPECT_EQ(this->of_user(dir, kAnn), ann);
}

}  // namespace
}  // namespace stoa::core::test

// Quotas that exclude recycled files or orphans.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "core/kv/keys.h"
#include "core/usage/usage_record.h"
#include "core/volume/volume_record.h"
#include "tests/core/usage/quota_fixture.h"

namespace stoa::core::test {
namespace {

constexpr ExcludedClasses kNoRecycled{UsageClass::kRecycled}, kNoOrphans{UsageClass::kOrphans},
    kOnlyLive{UsageClass::kRecycled, UsageClass::kOrphans};

// "team" has a recycle bin.
template <class Engine>
class ClassesTest : public QuotaTest<Engine> {
 protected:
  void SetUp() override {
    team_ = *this->mkdir(kRootId, "team");
    keep_deleted(team_);
  }
  void keep_deleted(FileId dir, bool on = true) {
    ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = dir, .enabled = on}));
  }
  FileId file(FileId dir, std::string_view name, std::size_t bytes, std::uint32_t uid = 0) {
    const auto made = this->create_as(dir, name, uid);
    EXPECT_TRUE(made);
    EXPECT_TRUE(this->write(made.value_or(kNoFile), 0, this->text(bytes)));
    return made.value_or(kNoFile);
  }
  OpenId open(FileId id) {
    StateTable& state = this->volume_->state();
    const auto opened = state.open({id, state.add_holder(Protocol::kNfs, nullptr), kShareBoth, kShareNone});
    EXPECT_TRUE(opened) << describe(opened.error());
    return opened.value_or(OpenId{});
  }
  void close(OpenId id) {
    this->volume_->state().close(id);
    ASSERT_TRUE(this->volume_->flush());
  }
  RecycleItemId item(std::string_view name) {
    const auto reply = this->ns().list_recycled({}, {.dir = kRootId});
    for (const RecycledItem& one : reply->items) {
      if (one.name == name) return one.item;
    }
    ADD_FAILURE() << "no item " << name;
    return {};
  }
  Status restore(std::string_view name, FileId to = kNoFile, std::string_view to_name = {}) {
    STOA_CHECK_OK(this->ns().restore({}, {item(name), to, to_name}));
    return {};
  }
  Status purge(std::string_view name) {
    STOA_CHECK_OK(this->ns().purge({}, {.dir = kRootId, .items = {item(name)}}));
    return {};
  }
  // Bytes: all, and by class that is not live; the usage that limits see follows.
  void expect_bytes(FileId dir, std::int64_t all, std::int64_t recycled, std::int64_t orphan) {
    const UsageReply reply = this->known(dir);
    EXPECT_EQ(reply.usage.bytes, all);
    EXPECT_EQ(reply.by_class[UsageClass::kRecycled].bytes, recycled);
    EXPECT_EQ(reply.by_class[UsageClass::kOrphans].bytes, orphan);
    EXPECT_EQ(reply.counted.bytes, all - (reply.excluded.has(UsageClass::kRecycled) ? recycled : 0) -
                                       (reply.excluded.has(UsageClass::kOrphans) ? orphan : 0));
  }
  Status grow(FileId id, std::uint64_t to) { return this->truncate(id, to); }

  FileId team_{};
};
TYPED_TEST_SUITE(ClassesTest, Engines);

TYPED_TEST(ClassesTest, WithoutADeclarationEverythingCounts) {
  const FileId a = this->file(this->team_, "a", 60);
  this->file(this->team_, "b", 40);
  ASSERT_TRUE(this->limit(this->team_, {.bytes = 100}));
  ASSERT_TRUE(this->unlink(this->team_, "b"));
  this->expect_bytes(this->team_, 100, 40, 0);
  this->expect_bytes(kRootId, 100, 40, 0);
  EXPECT_EQ(code(this->grow(a, 61)), Errc::kQuota);
  EXPECT_TRUE(this->restore("b"));
  this->expect_bytes(this->team_, 100, 0, 0);
}

TYPED_TEST(ClassesTest, WhatIsRecycledMakesRoomWhereItIsNotCounted) {
  const FileId a = this->file(this->team_, "a", 60);
  this->file(this->team_, "b", 40);
  ASSERT_TRUE(this->limit(this->team_, {.bytes = 100, .files = 2, .excluded = kNoRecycled}));
  EXPECT_EQ(code(this->grow(a, 61)), Errc::kQuota);
  ASSERT_TRUE(this->unlink(this->team_, "b"));
  this->expect_bytes(this->team_, 100, 40, 0);
  EXPECT_EQ(this->known(this->team_).counted, (Usage{60, 1, 0}));
  ASSERT_TRUE(this->grow(a, 100));
  EXPECT_EQ(code(this->grow(a, 101)), Errc::kQuota);
  EXPECT_EQ(code(this->restore("b")), Errc::kQuota);
  this->expect_bytes(this->team_, 140, 40, 0);
  const auto seen = this->ns().statfs({}, {this->team_});
  EXPECT_EQ(seen->bytes_quota.used, 100u);
  EXPECT_EQ(seen->bytes_available, 0u);
  EXPECT_EQ(seen->files_available, 1u);
  ASSERT_TRUE(this->grow(a, 60));
  EXPECT_TRUE(this->restore("b"));
  EXPECT_EQ(code(this->grow(a, 61)), Errc::kQuota);
  // A rename over it needs room for the difference only; so does a key.
  ASSERT_TRUE(this->rename(this->team_, "a", this->team_, "b"));
  this->expect_bytes(this->team_, 100, 40, 0);
  ASSERT_TRUE(this->put(this->team_, "b", this->text(100)));
  EXPECT_EQ(this->put(this->team_, "b", this->text(101)).error().code, Errc::kQuota);
  this->expect_bytes(this->team_, 200, 100, 0);
  // It outlives a restart, and ends at once.
  this->reopen();
  EXPECT_EQ(this->known(this->team_).limits, (QuotaLimits{.bytes = 100, .files = 2, .excluded = kNoRecycled}));
  this->expect_bytes(this->team_, 200, 100, 0);
  EXPECT_EQ(code(this->grow(*this->create(this->team_, "c"), 1)), Errc::kQuota);
  ASSERT_TRUE(this->limit(this->team_, {.bytes = 250}));
  EXPECT_EQ(this->known(this->team_).counted.bytes, 200);
  ASSERT_TRUE(this->purge("b"));  // the older of them
  this->expect_bytes(this->team_, 160, 60, 0);
}

TYPED_TEST(ClassesTest, WhatHasNoNameMakesRoomWhereItIsNotCounted) {
  const FileId plain = *this->mkdir(kRootId, "plain");
  const FileId a = this->file(plain, "a", 60), b = this->file(plain, "b", 40);
  ASSERT_TRUE(this->limit(plain, {.bytes = 100, .excluded = kNoOrphans}));
  const OpenId opened = this->open(b);
  ASSERT_TRUE(this->unlink(plain, "b"));
  this->expect_bytes(plain, 100, 0, 40);
  this->expect_bytes(kRootId, 100, 0, 40);
  ASSERT_TRUE(this->grow(a, 100));
  EXPECT_EQ(code(this->grow(a, 101)), Errc::kQuota);
  // No limit sees it.
  ASSERT_TRUE(this->grow(b, 500));
  ASSERT_TRUE(this->write(b, 500, this->text(500)));
  this->expect_bytes(plain, 1100, 0, 1000);
  ASSERT_TRUE(this->chown(b, kAnn));
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  // Above, it is counted.
  ASSERT_TRUE(this->limit(kRootId, {.bytes = 1100}));
  EXPECT_EQ(code(this->grow(b, 1001)), Errc::kQuota);
  ASSERT_TRUE(this->limit(plain, {.bytes = 100}));
  EXPECT_EQ(this->known(plain).counted.bytes, 1100);
  this->close(opened);
  this->expect_bytes(plain, 100, 0, 0);
}

TYPED_TEST(ClassesTest, QuotasThatAreNestedCountWhatEachDeclares) {
  const FileId inner = *this->mkdir(this->team_, "inner");
  const FileId a = this->file(inner, "a", 50), b = this->file(inner, "b", 50);
  ASSERT_TRUE(this->limit(kRootId, {.bytes = 200}));
  ASSERT_TRUE(this->limit(this->team_, {.bytes = 100, .excluded = kNoRecycled}));
  ASSERT_TRUE(this->limit(inner, {.bytes = 100, .excluded = kNoOrphans}));
  ASSERT_TRUE(this->unlink(inner, "b"));  // to the bin of team
  this->expect_bytes(inner, 50, 0, 0);
  this->expect_bytes(this->team_, 100, 50, 0);
  ASSERT_TRUE(this->grow(a, 100));
  EXPECT_EQ(code(this->grow(a, 101)), Errc::kQuota);
  this->keep_deleted(inner, false);
  const OpenId opened = this->open(a);
  ASSERT_TRUE(this->unlink(inner, "a"));
  this->expect_bytes(inner, 100, 0, 100);
  this->expect_bytes(this->team_, 150, 50, 100);
  EXPECT_EQ(code(this->put(inner, "c", "x").has_value() ? Status{} : Status(fail(Errc::kQuota))),
            Errc::kQuota);  // of team
  this->close(opened);
  EXPECT_TRUE(this->put(inner, "c", this->text(100)));
  this->expect_bytes(kRootId, 150, 50, 0);
  EXPECT_EQ(code(this->restore("b")), Errc::kQuota);
  static_cast<void>(b);
}

TYPED_TEST(ClassesTest, UsersAndGroupsAreLimitedByTheSame) {
  const FileId dir = this->counted("homes");
  this->keep_deleted(dir);
  EXPECT_EQ(code(this->limit(dir, {.bytes = 1, .excluded = kNoRecycled}, QuotaOf::kUser, kAnn)), Errc::kInvalid);
  ASSERT_TRUE(this->limit(dir, {.bytes = 100}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(dir, {.excluded = kNoRecycled}));
  this->file(dir, "a", 60, kAnn);
  const FileId b = this->file(dir, "b", 40, kBob);
  EXPECT_EQ(code(this->grow(this->file(dir, "c", 0, kAnn), 41)), Errc::kQuota);
  ASSERT_TRUE(this->unlink(dir, "a"));
  ASSERT_TRUE(this->chown(b, kAnn));
  const auto ann = this->ns().usage({}, {dir, QuotaOf::kUser, kAnn});
  EXPECT_EQ(ann->usage, (Usage{100, 3, 0}));
  EXPECT_EQ(ann->by_class[UsageClass::kRecycled], (Usage{60, 1, 0}));
  EXPECT_EQ(ann->counted, (Usage{40, 2, 0}));
  const auto owners = this->ns().list_owner_quotas({}, {.dir = dir});
  ASSERT_FALSE(owners->owners.empty());
  EXPECT_EQ(owners->owners[0].counted, (Usage{40, 2, 0}));
  EXPECT_TRUE(this->grow(b, 100));
  EXPECT_EQ(code(this->restore("a")), Errc::kQuota);
  EXPECT_EQ(code(this->grow(b, 101)), Errc::kQuota);
  this->reopen();
  EXPECT_EQ(code(this->grow(b, 101)), Errc::kQuota);
  ASSERT_TRUE(this->limit(dir, {}));
  EXPECT_EQ(code(this->grow(b, 99)), Errc{});
  EXPECT_EQ(code(this->grow(b, 100)), Errc::kQuota);
}

// A bin in a directory that goes to a bin; folder markers with other owners than the directory.
TYPED_TEST(ClassesTest, DirectoriesTakeWhatIsInThemToTheBinAndBack) {
  const FileId homes = this->counted("homes");
  this->keep_deleted(homes);
  const FileId sub = *this->mkdir(homes, "sub");
  ASSERT_TRUE(this->put(homes, "sub/", ""));
  const auto marker = this->ns().lookup_key({}, {homes, "sub/"});
  ASSERT_TRUE(marker);
  ASSERT_TRUE(this->chown(marker->attr.id, kBob));
  ASSERT_TRUE(this->chown(sub, kAnn));
  this->keep_deleted(sub);
  this->file(sub, "a", 30, kBob);
  ASSERT_TRUE(this->unlink(sub, "a"));
  ASSERT_TRUE(this->limit(homes, {.files = 3, .excluded = kNoRecycled}));
  ASSERT_TRUE(this->limit(homes, {.files = 1}, QuotaOf::kUser, kBob));
  EXPECT_EQ(this->known(homes).by_class[UsageClass::kRecycled], (Usage{30, 1, 0}));
  ASSERT_TRUE(this->ns().rmdir({}, {homes, "sub"}));
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  EXPECT_EQ(this->known(homes).usage, (Usage{30, 2, 1}));
  EXPECT_EQ(this->known(homes).by_class[UsageClass::kRecycled], (Usage{30, 2, 1}));
  const auto bob = [&] { return this->ns().usage({}, {homes, QuotaOf::kUser, kBob}); };
  EXPECT_EQ(bob()->by_class[UsageClass::kRecycled], (Usage{30, 2, 0}));
  EXPECT_EQ(bob()->counted, Usage{});
  const FileId mine = this->file(homes, "mine", 0, kBob);
  EXPECT_EQ(code(this->restore("sub")), Errc::kQuota);  // for bob's marker
  ASSERT_TRUE(this->chown(mine, kAnn));
  ASSERT_TRUE(this->restore("sub"));
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  EXPECT_EQ(bob()->counted, (Usage{0, 1, 0}));
  EXPECT_EQ(this->known(homes).by_class[UsageClass::kRecycled], (Usage{30, 1, 0}));
  // A directory with a bin moves among live ones.
  ASSERT_TRUE(this->limit(homes, {.excluded = kNoRecycled}));
  const FileId other = *this->mkdir(homes, "other");
  ASSERT_TRUE(this->ns().rename({}, {homes, "sub", other, "sub"}));
  EXPECT_EQ(this->known(other).by_class[UsageClass::kRecycled], (Usage{30, 1, 0}));
  EXPECT_EQ(this->known(homes).by_class[UsageClass::kRecycled], (Usage{30, 1, 0}));
}

// It is open, and purged: outside of the bin it would count, and there is no room.
TYPED_TEST(ClassesTest, APurgeNeedsNoRoomForWhatIsOpen) {
  const FileId a = this->file(this->team_, "a", 60);
  const OpenId opened = this->open(a);
  ASSERT_TRUE(this->unlink(this->team_, "a"));
  const FileId b = this->file(this->team_, "b", 60);
  ASSERT_TRUE(this->limit(this->team_, {.bytes = 100, .excluded = kNoRecycled}));
  ASSERT_TRUE(this->purge("a"));
  this->expect_bytes(this->team_, 120, 60, 0);  // it stays recycled
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  EXPECT_EQ(code(this->grow(b, 101)), Errc::kQuota);
  ASSERT_TRUE(this->grow(b, 100));
  this->close(opened);
  this->expect_bytes(this->team_, 100, 0, 0);
  // With room, it counts as its own class.
  ASSERT_TRUE(this->grow(b, 10));
  const FileId c = this->file(this->team_, "c", 60);
  const OpenId again = this->open(c);
  ASSERT_TRUE(this->unlink(this->team_, "c"));
  ASSERT_TRUE(this->purge("c"));
  this->expect_bytes(this->team_, 70, 0, 60);
  EXPECT_EQ(code(this->grow(b, 41)), Errc::kQuota);
  this->close(again);
}

TYPED_TEST(ClassesTest, ABinThatCountsInTheVolumeOnlyIsRecycledThere) {
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = this->team_, .counted = false}));
  this->file(this->team_, "a", 60);
  ASSERT_TRUE(this->unlink(this->team_, "a"));
  this->expect_bytes(this->team_, 0, 0, 0);
  this->expect_bytes(kRootId, 60, 60, 0);
  ASSERT_TRUE(this->limit(this->team_, {.bytes = 10, .excluded = kNoRecycled}));
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = this->team_}));
  ASSERT_TRUE(this->volume_->run_purge(wall_now()));  // becomes counted, though there would be no room for it as live
  this->expect_bytes(this->team_, 60, 60, 0);
}

TYPED_TEST(ClassesTest, NewDirectoriesDeclareWhatTheirParentSays) {
  const FileId homes = *this->mkdir(kRootId, "homes");
  ASSERT_TRUE(this->limit(homes, {.bytes = 100, .excluded = kOnlyLive}, QuotaOf::kChildren));
  const FileId ann = *this->mkdir(homes, "ann");
  EXPECT_EQ(this->known(ann).limits, (QuotaLimits{.bytes = 100, .excluded = kOnlyLive}));
  // A directory from elsewhere is compared by its future counts.
  const FileId bob = *this->mkdir(this->team_, "bob");
  this->keep_deleted(bob);
  this->file(bob, "a", 60);
  this->file(bob, "b", 60);
  EXPECT_EQ(code(this->rename(this->team_, "bob", homes, "bob")), Errc::kQuota);
  ASSERT_TRUE(this->unlink(bob, "a"));
  ASSERT_TRUE(this->rename(this->team_, "bob", homes, "bob"));
  EXPECT_EQ(this->known(bob).counted.bytes, 60);
  const auto quotas = this->ns().list_quotas({}, {});
  ASSERT_EQ(quotas->quotas.size(), 3u);
  EXPECT_EQ(quotas->quotas[2].counted.bytes, 60);
  EXPECT_EQ(quotas->quotas[2].by_class[UsageClass::kRecycled].bytes, 60);
  // A declaration alone is listed, too, until it is taken back.
  ASSERT_TRUE(this->limit(bob, {.excluded = kNoRecycled}));
  ASSERT_TRUE(this->limit(homes, {.excluded = kNoRecycled}, QuotaOf::kChildren));
  this->reopen();
  EXPECT_EQ(this->ns().list_quotas({}, {})->quotas.size(), 3u);
  EXPECT_EQ(this->known(homes).child_limits.excluded, kNoRecycled);
  for (const FileId dir : {ann, bob}) ASSERT_TRUE(this->limit(dir, {}));
  ASSERT_TRUE(this->limit(homes, {}, QuotaOf::kChildren));
  EXPECT_TRUE(this->ns().list_quotas({}, {})->quotas.empty());
}

// The verifier recounts the stored classes, each by itself.
TYPED_TEST(ClassesTest, TheVerifierFindsClassesThatAreNotRight) {
  const FileId homes = this->counted("homes");
  this->keep_deleted(homes);
  this->file(homes, "b", 7, kAnn);
  ASSERT_TRUE(this->unlink(homes, "b"));
  const FileId open = this->file(homes, "open", 11);
  this->open(open);
  this->keep_deleted(homes, false);
  ASSERT_TRUE(this->unlink(homes, "open"));
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  EXPECT_EQ(this->known(homes).by_class[UsageClass::kOrphans].bytes, 11);
  EXPECT_EQ(this->known(homes).by_class[UsageClass::kRecycled].bytes, 7);
  WriteBatch wrong, right;
  const auto it = this->kv_->scan(Family::kUsage, {}, {});
  for (; it->valid(); it->next()) {
    if (keys::owner_of(it->key())) continue;
    right.put(Family::kUsage, it->key(), it->value());
    UsageRecord record = *UsageRecord::decode(it->value());
    record.by_class = {};
    wrong.put(Family::kUsage, it->key(), record.encode());
  }
  const auto apply = [&](const WriteBatch& batch) {
    const WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(this->kv_->apply(batches));
  };
  apply(wrong);
  const auto report = this->volume_->check({});
  ASSERT_TRUE(report);
  for (const char* what : {"recycled", "orphans"}) {
    EXPECT_TRUE(std::ranges::any_of(report->problems, [&](const Finding& found) {
      return found.kind == FindingKind::kUsageDiffers && found.facts[3] == what && found.facts[4] == "0";
    })) << what;
  }
  apply(right);
}

// Writers fill the room left by deletes, purges and restores, while the excluded classes change again and again.
TYPED_TEST(ClassesTest, NoByteTooManyWhileAllHappensAtOnce) {
  constexpr std::uint64_t kLimit = 5000;
  const FileId homes = this->counted("homes");
  this->keep_deleted(homes);
  ASSERT_TRUE(this->limit(homes, {.bytes = kLimit, .excluded = kOnlyLive}));
  std::atomic<bool> over{false}, stop{false};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::string name = "f" + std::to_string(t) + "-" + std::to_string(i);
        const auto made = this->create_as(homes, name, kAnn + t % 2);
        if (!made) continue;
        (void)this->write(*made, 0, this->text(100 + 37 * t));
        (void)this->write(*made, 300, this->text(10));
        OpenId opened{};
        if (i % 5 == 0) opened = this->open(*made);
        if (i % 3 != 0) (void)this->unlink(homes, name);
        if (i % 7 == 0) (void)this->ns().purge({}, {.dir = homes});
        if (i % 4 == 0) {
          const auto items = this->ns().list_recycled({}, {.dir = homes, .limit = 1});
          if (items && !items->items.empty()) (void)this->ns().restore({}, {.item = items->items[0].item});
        }
        if (i % 5 == 0) this->volume_->state().close(opened);
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      // Live usage never exceeds either, because no file gets its name back.
      for (const ExcludedClasses& excluded : {kOnlyLive, kNoRecycled}) {
        if (!this->limit(homes, {.bytes = kLimit, .excluded = excluded})) over = true;
        const UsageReply reply = this->known(homes);
        const ByteCount live = reply.usage.bytes - reply.by_class[UsageClass::kRecycled].bytes -
                               reply.by_class[UsageClass::kOrphans].bytes;
        if (live > ByteCount{kLimit}) over = true;
      }
    }
  });
  for (std::size_t t = 0; t + 1 < threads.size(); ++t) threads[t].join();
  stop = true;
  threads.back().join();
  EXPECT_FALSE(over);
  ASSERT_TRUE(this->volume_->flush());
  this->expect_consistent();
  const UsageReply reply = this->known(homes);
  EXPECT_EQ(reply.by_class[UsageClass::kOrphans], Usage{});
  this->reopen();
  EXPECT_EQ(this->known(homes).by_class, reply.by_class);
  EXPECT_EQ(this->known(homes).usage, reply.usage);
}

}  // namespace
}  // namespace stoa::core::test

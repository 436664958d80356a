// Counting of users and groups starts in directories that are full already, while everything goes on.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "core/journal/journal.h"
#include "core/journal/note.h"
#include "core/kv/keys.h"
#include "core/usage/usage_record.h"
#include "tests/core/usage/quota_fixture.h"

namespace stoa::core::test {
namespace {

constexpr std::size_t kAll = 1'000'000;

template <class Engine>
class OwnerCountTest : public QuotaTest<Engine> {
 protected:
  Status count(FileId dir, bool on = true) { return this->ns().count_owners(this->root_, {dir, on}); }
  bool run(std::size_t files) {
    const auto done = this->volume_->run_owner_count(files);
    EXPECT_TRUE(done) << describe(done.error());
    return !done || *done;
  }
  void finish() {
    while (!this->run(kAll)) continue;
  }
  std::optional<OwnerCountProgress> counting(FileId dir) { return this->known(dir).counting; }

  using Balances = std::map<std::pair<QuotaOf, std::uint32_t>, std::pair<ByteCount, std::int64_t>>;
  static void note(Balances& all, QuotaOf of, std::uint32_t id, const Usage& usage) {
    if (usage != Usage{}) all[{of, id}] = {usage.bytes, usage.files * 1'000'000 + usage.directories};
  }
  Balances known_owners(FileId dir) {
    Balances all;
    const auto reply = this->ns().list_owner_quotas(this->root_, {dir});
    EXPECT_TRUE(reply) << describe(reply.error());
    if (!reply) return all;
    for (const OwnerQuota& owner : reply->owners) note(all, owner.of, owner.id, owner.usage);
    return all;
  }
  Balances stored_owners(FileId dir) {
    Balances all;
    const std::string prefix = keys::id_key(dir);
    const auto it = this->kv_->scan(Family::kUsage, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      const auto owner = keys::owner_of(it->key());
      if (owner) note(all, owner->of, owner->id, UsageRecord::decode(it->value())->usage);
    }
    return all;
  }
  // Reserved usage equals stored usage; the verifier checks that this is right.
  void expect_both_sides_agree(FileId dir) {
    ASSERT_TRUE(this->volume_->flush());
    EXPECT_EQ(counting(dir).has_value(), false);
    EXPECT_TRUE(known_owners(dir) == stored_owners(dir));
  }
  // One of ann's with 10 bytes, two of bob's with 27.
  FileId full(std::string_view name) {
    const FileId dir = this->mkdir(kRootId, name).value();
    EXPECT_TRUE(this->write(this->create_as(dir, "a", kAnn).value(), 0, this->text(10)));
    const FileId sub = this->mkdir(dir, "sub").value();
    EXPECT_TRUE(this->chown(sub, kBob));
    EXPECT_TRUE(this->write(this->create_as(sub, "b", kBob).value(), 0, this->text(20)));
    EXPECT_TRUE(this->write(this->create_as(sub, "c", kBob).value(), 0, this->text(7)));
    return dir;
  }
  std::size_t inodes() {
    EXPECT_TRUE(this->ns().list_quotas(this->root_, {}));  // a scan: committed changes are in the store
    std::size_t count = 0;
    const auto it = this->kv_->scan(Family::kInode, {}, {});
    for (; it->valid(); it->next()) ++count;
    return count;
  }
};
TYPED_TEST_SUITE(OwnerCountTest, Engines);

TYPED_TEST(OwnerCountTest, AFullDirectoryIsCountedAndThenItsLimitsBind) {
  const FileId dir = this->full("d");
  ASSERT_TRUE(this->limit(dir, {.files = 6}));
  ASSERT_TRUE(this->count(dir));
  ASSERT_TRUE(this->known(dir).counts_owners);
  const auto begun = this->counting(dir);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->looked_at, 0u);
  EXPECT_EQ(begun->in_all, 7u);  // with the roots
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});

  // Limits may be set at once, and refuse nothing yet; that of the directory does.
  ASSERT_TRUE(this->limit(dir, {.bytes = 10, .files = 1}, QuotaOf::kUser, kAnn));
  ASSERT_TRUE(this->limit(dir, {.bytes = 1}, QuotaOf::kGroup, kStaff));
  const FileId more = this->create_as(dir, "more", kAnn).value();
  EXPECT_TRUE(this->write(more, 0, "x"));
  EXPECT_TRUE(this->create_as(dir, "last", kAnn));
  EXPECT_EQ(this->create_as(dir, "beyond", kAnn).error().code, Errc::kQuota);
  OpContext ann;
  ann.cred = {.uid = kAnn, .gid = kStaff};
  EXPECT_FALSE(this->ns().statfs(ann, {dir})->bytes_quota.limited());

  EXPECT_FALSE(this->run(4));
  EXPECT_EQ(this->counting(dir)->looked_at, 4u);
  const auto preliminary = this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn});
  EXPECT_TRUE(preliminary->counting);
  EXPECT_TRUE(this->ns().list_owner_quotas(this->root_, {dir})->counting);
  const auto quotas = this->ns().list_quotas(this->root_, {});
  EXPECT_TRUE(quotas->quotas.front().counting && quotas->quotas.front().counts_owners);
  const std::uint64_t events = this->volume_->events().newest();
  const std::uint64_t journal = this->volume_->journal().newest().value();
  EXPECT_FALSE(this->run(kAll));
  EXPECT_TRUE(this->run(kAll));

  EXPECT_FALSE(this->counting(dir));
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{11, 3, 0}));
  EXPECT_EQ(this->of_user(dir, kBob), (Usage{27, 2, 1}));
  EXPECT_EQ(this->of_group(dir, kStaff), (Usage{38, 5, 1}));
  EXPECT_EQ(this->write(more, 1, "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->ns().statfs(ann, {dir})->bytes_quota.hard, 1u);
  EXPECT_TRUE(this->truncate(more, 0));
  const auto told = this->volume_->events().after(events);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kOwnersCounted);
  EXPECT_EQ(told[0].path, "/d");
  const auto page = this->volume_->journal().read(journal, 10);
  ASSERT_TRUE(page);
  EXPECT_TRUE(std::ranges::any_of(page->records, [&](const JournalRecord& record) {
    return record.kind == ChangeKind::kQuota && record.id == dir;
  }));
  this->expect_both_sides_agree(dir);
  this->reopen();
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{10, 3, 0}));
  EXPECT_EQ(this->create_as(dir, "no", kAnn).error().code, Errc::kQuota);
  EXPECT_TRUE(this->run(1));
}

TYPED_TEST(OwnerCountTest, ASoftLimitThatIsPassedAlreadyHasItsGraceFromTheEndOn) {
  const FileId dir = this->full("d");
  ASSERT_TRUE(this->count(dir));
  ASSERT_TRUE(this->limit(dir, {.soft_bytes = 5}, QuotaOf::kUser, kAnn));
  const auto since = [&] { return this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn})->since.bytes.ns; };
  this->run(6);
  EXPECT_EQ(since(), 0);
  this->finish();
  EXPECT_GT(since(), 0);
  const std::uint64_t events = this->volume_->events().newest();
  ASSERT_TRUE(this->volume_->run_gc());
  const auto told = this->volume_->events().after(events);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kSoftLimitPassed);
  this->reopen();
  EXPECT_GT(since(), 0);
}

TYPED_TEST(OwnerCountTest, AStartBeginsAnewAndKeepsLimits) {
  const FileId dir = this->full("d");
  ASSERT_TRUE(this->count(dir));
  ASSERT_TRUE(this->limit(dir, {.bytes = 10}, QuotaOf::kUser, kAnn));
  EXPECT_FALSE(this->run(6));
  ASSERT_TRUE(this->write(this->create_as(dir, "new", kAnn).value(), 0, "12345"));
  EXPECT_EQ(this->of_user(dir, kAnn).files, 2);
  EXPECT_TRUE(this->volume_->flush());
  EXPECT_TRUE(this->stored_owners(dir).empty());
  this->reopen();
  ASSERT_TRUE(this->counting(dir));
  EXPECT_EQ(this->counting(dir)->looked_at, 0u);
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});
  EXPECT_EQ(this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn})->limits, (QuotaLimits{.bytes = 10}));
  this->expect_consistent();
  this->finish();
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{15, 2, 0}));
  EXPECT_EQ(this->write(this->create_as(dir, "newer", kAnn).value(), 0, "x").error().code, Errc::kQuota);
}

// Only the state in the store: as after a power cut, with all unsynced changes applied.
using OwnerCountOnDiskTest = OwnerCountTest<RocksEngine>;
TEST_F(OwnerCountOnDiskTest, NothingHalfCountedSurvivesADeath) {
  const FileId dir = this->full("d");
  this->volume_.reset();
  this->kv_.reset();
  for (const std::size_t files : {std::size_t{0}, std::size_t{4}, kAll}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      this->kv_ = this->engine_.open(this->folder_ + "/meta");
      this->open();
      bool good = this->count(dir).has_value();
      if (files > 0) this->run(files);
      good = good && this->create_as(dir, "of" + std::to_string(files), kAnn).has_value();
      _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  this->kv_ = this->engine_.open(this->folder_ + "/meta");
  this->open();
  ASSERT_TRUE(this->known(dir).counts_owners);
  this->expect_consistent();
  this->finish();
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{10, 4, 0}));
  this->expect_both_sides_agree(dir);
}

TYPED_TEST(OwnerCountTest, ItCanBeCalledOffAndAskedForAgain) {
  const FileId dir = this->full("d");
  ASSERT_TRUE(this->count(dir));
  ASSERT_TRUE(this->limit(dir, {.bytes = 1}, QuotaOf::kUser, kAnn));
  EXPECT_FALSE(this->run(5));
  ASSERT_TRUE(this->count(dir, false));
  EXPECT_FALSE(this->known(dir).counts_owners);
  EXPECT_FALSE(this->counting(dir));
  EXPECT_EQ(this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn}).error().code, Errc::kNotSupported);
  ASSERT_TRUE(this->count(dir));  // waits for the next walk; this one knows half of it only
  EXPECT_FALSE(this->run(1));
  EXPECT_EQ(this->of_user(dir, kAnn), Usage{});
  EXPECT_EQ(this->ns().usage(this->root_, {dir, QuotaOf::kUser, kAnn})->limits, QuotaLimits{});
  this->finish();
  EXPECT_EQ(this->of_user(dir, kAnn), (Usage{10, 1, 0}));
  this->expect_both_sides_agree(dir);
  ASSERT_TRUE(this->count(dir, false));
  EXPECT_TRUE(this->run(kAll));
}

TYPED_TEST(OwnerCountTest, ADirectoryThatGoesIsForgotten) {
  const FileId dir = this->full("d");
  const FileId other = this->full("other");
  ASSERT_TRUE(this->count(dir));
  ASSERT_TRUE(this->count(other));
  EXPECT_FALSE(this->run(5));
  ASSERT_TRUE(this->ns().remove_tree(this->root_, {kRootId, "d"}));
  this->expect_consistent();
  this->finish();
  EXPECT_EQ(this->of_user(other, kBob), (Usage{27, 2, 1}));
  this->expect_both_sides_agree(other);
  // One that goes before its walk begins.
  ASSERT_TRUE(this->count(this->full("late")));
  ASSERT_TRUE(this->ns().remove_tree(this->root_, {kRootId, "late"}));
  EXPECT_TRUE(this->run(kAll));
}

TYPED_TEST(OwnerCountTest, ManyDirectoriesAreCountedTogetherAndInEachOther) {
  const FileId outer = this->full("outer");
  const FileId inner = this->ns().lookup(this->root_, {outer, "sub"})->attr.id;
  const FileId beside = this->full("beside");
  ASSERT_TRUE(this->count(outer));
  ASSERT_TRUE(this->count(beside));
  EXPECT_FALSE(this->run(6));
  ASSERT_TRUE(this->count(inner));  // waits for the next walk
  EXPECT_EQ(this->counting(inner)->looked_at, 0u);
  EXPECT_EQ(this->counting(outer)->looked_at, 6u);
  ASSERT_TRUE(this->write(this->create_as(inner, "new", kAnn).value(), 0, "123"));
  EXPECT_FALSE(this->run(kAll));
  EXPECT_FALSE(this->counting(outer));
  EXPECT_FALSE(this->counting(beside));
  EXPECT_TRUE(this->counting(inner));
  this->finish();
  EXPECT_EQ(this->of_user(outer, kAnn), (Usage{13, 2, 0}));
  EXPECT_EQ(this->of_user(inner, kAnn), (Usage{3, 1, 0}));
  EXPECT_EQ(this->of_user(inner, kBob), (Usage{27, 2, 0}));
  EXPECT_EQ(this->of_user(beside, kBob), (Usage{27, 2, 1}));
  for (const FileId dir : {outer, inner, beside}) this->expect_both_sides_agree(dir);
}

TYPED_TEST(OwnerCountTest, AFullDirectoryDoesNotCrossTheBorderWhileCountingEither) {
  const FileId dir = this->full("d");
  const FileId out = this->full("out");
  ASSERT_TRUE(this->count(dir));
  for (const std::size_t files : {0, 3, 4}) {
    if (files > 0) this->run(files);
    EXPECT_EQ(this->rename(dir, "sub", out, "x").error().code, Errc::kCrossDevice);
    EXPECT_EQ(this->rename(out, "sub", dir, "x").error().code, Errc::kCrossDevice);
  }
  const FileId deep = this->mkdir(dir, "deep").value();
  EXPECT_TRUE(this->rename(dir, "sub", deep, "sub"));
  EXPECT_TRUE(this->rename(kRootId, "d", out, "d"));  // together with its counters
  this->finish();
  EXPECT_EQ(this->of_user(dir, kBob), (Usage{27, 2, 1}));
  this->expect_both_sides_agree(dir);
}

// --- every change, before, while and after the files that it touches are counted

enum class BinMode { kNone, kCounted, kExcluded };

template <class Engine>
class OwnerCountChangeTest : public OwnerCountTest<Engine> {
 protected:
  static constexpr std::size_t kFiles = 16;
  struct Place {
    FileId dir, out, a, big, sub, b, empty, o, oempty;
    std::string name;
  };
  Place make(const std::string& name, BinMode mode) {
    Place p{};
    p.name = name;
    const auto make_dir = [&](FileId parent, std::string_view as, std::uint32_t uid) {
      const auto made =
          this->ns().mkdir(lazy_, {.parent = parent, .name = as, .set = {.mode = 0777, .uid = uid, .gid = kStaff}});
      EXPECT_TRUE(made) << describe(made.error());
      return made->attr.id;
    };
    const auto make_file = [&](FileId parent, std::string_view as, std::uint32_t uid, std::size_t bytes) {
      const auto made = this->ns().create(lazy_, {.parent = parent, .name = as, .set = {.uid = uid, .gid = kStaff}});
      EXPECT_TRUE(made) << describe(made.error());
      put(made->attr.id, 0, bytes);
      return made->attr.id;
    };
    p.dir = make_dir(kRootId, "d" + name, 0);
    p.out = make_dir(kRootId, "o" + name, 0);
    if (mode != BinMode::kNone) {
      EXPECT_TRUE(this->volume_->registry().set_recycle({.dir = p.dir, .counted = mode == BinMode::kCounted}));
    }
    p.a = make_file(p.dir, "a", kAnn, 10);
    p.o = make_file(p.out, "o", kAnn, 30);
    p.big = make_file(p.dir, "big", kBob, 40'000);  // written lazily, and not committed
    p.sub = make_dir(p.dir, "sub", kAnn);
    p.oempty = make_dir(p.out, "oempty", kAnn);
    p.b = make_file(p.sub, "b", kBob, 20);
    p.empty = make_dir(p.dir, "empty", kBob);
    (void)make_file(p.dir, "z", kAnn, 5);
    EXPECT_TRUE(this->ns().unlink(lazy_, {p.dir, "z"}));
    EXPECT_TRUE(this->ns().link(lazy_, {p.a, p.sub, "l"}));
    EXPECT_TRUE(this->ns().link(lazy_, {p.b, p.out, "h"}));
    EXPECT_TRUE(this->ns().symlink(lazy_, {.parent = p.dir, .name = "s", .target = "a", .set = {.uid = kBob}}));
    EXPECT_TRUE(put_key(p.dir, "k/x", 50));
    return p;
  }
  void put(FileId file, std::uint64_t at, std::size_t bytes) {
    const std::string data = this->text(bytes);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(data))};
    EXPECT_TRUE(this->ns().write(lazy_, {file, at, pieces}));
  }
  bool put_key(FileId root, std::string_view key, std::size_t bytes) {
    const std::string data = this->text(bytes);
    return this->ns().put_key(lazy_, {.root = root, .key = key, .bytes = std::as_bytes(std::span(data))}).has_value();
  }
  bool move(FileId from, std::string_view name, FileId to, std::string_view as) {
    return this->ns()
        .rename(lazy_, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = as})
        .has_value();
  }
  bool drop(FileId dir, std::string_view name) { return this->ns().unlink(lazy_, {dir, name}).has_value(); }
  bool set(FileId id, const SetAttributes& set) {
    return this->ns().setattr(lazy_, {.id = id, .set = set}).has_value();
  }

  struct Change {
    const char* name;
    std::function<bool(const Place&)> make;
  };
  std::vector<Change> changes(BinMode mode) {
    std::vector<Change> all = {
        {"create", [this](const Place& p) { return this->create_as(p.sub, "new", kBob).has_value(); }},
        {"grow inline", [this](const Place& p) { return put(p.a, 10, 5), true; }},
        {"grow to blobs", [this](const Place& p) { return put(p.a, 0, 50'000), true; }},
        {"grow blobs", [this](const Place& p) { return put(p.big, 40'000, 1000), true; }},
        {"flush", [this](const Place&) { return this->volume_->flush().has_value(); }},
        {"truncate", [this](const Place& p) { return set(p.big, {.size = 100}); }},
        {"extend", [this](const Place& p) { return set(p.a, {.size = 100'000}); }},
        {"allocate", [this](const Place& p) { return this->ns().allocate(lazy_, {p.b, 0, 30'000}).has_value(); }},
        {"unlink", [this](const Place& p) { return drop(p.dir, "big"); }},
        {"unlink and make",
         [this](const Place& p) { return drop(p.dir, "big") && this->create_as(p.dir, "big", kAnn); }},
        {"rename", [this](const Place& p) { return move(p.dir, "big", p.sub, "big"); }},
        {"rename out", [this](const Place& p) { return move(p.dir, "big", p.out, "big"); }},
        {"rename in", [this](const Place& p) { return move(p.out, "o", p.sub, "o"); }},
        {"rename over", [this](const Place& p) { return move(p.out, "o", p.dir, "big"); }},
        {"rename over and out", [this](const Place& p) { return move(p.dir, "big", p.out, "o"); }},
        {"rename out and in",
         [this](const Place& p) { return move(p.dir, "big", p.out, "big") && move(p.out, "big", p.sub, "big"); }},
        {"the home of a link goes", [this](const Place& p) { return drop(p.dir, "a"); }},
        {"the home of a link goes out", [this](const Place& p) { return drop(p.sub, "b"); }},
        {"a link goes", [this](const Place& p) { return drop(p.sub, "l"); }},
        {"chown", [this](const Place& p) { return set(p.big, {.uid = kAnn}); }},
        {"chgrp", [this](const Place& p) { return set(p.a, {.gid = kStaff + 1}); }},
        {"chown with a size", [this](const Place& p) { return set(p.big, {.uid = kAnn, .size = 12}); }},
        {"chown of a directory", [this](const Place& p) { return set(p.sub, {.uid = kBob}); }},
        {"mkdir",
         [this](const Place& p) { return this->ns().mkdir(lazy_, {.parent = p.sub, .name = "n"}).has_value(); }},
        {"rmdir", [this](const Place& p) { return this->ns().rmdir(lazy_, {p.dir, "empty"}).has_value(); }},
        {"a directory moves", [this](const Place& p) { return move(p.dir, "sub", p.empty, "sub"); }},
        {"a directory goes out", [this](const Place& p) { return move(p.dir, "empty", p.out, "empty"); }},
        {"a directory comes in", [this](const Place& p) { return move(p.out, "oempty", p.sub, "oempty"); }},
        {"the whole moves", [this](const Place& p) { return move(kRootId, "d" + p.name, p.out, "d"); }},
        {"put over", [this](const Place& p) { return put_key(p.dir, "k/x", 40'000); }},
        {"put new", [this](const Place& p) { return put_key(p.dir, "m/n/x", 9); }},
        {"remove a key",
         [this](const Place& p) { return this->ns().remove_key(lazy_, {.root = p.dir, .key = "k/x"}).has_value(); }},
        {"join parts",
         [this](const Place& p) {
           const FileId parts = this->ns().mkdir(lazy_, {.parent = kMultipartId, .name = "u" + p.name})->attr.id;
           const FileId part = this->ns().create(lazy_, {.parent = parts, .name = "1"})->attr.id;
           put(part, 0, 300'000);
           return this->ns()
               .concatenate(lazy_, {.root = p.dir, .key = "joined", .parts = {{part}}, .consume_dir = parts})
               .has_value();
         }},
        {"join parts that count",
         [this](const Place& p) {
           const std::string upload = "c" + p.name, record = upload + "/upload";
           if (!this->ns().put_key(
                   lazy_, {.root = kMultipartId, .key = record, .multipart = MultipartOf{p.dir, kAnn, kStaff}}))
             return false;
           const FileId parts = this->ns().lookup(lazy_, {kMultipartId, upload})->attr.id;
           const FileId part = this->ns().create(lazy_, {.parent = parts, .name = "1"})->attr.id;
           put(part, 0, 300'000);
           return this->ns()
               .concatenate(lazy_, {.root = p.dir, .key = "counted", .parts = {{part}}, .consume_dir = parts})
               .has_value();
         }},
        {"remove all", [this](const Place& p) { return this->ns().remove_tree(lazy_, {p.dir, "sub"}).has_value(); }},
        {"an open file loses its name",
         [this](const Place& p) {
           StateTable& state = this->volume_->state();
           const HolderId me = state.add_holder(Protocol::kNfs, nullptr);
           const auto open = state.open({p.big, me, kShareBoth, kShareNone});
           if (!open || !drop(p.dir, "big")) return false;
           put_open(p.big, *open);
           state.close(*open);
           return true;
         }},
    };
    if (mode != BinMode::kNone) {
      all.push_back({"restore", [this](const Place& p) {
                       const auto items = this->ns().list_recycled({}, {.dir = p.dir});
                       return this->ns()
                           .restore(lazy_, {.item = items->items.front().item, .to_parent = p.sub, .to_name = "r"})
                           .has_value();
                     }});
      all.push_back({"restore elsewhere", [this](const Place& p) {
                       const auto items = this->ns().list_recycled({}, {.dir = p.dir});
                       return this->ns()
                           .restore(lazy_, {.item = items->items.front().item, .to_parent = p.out, .to_name = "r"})
                           .has_value();
                     }});
      all.push_back({"delete and restore", [this](const Place& p) {
                       if (!drop(p.dir, "big")) return false;
                       const auto items = this->ns().list_recycled({}, {.dir = p.dir});
                       return this->ns().restore(lazy_, {.item = items->items.back().item}).has_value();
                     }});
      all.push_back({"purge", [this](const Place& p) { return this->ns().purge(lazy_, {.dir = p.dir}).has_value(); }});
      all.push_back({"count the bin otherwise", [this, mode](const Place& p) {
                       return this->volume_->registry().set_recycle(
                                  {.dir = p.dir, .counted = mode != BinMode::kCounted}) &&
                              this->volume_->run_purge(wall_now());
                     }});
    }
    return all;
  }
  void put_open(FileId file, OpenId open) {
    OpContext ctx = lazy_;
    ctx.open = open;
    const std::string data = this->text(60'000);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(data))};
    EXPECT_TRUE(this->ns().write(ctx, {file, 0, pieces}));
  }
  // An empty volume: each walk is over all files.
  void begin_anew() {
    this->volume_.reset();
    this->kv_ = this->engine_.open({});
    ASSERT_TRUE(Volume::format(*this->kv_, "test"));
    this->open();
  }
  void check_all(BinMode mode) {
    lazy_.durability = Durability::kApplied;
    int number = 0;
    for (const Change& change : changes(mode)) {
      SCOPED_TRACE(change.name);
      if (!Engine::kDurable) begin_anew();
      // The store's work is the same at each; all of them take long on a disk.
      for (std::size_t looked_at = 0; looked_at <= kFiles; looked_at += Engine::kDurable ? 4 : 1) {
        SCOPED_TRACE("after " + std::to_string(looked_at) + " files");
        const std::size_t before = this->inodes();
        const Place p = make(std::to_string(number++), mode);
        ASSERT_TRUE(this->count(p.dir));
        this->run(before + looked_at);
        ASSERT_TRUE(change.make(p));
        this->finish();
        this->expect_both_sides_agree(p.dir);
      }
      this->expect_consistent();
      if (this->HasFailure()) return;
    }
  }
  OpContext lazy_;
};
TYPED_TEST_SUITE(OwnerCountChangeTest, Engines);

TYPED_TEST(OwnerCountChangeTest, Counts) {
  this->check_all(BinMode::kNone);
}
TYPED_TEST(OwnerCountChangeTest, CountsWithARecycleBin) {
  this->check_all(BinMode::kCounted);
}
TYPED_TEST(OwnerCountChangeTest, CountsWithARecycleBinThatIsNotCounted) {
  this->check_all(BinMode::kExcluded);
}

}  // namespace
}  // namespace stoa::core::test

#include "core/commit/committer.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <thread>

#include "backends/kv/memory/memory_kv.h"
#include "core/commit/read_your_writes_store.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// The memory engine, which counts and fails on demand.
class WatchedKv final : public kv::MemoryKv {
 public:
  Status apply(std::span<const WriteBatch* const> batches) override {
    if (fail_apply) return fail(Errc::kIo, "apply fails as told");
    if (full) return fail(Errc::kNoSpace, "there is no room, as told");
    ++applies;
    {
      std::unique_lock lock(mutex_);
      waits_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
    }
    for (const WriteBatch* batch : batches) puts += batch->ops().size();
    return MemoryKv::apply(batches);
  }
  Status sync() override {
    if (fail_sync) return fail(Errc::kIo, "sync fails as told");
    if (full) return fail(Errc::kNoSpace, "there is no room, as told");
    ++syncs;
    std::unique_lock lock(mutex_);
    syncs_wait_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !sync_held_; });
    return {};
  }
  Status write_out() override {
    if (fail_write_out) return fail(Errc::kIo, "writing out fails as told");
    ++write_outs;
    return {};
  }
  void hold_sync() { sync_held_ = true; }
  void await_held_sync() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return syncs_wait_; });
  }
  void let_sync() {
    const std::lock_guard lock(mutex_);
    sync_held_ = false;
    changed_.notify_all();
  }
  std::unique_ptr<KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override {
    if (on_scan) std::exchange(on_scan, nullptr)();
    return MemoryKv::scan(family, lower, upper);
  }
  std::function<void()> on_scan;  // called once, before the walk is made
  std::atomic<int> applies{0}, syncs{0}, write_outs{0};
  std::atomic<std::size_t> puts{0};
  std::atomic<bool> fail_apply{false}, fail_sync{false}, fail_write_out{false}, full{false};

  void hold_apply() { held_ = true; }
  void await_held_apply() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waits_; });
  }
  void let_apply() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool held_ = false, waits_ = false, sync_held_ = false, syncs_wait_ = false;
};

class CommitterTest : public ::testing::Test {
 protected:
  static CommitUnit put(Family family, std::string_view key, std::string_view value) {
    CommitUnit unit;
    unit.batch.put(family, key, value);
    return unit;
  }
  std::optional<std::string> read(KvReader& from, Family family, std::string_view key) {
    std::string value;
    const auto found = from.get(family, key, &value);
    EXPECT_TRUE(found) << describe(found.error());
    return found && *found ? std::optional(value) : std::nullopt;
  }
  std::string walk(Family family, std::string_view lower, std::string_view upper) {
    std::string seen;
    const auto it = store_.scan(family, lower, upper);
    for (; it->valid(); it->next()) seen.append(it->key()).append("=").append(it->value()).append(" ");
    EXPECT_TRUE(it->status());
    return seen;
  }
  WatchedKv kv_;
  MetricRegistry metrics_;
  Committer committer_{kv_, metrics_, 1};
  ReadYourWritesStore store_{kv_, committer_};
};

TEST_F(CommitterTest, AQueuedChangeIsSeenByEveryKindOfReadAndNotWrittenForIt) {
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "stored", "0")));
  ASSERT_TRUE(committer_.wait_applied());
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "a", "old")));
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "a", "1")));
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "b", "2")));
  CommitUnit removal;
  removal.batch.remove(Family::kEntry, "b");
  ASSERT_TRUE(committer_.commit(std::move(removal)));
  ASSERT_TRUE(committer_.commit(put(Family::kInode, "c", "of another family")));

  EXPECT_EQ(read(store_, Family::kEntry, "a"), "1");
  EXPECT_EQ(read(store_, Family::kEntry, "b"), std::nullopt);
  EXPECT_EQ(read(store_, Family::kEntry, "c"), std::nullopt);
  const std::string_view keys[] = {"b", "stored", "none", "a"};
  std::optional<std::string> values[4] = {"left from before"};
  ASSERT_TRUE(store_.multi_get(Family::kEntry, keys, values));
  EXPECT_EQ(values[0], std::nullopt);
  EXPECT_EQ(values[1], "0");
  EXPECT_EQ(values[2], std::nullopt);
  EXPECT_EQ(values[3], "1");
  EXPECT_EQ(walk(Family::kEntry, {}, {}), "a=1 stored=0 ");
  EXPECT_EQ(kv_.applies, 1);

  // A snapshot of all families is one of the store.
  EXPECT_EQ(read(*store_.snapshot(), Family::kEntry, "a"), "1");
  EXPECT_EQ(kv_.applies, 2);
  EXPECT_EQ(walk(Family::kEntry, {}, {}), "a=1 stored=0 ");
}

TEST_F(CommitterTest, AWalkMeetsWhatIsQueuedInItsRangeOnly) {
  for (const Family family :
       {Family::kXattr, Family::kLink, Family::kCookie, Family::kFold, Family::kEntry, Family::kInode}) {
    const std::string one = keys::id_key(FileId{0x6f6e652020202020}), other = keys::id_key(FileId{0x6f74686572202020});
    for (const std::string& id : {one, other}) {
      for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(committer_.commit(put(family, id + name, name)));
    }
    EXPECT_EQ(walk(family, one, keys::behind_prefix(one)), "one     a=a one     b=b one     c=c ");
    EXPECT_EQ(walk(family, other + "b", keys::behind_prefix(other)), "other   b=b other   c=c ");
    EXPECT_EQ(walk(family, one + "c", other + "b"), "one     c=c other   a=a ");
    EXPECT_EQ(walk(family, other + "c", {}), "other   c=c ");
    EXPECT_EQ(kv_.applies, 0);
  }
}

// A file is renamed between the look at the queue and the one at the store.
TEST_F(CommitterTest, AWalkIsOfOneMoment) {
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "before", "file")));
  kv_.on_scan = [this] {
    CommitUnit rename = put(Family::kEntry, "after", "file");
    rename.batch.remove(Family::kEntry, "before");
    ASSERT_TRUE(committer_.commit(std::move(rename)));
    ASSERT_TRUE(committer_.wait_applied());
    ASSERT_TRUE(committer_.commit(put(Family::kEntry, "other", "file")));
  };
  EXPECT_EQ(walk(Family::kEntry, {}, {}), "after=file other=file ");
}

TEST_F(CommitterTest, CountsThatTheCommitterMakesAreWrittenToBeRead) {
  CommitUnit unit;
  unit.references.push_back({BlobId{7}, 1});
  ASSERT_TRUE(committer_.commit(std::move(unit)));
  EXPECT_TRUE(read(store_, Family::kBlob, keys::be64(7)));
  EXPECT_EQ(kv_.applies, 1);
}

TEST_F(CommitterTest, WhatIsWrittenOutIsNotSynced) {
  const auto first = committer_.commit(put(Family::kEntry, "a", "1"));
  const auto second = committer_.commit(put(Family::kEntry, "b", "2"));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(committer_.wait_written_out(*first));
  EXPECT_EQ(kv_.applies, 1);
  EXPECT_EQ(kv_.write_outs, 1);
  ASSERT_TRUE(committer_.wait_written_out(*second));
  EXPECT_EQ(kv_.write_outs, 1) << "it went with the first";
  EXPECT_EQ(kv_.syncs, 0);
  const auto third = committer_.commit(put(Family::kEntry, "c", "3"));
  ASSERT_TRUE(third);
  ASSERT_TRUE(committer_.wait_durable(*third));
  ASSERT_TRUE(committer_.wait_written_out(*third));
  EXPECT_EQ(kv_.write_outs, 1) << "what is durable is out";
}

TEST_F(CommitterTest, WhatCannotBeWrittenOutIsNotSaidToBe) {
  kv_.full = true;
  const auto ticket = committer_.commit(put(Family::kEntry, "a", "1"));
  ASSERT_TRUE(ticket);
  EXPECT_EQ(committer_.wait_written_out(*ticket).error().code, Errc::kNoSpace);
  kv_.full = false;
  kv_.fail_write_out = true;
  EXPECT_EQ(committer_.wait_written_out(*ticket).error().code, Errc::kIo);
  EXPECT_EQ(committer_.wait_written_out(*ticket).error().code, Errc::kIo) << "tried again";
  kv_.fail_write_out = false;
  EXPECT_TRUE(committer_.wait_written_out(*ticket));
  EXPECT_EQ(kv_.write_outs, 1);
}

TEST_F(CommitterTest, ManyCommitsAreOneWriteAndOneSync) {
  CommitTicket last{};
  for (int i = 0; i < 10; ++i) {
    const auto ticket = committer_.commit(put(Family::kEntry, std::to_string(i), "x"));
    ASSERT_TRUE(ticket);
    last = *ticket;
  }
  ASSERT_TRUE(committer_.wait_durable(last));
  EXPECT_EQ(kv_.applies, 1);
  EXPECT_EQ(kv_.syncs, 1);
  EXPECT_FALSE(committer_.anything_queued());
  ASSERT_TRUE(committer_.wait_durable(last));
  EXPECT_EQ(kv_.syncs, 1);
}

// A sync that has to wait for a write covers changes committed meanwhile, and so serves threads that wait for the
// next.
TEST_F(CommitterTest, ASyncThatServesMoreThanItWasBegunForLeavesNobodyWaiting) {
  kv_.hold_apply();
  const auto change = [&](const char* key) { return *committer_.commit(put(Family::kEntry, key, "x")); };
  std::vector<std::thread> threads;
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "0", "x")));
  threads.emplace_back([&] { EXPECT_TRUE(committer_.wait_applied()); });
  kv_.await_held_apply();
  for (const char* key : {"1", "2", "3", "4"}) {
    const CommitTicket ticket = change(key);
    threads.emplace_back([&, ticket] { EXPECT_TRUE(committer_.wait_durable(ticket)); });
    // A waiting thread cannot be observed; it has had the time to, which is enough for this test.
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  }
  kv_.let_apply();
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(committer_.anything_queued());
}

TEST_F(CommitterTest, AWaitForDurabilityEndsByItsDeadline) {
  const Deadline passed(Deadline::Clock::now());
  kv_.hold_sync();
  const auto first = committer_.commit(put(Family::kEntry, "a", "1"));
  ASSERT_TRUE(first);
  std::thread leader([&] { EXPECT_TRUE(committer_.wait_durable(*first)); });
  kv_.await_held_sync();
  const auto second = committer_.commit(put(Family::kEntry, "b", "2"));
  ASSERT_TRUE(second);
  EXPECT_EQ(committer_.wait_durable(*first, passed).error().code, Errc::kTimeout);
  EXPECT_EQ(committer_.wait_durable(*second, passed).error().code, Errc::kTimeout);
  kv_.let_sync();
  leader.join();
  // Nothing is lost.
  EXPECT_TRUE(committer_.wait_durable(*first, passed));
  EXPECT_TRUE(committer_.wait_durable(*second));
  EXPECT_EQ(read(kv_, Family::kEntry, "b"), "2");
}

TEST_F(CommitterTest, AWaitForTheQueueEndsByItsDeadline) {
  const Deadline passed(Deadline::Clock::now());
  kv_.hold_apply();
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "a", "1")));
  std::thread leader([&] { EXPECT_TRUE(committer_.wait_applied()); });
  kv_.await_held_apply();
  ASSERT_TRUE(committer_.commit(put(Family::kInline, "large", std::string(Committer::kQueuedBytesMax + 1, 'x'))));
  EXPECT_EQ(committer_.wait_applied(passed).error().code, Errc::kTimeout);
  EXPECT_EQ(committer_.commit(put(Family::kEntry, "refused", "x"), passed).error().code, Errc::kTimeout);
  EXPECT_EQ(read(store_, Family::kEntry, "refused"), std::nullopt);
  kv_.let_apply();
  leader.join();
  ASSERT_TRUE(committer_.wait_applied());
  EXPECT_EQ(read(kv_, Family::kEntry, "refused"), std::nullopt);
  EXPECT_TRUE(committer_.commit(put(Family::kEntry, "next", "x"), passed)) << "there is room, so nothing is waited for";
}

TEST_F(CommitterTest, TheLastValueOfAKeyWins) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(committer_.commit(put(Family::kEntry, "k", std::to_string(i))));
  ASSERT_TRUE(committer_.wait_applied());
  EXPECT_EQ(read(kv_, Family::kEntry, "k"), "4");
}

TEST_F(CommitterTest, ASupersededInodeRecordIsWrittenOnce) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(committer_.commit(put(Family::kInode, "dir", std::to_string(i))));
  ASSERT_TRUE(committer_.wait_applied());
  EXPECT_EQ(kv_.puts, 1U);
  EXPECT_EQ(read(kv_, Family::kInode, "dir"), "4");
}

TEST_F(CommitterTest, ARemovedInodeStaysRemoved) {
  ASSERT_TRUE(committer_.commit(put(Family::kInode, "i", "made")));
  CommitUnit removal;
  removal.batch.remove(Family::kInode, "i");
  ASSERT_TRUE(committer_.commit(std::move(removal)));
  ASSERT_TRUE(committer_.wait_applied());
  EXPECT_FALSE(read(kv_, Family::kInode, "i"));
}

// As of a directory that was emptied, went to a recycle bin, came back and was filled, all in one group.
TEST_F(CommitterTest, ADirectoryWithANewAccountIsWrittenAsThatHasIt) {
  const auto make_account = [](FileId dir, AccountRef parent) {
    auto account = std::make_shared<Account>();
    account->dir = dir;
    account->parent = std::move(parent);
    return account;
  };
  const AccountRef root = make_account(kRootId, nullptr), before = make_account(FileId{7}, root),
                   after = make_account(FileId{7}, root);
  const auto charge = [&](const AccountRef& account, std::int64_t files) {
    CommitUnit unit;
    unit.charges.push_back({{account, {}, FileId{8}}, {.files = files}});
    ASSERT_TRUE(committer_.commit(std::move(unit)));
  };
  const auto stored = [&](FileId dir) {
    return UsageRecord::decode(*read(kv_, Family::kUsage, keys::id_key(dir)))->usage.files;
  };
  charge(before, 1);
  ASSERT_TRUE(committer_.checkpoint_usage());
  EXPECT_EQ(stored(FileId{7}), 1);
  charge(before, 2);
  charge(before, -3);
  charge(after, 5);
  charge(root, 1);
  ASSERT_TRUE(committer_.checkpoint_usage());
  EXPECT_EQ(stored(FileId{7}), 5);
  EXPECT_EQ(stored(kRootId), 6);
}

TEST_F(CommitterTest, AGroupWritesNoMoreForDeepDirectories) {
  std::vector<std::size_t> puts;
  for (const int depth : {3, 2000}) {
    AccountRef at;
    for (int i = 0; i < depth; ++i) {
      auto below = std::make_shared<Account>();
      below->dir = FileId{100'000 * static_cast<std::uint64_t>(depth) + static_cast<std::uint64_t>(i)};
      below->parent = std::move(at);
      at = std::move(below);
    }
    const std::size_t before = kv_.puts;
    for (int i = 0; i < 100; ++i) {
      CommitUnit unit;
      unit.charges.push_back({{at, {}, FileId{8}}, {.files = 1}});
      ASSERT_TRUE(committer_.commit(std::move(unit)));
      ASSERT_TRUE(committer_.wait_applied());
    }
    puts.push_back(kv_.puts - before);
    ASSERT_TRUE(committer_.checkpoint_usage());
  }
  EXPECT_EQ(puts, (std::vector<std::size_t>{100, 100}));
}

TEST_F(CommitterTest, AFullQueueIsWrittenByTheNextCommit) {
  const std::string large(Committer::kQueuedBytesMax + 1, 'x');
  ASSERT_TRUE(committer_.commit(put(Family::kInline, "large", large)));
  EXPECT_EQ(kv_.applies, 0);
  ASSERT_TRUE(committer_.commit(put(Family::kInline, "next", "x")));
  EXPECT_EQ(kv_.applies, 1);
}

TEST_F(CommitterTest, AFailedWriteIsNeverAcknowledgedAndPoisons) {
  const auto before = committer_.commit(put(Family::kEntry, "a", "1"));
  ASSERT_TRUE(before);
  ASSERT_TRUE(committer_.wait_durable(*before));
  kv_.fail_apply = true;
  const auto ticket = committer_.commit(put(Family::kEntry, "b", "2"));
  ASSERT_TRUE(ticket);
  EXPECT_EQ(committer_.wait_durable(*ticket).error().code, Errc::kIo);
  kv_.fail_apply = false;
  EXPECT_EQ(committer_.commit(put(Family::kEntry, "c", "3")).error().code, Errc::kIo);
  EXPECT_EQ(committer_.wait_durable(*ticket).error().code, Errc::kIo);
  // Changes durable before stay so, and lost ones are not read as absent.
  EXPECT_TRUE(committer_.wait_durable(*before));
  std::string value;
  EXPECT_EQ(read(store_, Family::kEntry, "b"), "2");
  EXPECT_EQ(store_.snapshot()->get(Family::kEntry, "a", &value).error().code, Errc::kIo);
}

// A change acknowledged without durability (an unstable write) stays visible, even when it cannot be written any
// more.
TEST_F(CommitterTest, WhatIsQueuedStaysReadableWhenTheStoreFails) {
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "a", "old")));
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "b", "old")));
  ASSERT_TRUE(committer_.commit(put(Family::kEntry, "d", "old")));
  ASSERT_TRUE(committer_.wait_applied());
  for (const bool full : {true, false}) {
    kv_.full = full;
    kv_.fail_apply = !full;
    ASSERT_TRUE(committer_.commit(put(Family::kEntry, "a", "new")));
    CommitUnit removal;
    removal.batch.remove(Family::kEntry, "b");
    ASSERT_TRUE(committer_.commit(std::move(removal)));
    EXPECT_FALSE(committer_.wait_applied());
    // Behind the group that could not be written.
    if (full) {
      ASSERT_TRUE(committer_.commit(put(Family::kEntry, "c", "new")));
    }
    EXPECT_EQ(read(store_, Family::kEntry, "a"), "new");
    EXPECT_EQ(read(store_, Family::kEntry, "b"), std::nullopt);
    EXPECT_EQ(read(store_, Family::kEntry, "c"), "new");
    const std::string_view keys[] = {"a", "b", "c", "d"};
    std::optional<std::string> values[4];
    ASSERT_TRUE(store_.multi_get(Family::kEntry, keys, values));
    EXPECT_EQ(values[0], "new");
    EXPECT_EQ(values[1], std::nullopt);
    EXPECT_EQ(values[3], "old");
    EXPECT_EQ(walk(Family::kEntry, "a", {}), "a=new c=new d=old ");
    const auto it = store_.scan(Family::kEntry, "a", {});
    it->seek("b");
    ASSERT_TRUE(it->valid());
    EXPECT_EQ(it->key(), "c");
    if (!full) continue;
    kv_.full = false;
    ASSERT_TRUE(committer_.wait_applied());
    EXPECT_EQ(read(kv_, Family::kEntry, "c"), "new");
    ASSERT_TRUE(committer_.commit(put(Family::kEntry, "b", "old")));
    ASSERT_TRUE(committer_.wait_applied());
  }
}

// Nothing is lost, nothing is acknowledged before it is durable, and no restart is needed.
TEST_F(CommitterTest, WithoutRoomChangesWaitAndAreWrittenWhenThereIsSome) {
  kv_.full = true;
  const auto first = committer_.commit(put(Family::kEntry, "a", "1"));
  ASSERT_TRUE(first);
  EXPECT_EQ(committer_.wait_durable(*first).error().code, Errc::kNoSpace);
  EXPECT_TRUE(committer_.health().stalled);
  EXPECT_FALSE(committer_.health().failed);
  const auto second = committer_.commit(put(Family::kEntry, "b", "2"));
  ASSERT_TRUE(second);
  EXPECT_EQ(committer_.wait_durable(*second).error().code, Errc::kNoSpace);
  EXPECT_EQ(committer_.wait_applied().error().code, Errc::kNoSpace);
  kv_.full = false;
  ASSERT_TRUE(committer_.wait_durable(*first));
  ASSERT_TRUE(committer_.wait_durable(*second));
  EXPECT_EQ(read(kv_, Family::kEntry, "a"), "1");
  EXPECT_EQ(read(kv_, Family::kEntry, "b"), "2");
  EXPECT_FALSE(committer_.health().stalled);
  EXPECT_FALSE(committer_.anything_queued());
}

TEST_F(CommitterTest, WithoutRoomTheQueueIsBounded) {
  kv_.full = true;
  const std::string large(1u << 20, 'x');
  int taken = 0;
  Errc refused{};
  for (int i = 0; i < 100; ++i, ++taken) {
    const auto ticket = committer_.commit(put(Family::kInline, std::to_string(i), large));
    if (ticket) continue;
    refused = ticket.error().code;
    break;
  }
  EXPECT_EQ(refused, Errc::kNoSpace);
  EXPECT_LT(taken, 20);
  kv_.full = false;
  ASSERT_TRUE(committer_.wait_applied());
  for (int i = 0; i < taken; ++i) EXPECT_TRUE(read(kv_, Family::kInline, std::to_string(i))) << i;
  EXPECT_FALSE(read(kv_, Family::kInline, std::to_string(taken)));
  EXPECT_FALSE(committer_.anything_queued());
}

TEST_F(CommitterTest, WaitersWithoutRoomDoNotWaitForEachOther) {
  kv_.full = true;
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto ticket = committer_.commit(put(Family::kEntry, std::to_string(t * 50 + i), "x"));
        if (ticket && committer_.wait_durable(*ticket).error().code == Errc::kNoSpace) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 400);
  kv_.full = false;
  ASSERT_TRUE(committer_.wait_durable(committer_.applied()));
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(read(kv_, Family::kEntry, std::to_string(i))) << i;
}

TEST_F(CommitterTest, AFailedSyncPoisons) {
  kv_.fail_sync = true;
  const auto ticket = committer_.commit(put(Family::kEntry, "a", "1"));
  ASSERT_TRUE(ticket);
  EXPECT_EQ(committer_.wait_durable(*ticket).error().code, Errc::kIo);
  kv_.fail_sync = false;
  EXPECT_EQ(committer_.wait_durable(*ticket).error().code, Errc::kIo);
  EXPECT_EQ(committer_.commit(put(Family::kEntry, "b", "2")).error().code, Errc::kIo);
}

TEST_F(CommitterTest, ReadersDoNotWriteAroundTheCommitter) {
  EXPECT_EQ(store_.apply({}).error().code, Errc::kNotSupported);
  EXPECT_EQ(store_.sync().error().code, Errc::kNotSupported);
}

TEST_F(CommitterTest, ConcurrentCommitsAreAllDurableAndShareSyncs) {
  constexpr int kThreads = 8;
  constexpr int kEach = 500;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        const auto ticket = committer_.commit(put(Family::kEntry, key, "x"));
        if (!ticket || !committer_.wait_durable(*ticket)) ++failures;
        std::string value;
        const auto found = kv_.get(Family::kEntry, key, &value);
        if (!found || !*found) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_LE(kv_.syncs, kThreads * kEach);
  EXPECT_FALSE(committer_.anything_queued());
  int seen = 0;
  for (const auto it = kv_.scan(Family::kEntry, {}, {}); it->valid(); it->next()) ++seen;
  EXPECT_EQ(seen, kThreads * kEach);
}

}  // namespace
}  // namespace stoa::core

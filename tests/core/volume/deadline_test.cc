#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <thread>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/volume/volume.h"

namespace stoa::core {
namespace {

// The memory engine, of which the test holds up syncs and look-ups of one name.
class HeldKv final : public kv::MemoryKv {
 public:
  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    if (family == Family::kEntry && key.ends_with("held")) {
      if (at_held) at_held();
      pass(holds_name_);
    }
    return MemoryKv::get(family, key, value);
  }
  Status sync() override {
    pass(holds_sync_);
    return MemoryKv::sync();
  }
  std::function<void()> at_held;  // called by a look-up of the name; empty: nothing
  void hold_name() { hold(holds_name_); }
  void hold_sync() { hold(holds_sync_); }
  void await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waits_; });
  }
  void let() {
    const std::lock_guard lock(mutex_);
    holds_name_ = holds_sync_ = waits_ = false;
    changed_.notify_all();
  }

 private:
  void hold(bool& which) {
    const std::lock_guard lock(mutex_);
    which = true;
  }
  void pass(const bool& which) {
    std::unique_lock lock(mutex_);
    if (!which) return;
    waits_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !which; });
  }
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool holds_name_ = false, holds_sync_ = false, waits_ = false;
};

class DeadlineVolumeTest : public ::testing::Test {
 protected:
  DeadlineVolumeTest() {
    EXPECT_TRUE(Volume::format(kv_, "test"));
    auto volume = Volume::open(kv_, blobs_, metrics_, {.background = false});
    EXPECT_TRUE(volume);
    volume_ = std::move(*volume);
  }
  Namespace& ns() { return volume_->ns(); }
  Errc create(const OpContext& ctx, std::string_view name) {
    const auto made = ns().create(ctx, {.parent = kRootId, .name = name, .mode = CreateMode::kGuarded});
    return made ? Errc{} : made.error().code;
  }
  bool exists(std::string_view name) { return ns().lookup({}, {.parent = kRootId, .name = name}).has_value(); }
  static Deadline passed() { return Deadline(Deadline::Clock::now() - std::chrono::seconds(1)); }

  HeldKv kv_;
  blob::MemoryBlobs blobs_;
  MetricRegistry metrics_;
  std::unique_ptr<Volume> volume_;
};

TEST_F(DeadlineVolumeTest, WhatIsNotDurableInTimeIsDoneAllTheSame) {
  kv_.hold_sync();
  std::thread leader([&] { EXPECT_EQ(create({}, "first"), Errc{}); });
  kv_.await();
  OpContext late;
  late.durable_by = passed();
  EXPECT_EQ(create(late, "second"), Errc::kTimeout);
  EXPECT_TRUE(exists("second"));
  OpContext later;
  later.defers = true;
  EXPECT_EQ(create(later, "third"), Errc{});
  EXPECT_EQ(ns().sync(late, later.pending).error().code, Errc::kTimeout);
  kv_.let();
  leader.join();
  EXPECT_TRUE(ns().sync(late, later.pending));
  EXPECT_EQ(create(late, "second"), Errc::kExists);
}

TEST_F(DeadlineVolumeTest, WhatIsLateBeforeTheChangeChangesNothing) {
  OpContext late;
  late.deadline = passed();
  EXPECT_EQ(create(late, "file"), Errc::kTimeout);
  EXPECT_FALSE(exists("file"));
}

// The lock of the directory is held while a name is looked up in the store.
TEST_F(DeadlineVolumeTest, AFileThatIsLockedIsWaitedForUntilTheDeadline) {
  OpContext late;
  late.deadline = passed();
  EXPECT_TRUE(ns().getattr(late, {.id = kRootId})) << "a free lock costs no look at the clock";
  kv_.hold_name();
  std::thread holder([&] { EXPECT_EQ(create({}, "held"), Errc{}); });
  kv_.await();
  EXPECT_EQ(ns().getattr(late, {.id = kRootId}).error().code, Errc::kTimeout);
  EXPECT_EQ(ns().lookup(late, {.parent = kRootId, .name = "other"}).error().code, Errc::kTimeout);
  EXPECT_EQ(ns().access(late, {.id = kRootId, .wanted = kAccessRead}).error().code, Errc::kTimeout);
  OpContext soon;
  soon.deadline = Deadline::in(std::chrono::milliseconds(20));
  EXPECT_EQ(create(soon, "other"), Errc::kTimeout);
  kv_.let();
  holder.join();
  EXPECT_TRUE(exists("held"));
  EXPECT_FALSE(exists("other"));
  EXPECT_TRUE(ns().getattr(late, {.id = kRootId}));
}

// The directory is locked by somebody who waits for the disk. Looks at it and what would change it end by their
// deadline.
TEST_F(DeadlineVolumeTest, WhateverMeetsALockedDirectoryEndsByItsDeadline) {
  ASSERT_EQ(create({}, "file"), Errc{});
  const FileId file = ns().lookup({}, {.parent = kRootId, .name = "file"})->attr.id;
  ASSERT_TRUE(ns().put_key({}, {.root = kRootId, .key = "dir/key"}));
  OpContext late;
  late.deadline = passed();
  late.root = kRootId;
  kv_.hold_name();
  std::thread holder([&] { EXPECT_EQ(create({}, "held"), Errc{}); });
  kv_.await();
  const auto expect_timeout = [](const auto& reply, const char* what) {
    EXPECT_EQ(reply ? Errc{} : reply.error().code, Errc::kTimeout) << what;
  };
  expect_timeout(ns().readdir(late, {.dir = kRootId, .want_attributes = true}), "readdir");
  expect_timeout(ns().list_keys(late, {.root = kRootId}), "list_keys");
  expect_timeout(ns().lookup_key(late, {.root = kRootId, .key = "dir/key"}), "lookup_key");
  expect_timeout(ns().usage(late, {.dir = kRootId}), "usage");
  expect_timeout(ns().list_owner_quotas(late, {.dir = kRootId}), "list_owner_quotas");
  expect_timeout(ns().statfs(late, {.id = kRootId}), "statfs");
  expect_timeout(ns().ancestors(late, {.id = kRootId, .key = "dir/key"}), "ancestors");
  expect_timeout(ns().list_recycled(late, {.dir = kRootId}), "list_recycled");
  expect_timeout(ns().recycle_status(late, {.dir = kRootId}), "recycle_status");
  OpContext soon = late;
  const auto soon_enough = [&]() -> const OpContext& {
    soon.deadline = Deadline::in(std::chrono::milliseconds(5));
    return soon;
  };
  expect_timeout(ns().remove_key(soon_enough(), {.root = kRootId, .key = "file"}), "remove_key");
  expect_timeout(ns().put_key(soon_enough(), {.root = kRootId, .key = "new/key"}), "put_key");
  expect_timeout(ns().unlink(soon_enough(), {.parent = kRootId, .name = "file"}), "unlink");
  expect_timeout(ns().rename(soon_enough(), {kRootId, "file", kRootId, "other"}), "rename");
  expect_timeout(ns().open(soon_enough(), {.parent = kRootId, .name = "file"}), "open");
  expect_timeout(ns().set_quota(soon_enough(), {.dir = kRootId, .limits = {.files = 5}}), "set_quota");
  expect_timeout(ns().count_owners(soon_enough(), {.dir = kRootId, .on = true}), "count_owners");
  expect_timeout(ns().setattr(soon_enough(), {.id = kRootId, .set = {.mode = 0700}}), "setattr");
  kv_.let();
  holder.join();
  EXPECT_TRUE(exists("file"));
  EXPECT_FALSE(exists("new"));
  EXPECT_TRUE(ns().getattr({}, {.id = file}));
}

TEST_F(DeadlineVolumeTest, DirectoriesOfAKeyThatCameTooLateGoAgain) {
  OpContext soon;
  soon.deadline = Deadline::in(std::chrono::milliseconds(20));
  kv_.at_held = [&] {
    while (!soon.expired()) std::this_thread::yield();
  };
  const auto put = ns().put_key(soon, {.root = kRootId, .key = "implied/held"});
  EXPECT_EQ(put ? Errc{} : put.error().code, Errc::kTimeout);
  EXPECT_FALSE(exists("implied"));
}

TEST_F(DeadlineVolumeTest, AChangeOfTheRegistryWaitsForOthersUntilItsDeadline) {
  kv_.hold_sync();
  std::thread leader([&] { EXPECT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1001})); });
  kv_.await();
  EXPECT_EQ(volume_->registry().add_user({.name = "ben", .uid = 1002}, passed()).error().code, Errc::kTimeout);
  kv_.let();
  leader.join();
  EXPECT_NE(volume_->registry().snapshot()->find_user("ann"), nullptr);
  EXPECT_EQ(volume_->registry().snapshot()->find_user("ben"), nullptr);
}

// What is cut at its open is deferred like any change.
TEST_F(DeadlineVolumeTest, AnOpenThatCutsTellsWhatIsPending) {
  ASSERT_EQ(create({}, "file"), Errc{});
  const FileId file = ns().lookup({}, {.parent = kRootId, .name = "file"})->attr.id;
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view("text")))};
  ASSERT_TRUE(ns().write({}, {file, 0, pieces}));
  OpContext ctx;
  ctx.defers = true;
  ctx.holder = volume_->state().add_holder(Protocol::kNfs, nullptr);
  ASSERT_TRUE(ns().open(ctx, {.id = file, .disposition = OpenDisposition::kOverwrite}));
  EXPECT_NE(ctx.pending.newest(ShardId{}), CommitTicket{});
  EXPECT_TRUE(ns().sync({}, ctx.pending));
}

}  // namespace
}  // namespace stoa::core

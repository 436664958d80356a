#include <gtest/gtest.h>

#include <condition_variable>
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
    if (family == Family::kEntry && key.ends_with("held")) pass(holds_name_);
    return MemoryKv::get(family, key, value);
  }
  Status sync() override {
    pass(holds_sync_);
    return MemoryKv::sync();
  }
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
  PendingDurability pending;
  OpContext later;
  later.pending = &pending;
  EXPECT_EQ(create(later, "third"), Errc{});
  EXPECT_EQ(ns().sync(late, pending).error().code, Errc::kTimeout);
  kv_.let();
  leader.join();
  EXPECT_TRUE(ns().sync(late, pending));
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

}  // namespace
}  // namespace stoa::core

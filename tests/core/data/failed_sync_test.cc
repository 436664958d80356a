// A commit that was queued and could not be made durable: nothing was promised, but the next start may find it.
#include "backends/kv/memory/memory_kv.h"
#include "core/txn/blobs_in_flight.h"
#include "tests/core/data/data_fixture.h"
#include "tests/core/data/watched_blobs.h"

namespace stoa::core::test {
namespace {

// The memory engine with a sync that fails on demand although the changes were applied.
class UnsyncableKv final : public kv::MemoryKv {
 public:
  Status sync() override {
    if (sick) return fail(Errc::kIo, "sync fails as told");
    return {};
  }
  std::atomic<bool> sick{false};
};

class FailedSyncTest : public ::testing::Test {
 protected:
  FailedSyncTest() {
    options_.background = false;
    EXPECT_TRUE(Volume::format(kv_, "test"));
    open();
  }
  void open() {
    volume_.reset();
    kv_.sick = false;
    auto volume = Volume::open(kv_, blobs_, metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  UnsyncableKv kv_;
  WatchedBlobs blobs_{std::make_unique<blob::MemoryBlobs>()};
  MetricRegistry metrics_;
  VolumeOptions options_;
  std::unique_ptr<Volume> volume_;
  const OpContext ctx_{};
};

TEST_F(FailedSyncTest, GcLeavesWhatAQueuedCommitNames) {
  const auto made = volume_->ns().create(ctx_, {.parent = kRootId, .name = "f", .mode = CreateMode::kGuarded});
  ASSERT_TRUE(made);
  kv_.sick = true;
  const auto allocated = volume_->ns().allocate(ctx_, {made->attr.id, 0, 1u << 20});
  ASSERT_FALSE(allocated);
  EXPECT_EQ(allocated.error().code, Errc::kIo);
  const BlobId blob = blobs_.last_reserved;
  (void)volume_->run_gc();  // the store is sick, or there is nothing to do
  EXPECT_TRUE(blobs_.holds(blob));

  open();
  EXPECT_TRUE(blobs_.holds(blob));
  const auto report = volume_->check({.read_data = true});
  ASSERT_TRUE(report);
  for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
}

TEST(BlobsInFlightTest, OnlyWhatIsTrackedCanBeAbandoned) {
  BlobsInFlight state;
  const BlobId blob{7};
  state.track(blob);
  state.abandon(blob);
  EXPECT_EQ(state.take_abandoned(), std::vector<BlobId>{blob});
  state.untrack(blob);
  state.abandon(blob);
  EXPECT_TRUE(state.take_abandoned().empty());
}

}  // namespace
}  // namespace stoa::core::test

// Changes with deferred durability (OpContext::defers).
#include <thread>

#include "core/kv/keys.h"
#include "tests/core/data/data_fixture.h"
#include "tests/core/data/watched_blobs.h"

namespace stoa::core::test {
namespace {

constexpr std::size_t kBig = 100'000;  // not inline

struct WatchedTwin {
  static std::unique_ptr<BlobStore> open(const std::string& folder, MetricRegistry& metrics) {
    return std::make_unique<WatchedBlobs>(TwinBlobs::open(folder, metrics));
  }
  static constexpr bool kOnDisk = false;
};

class SyncTest : public DataTest<WatchedTwin> {
 protected:
  SyncTest() { deferring_.defers = true; }
  WatchedBlobs& watched() { return static_cast<WatchedBlobs&>(*blobs_); }

  // A file with written, unsettled content; its blob is the one reserved last.
  FileId written(std::string_view name) {
    const FileId id = create(name);
    const std::string bytes = text(kBig);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    EXPECT_TRUE(ns().write(deferring_, {id, 0, pieces}));
    return id;
  }

  OpContext deferring_;
};

TEST_F(SyncTest, ManyWritesAreSyncedTogether) {
  const FileId first = written("first");
  const BlobId one = watched().last_reserved;
  const FileId second = written("second");
  const BlobId two = watched().last_reserved;
  EXPECT_TRUE(ns().write(deferring_, {first, kBig, {}}));
  ASSERT_TRUE(ns().commit(deferring_, {.id = second}));
  EXPECT_TRUE(watched().syncs.empty());

  ASSERT_TRUE(ns().sync({}, deferring_.pending));
  ASSERT_FALSE(watched().syncs.empty());  // those behind the first one find their blobs clean
  std::ranges::sort(watched().syncs[0]);
  EXPECT_EQ(watched().syncs[0], (std::vector<BlobId>{std::min(one, two), std::max(one, two)}));
  // Committed, too: a later flush finds nothing to do.
  watched().syncs.clear();
  ASSERT_TRUE(volume_->flush());
  for (const std::vector<BlobId>& asked : watched().syncs) EXPECT_TRUE(asked.empty());
  reopen();
  EXPECT_EQ(read(first), text(kBig));
  EXPECT_EQ(read(second), text(kBig));
  expect_consistent();
}

TEST_F(SyncTest, AFileThatCannotBeSyncedFailsOnlyItsOwn) {
  const FileId sick = written("sick");
  watched().unsyncable = watched().last_reserved;
  const FileId sound = written("sound");
  EXPECT_EQ(ns().sync({}, deferring_.pending).error().code, Errc::kIo);
  PendingDurability of_sick, of_sound;
  of_sick.add_written(sick);
  of_sound.add(ShardId{}, deferring_.pending.newest(ShardId{}));
  of_sound.add_written(sound);
  EXPECT_EQ(ns().sync(deferring_, of_sick).error().code, Errc::kIo);
  EXPECT_TRUE(ns().sync(deferring_, of_sound));
  watched().unsyncable = kNoBlob;
  EXPECT_TRUE(ns().sync({}, deferring_.pending));
  expect_consistent();
}

TEST_F(SyncTest, FilesThatAreGoneNeedNothing) {
  written("gone");
  ASSERT_TRUE(ns().unlink(durable_, {kRootId, "gone"}));
  EXPECT_TRUE(ns().sync({}, deferring_.pending));
  EXPECT_TRUE(ns().sync(deferring_, {}));
}

TEST_F(SyncTest, WhatPromisesNothingLeavesNothingToSettle) {
  const FileId id = create("lazy");
  OpContext lazy = lazy_;
  lazy.defers = true;
  const std::string bytes = text(kBig);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
  ASSERT_TRUE(ns().write(lazy, {id, 0, pieces}));
  EXPECT_TRUE(lazy.pending.empty());
}

// The large write has begun and has no blob yet: the file is still empty, but the small one must not make it inline.
TEST_F(SyncTest, ASmallWriteBesideTheFirstLargeOneGoesToBlobsToo) {
  const FileId id = create("f");
  bool written = false;
  watched().before_reserve = [&] { std::thread([&] { written = write(id, 0, text(100, 1)).has_value(); }).join(); };
  ASSERT_TRUE(write(id, 50'000, text(50'000, 2)));
  ASSERT_TRUE(written);
  const auto expect_all = [&] {
    EXPECT_EQ(read(id, 0, 100), text(100, 1));
    EXPECT_EQ(read(id, 50'000, 50'000), text(50'000, 2));
  };
  expect_all();
  reopen();
  expect_all();
  expect_no_garbage();
}

// A COMMIT was in progress while another one took over its work and the file was written again: the last write must not
// count as synced.
TEST_F(SyncTest, ACommitThatWasOvertakenDoesNotVouchForLaterWrites) {
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, text(kBig, 1)));
  watched().after_sync = [&] {
    ASSERT_TRUE(ns().commit(durable_, {.id = id}));
    ASSERT_TRUE(write(id, 0, text(kBig, 2)));
  };
  ASSERT_TRUE(ns().commit(durable_, {.id = id}));
  watched().syncs.clear();
  ASSERT_TRUE(ns().commit(durable_, {.id = id}));
  ASSERT_FALSE(watched().syncs.empty());
  EXPECT_FALSE(watched().syncs[0].empty());
  EXPECT_EQ(read(id), text(kBig, 2));
}

// The same, and meanwhile the whole content was replaced by a small one, which a large write then moves to a blob. That
// is not committed yet, so the small content must stay where a start after a crash finds it.
TEST_F(SyncTest, ACommitThatWasOvertakenLeavesNewInlineContent) {
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, text(100, 1), true));
  ASSERT_TRUE(write(id, 50'000, text(50'000, 2)));
  std::string value;
  const std::string key = keys::id_key(id);
  watched().after_sync = [&] {
    ASSERT_TRUE(put("f", text(200, 3)));
    ASSERT_TRUE(kv_.get(Family::kInline, key, &value).value());
    ASSERT_TRUE(write(id, 50'000, text(50'000, 4)));
  };
  ASSERT_TRUE(ns().commit(durable_, {.id = id}));
  EXPECT_TRUE(kv_.get(Family::kInline, key, &value).value());
  ASSERT_TRUE(ns().commit(durable_, {.id = id}));
  EXPECT_FALSE(kv_.get(Family::kInline, key, &value).value());
  reopen();
  EXPECT_EQ(read(id, 0, 200), text(200, 3));
  EXPECT_EQ(read(id, 50'000), text(50'000, 4));
  expect_no_garbage();
}

// The file goes while its bytes are being zeroed: its place is not reused before that is over.
TEST_F(SyncTest, APlaceThatIsPunchedIsNotFreed) {
  const auto go_while_punched = [&](const char* name, auto act) {
    const FileId id = create(name);
    ASSERT_TRUE(write(id, 0, text(4 << 20), true));
    bool freed = false;
    bool asked = false;
    watched().before_punch = [&](BlobId punched) {
      asked = true;
      watched().after_release = [&](BlobId blob) { freed = freed || blob == punched; };
      EXPECT_TRUE(ns().unlink(durable_, {kRootId, name}));
      EXPECT_TRUE(volume_->run_gc());
      watched().after_release = nullptr;
    };
    act(id);
    EXPECT_TRUE(asked) << name;
    EXPECT_FALSE(freed) << name;
  };
  go_while_punched("punched", [&](FileId id) { (void)ns().punch(durable_, {id, 0, 10'000}); });
  go_while_punched("cut", [&](FileId id) { (void)truncate(id, 2'500'000); });
  go_while_punched("lengthened", [&](FileId id) {
    ASSERT_TRUE(truncate(id, 3'999'000));  // so little is not punched at once
    (void)write(id, 3'999'500, "x");
  });
  expect_no_garbage();
}

TEST_F(SyncTest, AFileThatIsWrittenIsKnownToTheNextStart) {
  const auto marked = [&](FileId id) {
    std::string value;
    return kv_.get(Family::kState, keys::open_key(id), &value).value();
  };
  const FileId allocated = create("allocated");
  ASSERT_TRUE(ns().allocate(durable_, {allocated, 0, 100'000}));
  EXPECT_TRUE(marked(allocated));

  // Replacing the content removes the mark; an in-place write then sets it again.
  const FileId replaced = create("replaced");
  ASSERT_TRUE(write(replaced, 0, text(kBig), true));
  EXPECT_TRUE(marked(replaced));
  ASSERT_TRUE(put("replaced", "small"));
  EXPECT_FALSE(marked(replaced));
  ASSERT_TRUE(write(replaced, kBig, text(kBig), true));
  EXPECT_TRUE(marked(replaced));

  // A mark of a file that had no content any more when it went is swept.
  const FileId gone = create("gone");
  ASSERT_TRUE(write(gone, 0, text(kBig), true));
  ASSERT_TRUE(truncate(gone, 0));
  ASSERT_TRUE(ns().unlink(durable_, {kRootId, "gone"}));
  ASSERT_TRUE(volume_->run_scrub());
  ASSERT_TRUE(volume_->flush());
  EXPECT_FALSE(marked(gone));
  expect_no_garbage();
}

}  // namespace
}  // namespace stoa::core::test

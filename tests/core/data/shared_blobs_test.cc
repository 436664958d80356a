// Blobs that several files use are counted without being looked at, and freed when the last use ends.
#include <gtest/gtest.h>

#include <functional>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/kv/keys.h"
#include "core/kv/number.h"
#include "core/volume/volume.h"
#include "tests/core/data/data_fixture.h"

namespace stoa::core::test {
namespace {

// The memory engine, which tells whether counts are read, and lets the test act behind a snapshot.
class CountedKv final : public kv::MemoryKv {
 public:
  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    if (family == Family::kBlob || family == Family::kGc) ++reads;
    return MemoryKv::get(family, key, value);
  }
  std::unique_ptr<KvReader> snapshot() override {
    auto made = MemoryKv::snapshot();
    if (after_snapshot) std::exchange(after_snapshot, nullptr)();
    return made;
  }
  std::function<void()> after_snapshot;  // called once
  int reads = 0;
};

class SharedBlobsTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 1u << 20;
  SharedBlobsTest() {
    options_.background = false;
    EXPECT_TRUE(Volume::format(kv_, "test"));
    open();
  }
  void open() {
    volume_.reset();
    auto volume = Volume::open(kv_, blobs_, metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  Namespace& ns() { return volume_->ns(); }
  FileId create(std::string_view name) {
    const auto made = ns().create({}, {.parent = kRootId, .name = name, .mode = CreateMode::kGuarded});
    EXPECT_TRUE(made);
    return made->attr.id;
  }
  FileId written(std::string_view name) {
    const FileId id = create(name);
    const std::string bytes = text(kBytes);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    EXPECT_TRUE(ns().write({}, {id, 0, pieces}));
    return id;
  }
  FileId clone(FileId from, std::string_view name) {
    const FileId to = create(name);
    EXPECT_TRUE(ns().copy_range(
        {}, {.from = from, .from_offset = 0, .to = to, .to_offset = 0, .length = kBytes, .share = true}));
    return to;
  }
  void remove(std::string_view name) { EXPECT_TRUE(ns().unlink({}, {.parent = kRootId, .name = name})); }
  std::string read(FileId id) {
    std::string bytes(kBytes, '?');
    const auto got = ns().read({}, {id, 0, std::as_writable_bytes(std::span(bytes))});
    return got ? bytes.substr(0, got->length) : describe(got.error());
  }
  std::size_t blob_count() {
    std::size_t count = 0;
    blobs_.for_each([&](BlobId) { ++count; });
    return count;
  }
  std::size_t records(Family family) {
    std::size_t count = 0;
    for (const auto it = kv_.scan(family, {}, {}); it->valid(); it->next()) ++count;
    return count;
  }
  void expect_consistent() {
    const auto report = volume_->check({});
    ASSERT_TRUE(report);
    for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
  }

  CountedKv kv_;
  blob::MemoryBlobs blobs_;
  MetricRegistry metrics_;
  VolumeOptions options_;
  std::unique_ptr<Volume> volume_;
};

TEST_F(SharedBlobsTest, ChangesReadNoCount) {
  const FileId one = written("one");
  clone(one, "two");
  remove("one");
  remove("two");
  ASSERT_TRUE(volume_->flush());
  EXPECT_EQ(kv_.reads, 0);
}

TEST_F(SharedBlobsTest, TheLastUseFreesTheBlob) {
  const FileId one = written("one"), two = clone(one, "two");
  const std::size_t blobs = blob_count();
  ASSERT_GT(blobs, 0U);
  remove("one");
  expect_consistent();
  ASSERT_TRUE(volume_->run_gc());
  EXPECT_EQ(blob_count(), blobs);
  EXPECT_EQ(read(two), text(kBytes));
  EXPECT_EQ(records(Family::kGc), 0U) << "one that is in use leaves the queue";
  expect_consistent();
  remove("two");
  expect_consistent();
  ASSERT_TRUE(volume_->run_gc());
  EXPECT_EQ(blob_count(), 0U);
  EXPECT_EQ(records(Family::kBlob), 0U);
  EXPECT_EQ(records(Family::kGc), 0U);
  expect_consistent();
}

TEST_F(SharedBlobsTest, WhatBeginsAndEndsInOneGroupIsFreed) {
  const OpContext lazy{.durability = Durability::kApplied};
  const std::string bytes = text(kBytes);
  const auto upload = ns().upload_begin(lazy, {kBytes});
  ASSERT_TRUE(upload);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
  ASSERT_TRUE(ns().upload_write(lazy, {*upload, pieces}));
  ASSERT_TRUE(ns().put_key(lazy, {.root = kRootId, .key = "o", .upload = *upload}));
  ASSERT_TRUE(ns().unlink(lazy, {.parent = kRootId, .name = "o"}));
  ASSERT_TRUE(volume_->run_gc());
  EXPECT_EQ(blob_count(), 0U);
  expect_consistent();
}

// Between the look at the count and the removal from the queue.
TEST_F(SharedBlobsTest, AUseThatEndsWhileItIsFoundToBeInUseIsNotForgotten) {
  clone(written("one"), "two");
  remove("one");
  ASSERT_TRUE(volume_->flush());
  kv_.after_snapshot = [this] { remove("two"); };
  ASSERT_TRUE(volume_->run_gc());
  ASSERT_TRUE(volume_->run_gc());
  EXPECT_EQ(blob_count(), 0U);
  expect_consistent();
}

// A crash in the middle of that leaves the count alone.
TEST_F(SharedBlobsTest, AStartFindsGarbageThatTheQueueDoesNotKnow) {
  written("one");
  remove("one");
  ASSERT_TRUE(volume_->flush());
  WriteBatch forgotten;
  for (const auto it = kv_.scan(Family::kGc, {}, {}); it->valid(); it->next()) forgotten.remove(Family::kGc, it->key());
  ASSERT_FALSE(forgotten.empty());
  volume_.reset();
  const WriteBatch* const batches[] = {&forgotten};
  ASSERT_TRUE(kv_.apply(batches));
  ASSERT_GT(blob_count(), 0U);
  open();
  EXPECT_GT(blob_count(), 0U);
  ASSERT_TRUE(volume_->run_gc());
  EXPECT_EQ(blob_count(), 0U);
  EXPECT_EQ(records(Family::kBlob), 0U);
  expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test

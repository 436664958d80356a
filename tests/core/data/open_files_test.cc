// Starts after a kill: only bytes behind the end of a file are zeroed, and of most files there are none.
#include <memory>
#include <string>
#include <utility>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/killable_kv.h"
#include "tests/core/data/sizes.h"
#include "tests/core/data/watched_blobs.h"

namespace stoa::core::test {
namespace {

class OpenFilesTest : public DataTest<LocalBlobs> {
 protected:
  OpenFilesTest() { start(); }
  ~OpenFilesTest() override { volume_.reset(); }
  void start() {
    stop();
    killable_.dead = false;
    metrics_ = std::make_unique<MetricRegistry>();
    auto watched = std::make_unique<WatchedBlobs>(LocalBlobs::open(folder_ + "/blobs", *metrics_));
    watched_ = watched.get();
    blobs_ = std::move(watched);
    auto volume = Volume::open(killable_, *blobs_, *metrics_, options_);
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  void kill() {
    killable_.dead = true;
    start();
  }
  // Blobs that the start has changed.
  std::size_t zeroed() const { return watched_->punches.size(); }
  // What a longer file shows behind its old end.
  std::string grown(FileId id, std::uint64_t from, std::uint64_t size) {
    EXPECT_TRUE(truncate(id, size));
    return read(id, from, size - from);
  }

  KillableKv killable_{kv_};
  WatchedBlobs* watched_ = nullptr;
};

TEST_F(OpenFilesTest, WhatWasWrittenUpToItsEndIsLeftAlone) {
  for (const std::size_t size : {20'480u, 20'000u, 300'001u, static_cast<unsigned>(9 * kM + 7)}) {
    const std::string name = "f" + std::to_string(size), bytes = text(size);
    const FileId id = create(name);
    ASSERT_TRUE(write(id, 0, bytes, true));
    const auto before = attr(id).change;
    kill();
    // Space that a large file took ahead may count as data where it is in the kernel's memory.
    if (size < kM) {
      EXPECT_EQ(zeroed(), 0u) << size;
    }
    EXPECT_TRUE(size > kM || watched_->syncs.empty() || watched_->syncs.back().empty()) << size;
    EXPECT_GT(attr(id).change, before) << "a reader may have seen other bytes under the number";
    EXPECT_TRUE(read(id, 0, size + 1) == bytes);
    EXPECT_EQ(grown(id, size, size + 10'000), std::string(10'000, '\0')) << size;
  }
  expect_consistent();
}

TEST_F(OpenFilesTest, BytesBehindTheEndAreZeroed) {
  // Right behind it, in its last block and in one of its own; only the record that names them is lost.
  for (const std::size_t at : {20'000u, 20'100u, 24'576u, 26'000u}) {
    const FileId id = create("f" + std::to_string(at));
    ASSERT_TRUE(write(id, 0, text(20'000), true));
    ASSERT_TRUE(write(id, at, text(1000, 2)));
    kill();
    EXPECT_EQ(zeroed(), 1u) << at;
    EXPECT_EQ(attr(id).size, 20'000u);
    EXPECT_EQ(grown(id, 20'000, 32'000), std::string(12'000, '\0')) << at;
    EXPECT_TRUE(read(id, 0, 20'000) == text(20'000));
    kill();
    EXPECT_EQ(zeroed(), 0u) << at;
    ASSERT_TRUE(ns().unlink(durable_, {kRootId, "f" + std::to_string(at)}));
  }
  expect_no_garbage();
}

TEST_F(OpenFilesTest, ZerosBehindTheEndNeedNoWrite) {
  const FileId id = create("f");
  ASSERT_TRUE(write(id, 0, text(20'000), true));
  ASSERT_TRUE(write(id, 20'000, std::string(400, '\0')));
  kill();
  EXPECT_EQ(zeroed(), 0u);
  ASSERT_TRUE(write(id, 20'100, "behind a hole", true));
  EXPECT_EQ(read(id, 20'000, 200), std::string(100, '\0') + "behind a hole");
  expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test

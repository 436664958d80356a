// Opens against unlinks, and leases against writes, from several threads at once.
#include <gtest/gtest.h>

#include <thread>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/volume/volume.h"
#include "tests/core/state/holder_callbacks.h"

namespace stoa::core::test {
namespace {

class VolumeRace : public ::testing::Test {
 protected:
  VolumeRace() {
    EXPECT_TRUE(Volume::format(kv_, "test"));
    auto opened = Volume::open(kv_, blobs_, metrics_, {.inline_bytes_max = 16, .background = false});
    EXPECT_TRUE(opened);
    volume_ = std::move(*opened);
  }
  Namespace& ns() { return volume_->ns(); }
  StateTable& state() { return volume_->state(); }
  FileId create(std::string_view name) {
    const auto made = ns().create(ctx_, {.parent = kRootId, .name = name});
    EXPECT_TRUE(made);
    return made->attr.id;
  }
  Status write(FileId file, const OpContext& ctx, std::string_view text) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    STOA_CHECK_OK(ns().write(ctx, {file, 0, pieces}));
    return {};
  }

  MetricRegistry metrics_;
  kv::MemoryKv kv_;
  blob::MemoryBlobs blobs_;
  std::unique_ptr<Volume> volume_;
  const OpContext ctx_{};
};

TEST_F(VolumeRace, AnOpenThatSucceedsKeepsTheFileAndTheLastCloseFreesIt) {
  constexpr int kRounds = 300;
  const HolderId holder = state().add_holder(Protocol::kNfs, nullptr);
  const std::string text(1000, 't');
  for (int round = 0; round < kRounds; ++round) {
    const FileId file = create("f");
    ASSERT_TRUE(write(file, ctx_, text));
    const auto use = [&] {
      const auto open = state().open({file, holder, kShareRead, kShareNone});
      if (!open) {
        EXPECT_EQ(open.error().code, Errc::kStale);
        return;
      }
      std::string read(text.size(), '?');
      const auto got = ns().read(ctx_, {file, 0, std::as_writable_bytes(std::span(read))});
      EXPECT_TRUE(got) << describe(got.error());
      EXPECT_EQ(read, text);
      state().close(*open);
    };
    std::thread first(use);
    std::thread second(use);
    const auto gone = ns().unlink(ctx_, {kRootId, "f"});
    EXPECT_TRUE(gone) << describe(gone.error());
    first.join();
    second.join();
    const auto attr = ns().getattr(ctx_, {file});
    ASSERT_FALSE(attr);
    EXPECT_EQ(attr.error().code, Errc::kStale);
  }
  EXPECT_FALSE(state().holds_state(holder));
  ASSERT_TRUE(volume_->run_gc());
  std::size_t blobs = 0;
  blobs_.for_each([&](BlobId) { ++blobs; });
  EXPECT_EQ(blobs, 0u);
  const auto report = volume_->check({});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->ok()) << describe(report->problems.front());
}

TEST_F(VolumeRace, NothingChangesUnderALeaseThatWasNotRecalled) {
  constexpr int kLeases = 300;
  std::atomic<bool> stop = false;
  std::vector<FileId> files;
  for (int i = 0; i < kLeases; ++i) files.push_back(create("f" + std::to_string(i)));
  std::atomic<std::size_t> at = 0;
  const auto change = [&](bool attributes) {
    OpContext waiting;
    waiting.lease_patience = std::chrono::minutes(1);
    for (unsigned i = 0; !stop; ++i) {
      const FileId file = files[at];
      if (attributes) {
        EXPECT_TRUE(ns().setattr(waiting, {file, {.mode = 0600 + i % 2}}));
      } else {
        EXPECT_TRUE(write(file, waiting, std::string(100 + i % 2, 'w')));
      }
    }
  };
  std::thread writer([&] { change(false); });
  std::thread setter([&] { change(true); });
  int granted = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    at = i;
    std::atomic<bool> recalled = false;
    const HolderId holder = state().add_holder(Protocol::kNfs, on_recall([&](const LeaseRecall&) { recalled = true; }));
    OpContext mine;
    mine.holder = holder;
    const auto lease = grant(state(), files[i], holder, kReadDelegation);
    if (lease) {
      ++granted;
      const auto first = ns().getattr(mine, {files[i]});
      while (!recalled) {
        const auto again = ns().getattr(mine, {files[i]});
        ASSERT_TRUE(first && again);
        ASSERT_EQ(first->attr.change, again->attr.change);
        ASSERT_EQ(first->attr.data_version, again->attr.data_version);
      }
      const auto last = ns().getattr(mine, {files[i]});  // recalled, not returned
      ASSERT_TRUE(last);
      ASSERT_EQ(first->attr.change, last->attr.change);
      state().return_lease(*lease);
    }
    state().remove_holder(holder);
  }
  stop = true;
  writer.join();
  setter.join();
  EXPECT_GT(granted, 0);
}

}  // namespace
}  // namespace stoa::core::test

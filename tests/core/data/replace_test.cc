// An object is replaced while the disk is slow: other users of the file do not wait for it.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/volume/volume.h"
#include "tests/core/data/data_fixture.h"

namespace stoa::core::test {
namespace {

// The memory engine with a sync that waits for the test.
class StallingKv final : public kv::MemoryKv {
 public:
  Status sync() override {
    std::unique_lock lock(mutex_);
    stalled_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !stalls_; });
    stalled_ = false;
    return {};
  }

  void stall() {
    const std::lock_guard lock(mutex_);
    stalls_ = true;
  }
  void wait_until_stalled() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stalled_; });
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    stalls_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool stalls_ = false;   // a sync that begins now
  bool stalled_ = false;  // one does
};

class ReplaceTest : public ::testing::Test {
 protected:
  ReplaceTest() {
    options_.background = false;
    EXPECT_TRUE(Volume::format(kv_, "test"));
    auto volume = Volume::open(kv_, blobs_, metrics_, options_);
    EXPECT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  Namespace& ns() { return volume_->ns(); }
  Result<PutKeyReply> put(std::string_view text) {
    return ns().put_key({}, {.root = kRootId, .key = "o", .bytes = std::as_bytes(std::span(text))});
  }
  std::string read(FileId id, std::size_t length) {
    std::string text(length, '?');
    const auto got = ns().read({}, {id, 0, std::as_writable_bytes(std::span(text))});
    return got ? text.substr(0, got->length) : "error: " + describe(got.error());
  }

  StallingKv kv_;
  blob::MemoryBlobs blobs_;
  MetricRegistry metrics_;
  VolumeOptions options_;
  std::unique_ptr<Volume> volume_;
};

TEST_F(ReplaceTest, ReadersAndWritersOfTheFileDoNotWaitForItsSync) {
  OpContext lazy;
  lazy.durability = Durability::kApplied;
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{100'000}}) {
    const auto old = put(std::string(bytes, 'o'));
    ASSERT_TRUE(old);
    const FileId id = old->attr.id;
    kv_.stall();
    Result<PutKeyReply> replaced = fail(Errc::kIo);
    std::thread replacing([&] { replaced = put(std::string(bytes, 'n')); });
    kv_.wait_until_stalled();
    // Each of these would wait for ever, if the file were held until the sync is done.
    EXPECT_EQ(read(id, bytes), std::string(bytes, 'n'));
    const auto slices = ns().read_slices({}, {.id = id, .offset = 0, .length = bytes});
    EXPECT_TRUE(slices && slices->length == bytes);
    EXPECT_TRUE(ns().setattr(lazy, {.id = id, .set = {.mode = 0600}}));
    if (bytes == 100) {
      const std::string_view text = "w";
      const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
      EXPECT_TRUE(ns().write(lazy, {id, 0, pieces}));
      EXPECT_EQ(read(id, 2), "wn");
    }
    kv_.go_on();
    replacing.join();
    ASSERT_TRUE(replaced) << describe(replaced.error());
    EXPECT_EQ(replaced->attr.id, id);
  }
  const auto report = volume_->check({.read_data = true});
  ASSERT_TRUE(report);
  for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
}

}  // namespace
}  // namespace stoa::core::test

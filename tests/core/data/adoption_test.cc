// A volume that serves while its blob store still adopts blobs.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "backends/blob/local/local_blob_store.h"
#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "core/volume/volume.h"
#include "tests/core/data/data_fixture.h"
#include "tests/core/data/watched_blobs.h"

namespace stoa::core::test {
namespace {

constexpr std::size_t kBytes = 1u << 20;

// Nothing is adopted before the test allows it.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool open_ = false;
};

class HeldMemoryBlobs final : public blob::MemoryBlobs {
 public:
  Status adopt(BlobId blob) override {
    if (gate != nullptr) gate->pass();
    return MemoryBlobs::adopt(blob);
  }
  Gate* gate = nullptr;
};

FileId written(Namespace& ns, std::string_view name, unsigned seed) {
  const auto made = ns.create({}, {.parent = kRootId, .name = name, .mode = CreateMode::kGuarded});
  if (!made) return kNoFile;
  const std::string bytes = text(kBytes, seed);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
  return ns.write({}, {made->attr.id, 0, pieces}) ? made->attr.id : kNoFile;
}

std::string content(Namespace& ns, std::string_view name) {
  const auto found = ns.lookup({}, {.parent = kRootId, .name = name});
  if (!found) return describe(found.error());
  std::string bytes(kBytes, '?');
  const auto got = ns.read({}, {found->attr.id, 0, std::as_writable_bytes(std::span(bytes))});
  return got ? bytes.substr(0, got->length) : describe(got.error());
}

std::size_t count(const BlobStore& blobs) {
  std::size_t number = 0;
  blobs.for_each([&](BlobId) { ++number; });
  return number;
}

void expect_consistent(Volume& volume) {
  const auto report = volume.check({.read_data = true});
  ASSERT_TRUE(report) << describe(report.error());
  for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
}

// Rounds of other background work are an hour apart.
constexpr VolumeOptions kAtLeisure{.lazy_attributes_ms = 2 * 3'600'000};

TEST(AdoptionTest, RequestsAreServedMeanwhileAndGarbageWaits) {
  kv::MemoryKv kv;
  HeldMemoryBlobs blobs;
  MetricRegistry metrics;
  ASSERT_TRUE(Volume::format(kv, "test"));
  {
    auto volume = Volume::open(kv, blobs, metrics, {.background = false});
    ASSERT_TRUE(volume);
    ASSERT_NE(written((*volume)->ns(), "before", 1), kNoFile);
    ASSERT_NE(written((*volume)->ns(), "removed", 2), kNoFile);
    // Begun and never finished: garbage of a crash.
    const auto upload = (*volume)->ns().upload_begin({}, {kBytes});
    ASSERT_TRUE(upload);
    const std::string bytes = text(kBytes);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    ASSERT_TRUE((*volume)->ns().upload_write({}, {*upload, pieces}));
  }
  const std::size_t left = count(blobs);
  Gate gate;
  blobs.gate = &gate;
  auto opened = Volume::open(kv, blobs, metrics, kAtLeisure);
  ASSERT_TRUE(opened);
  Volume& volume = **opened;
  struct OpensAtTheEnd {
    Gate& gate;
    ~OpensAtTheEnd() { gate.open(); }
  } const opens{gate};  // else a failure here would wait for ever
  EXPECT_EQ(content(volume.ns(), "before"), text(kBytes, 1));
  ASSERT_NE(written(volume.ns(), "during", 3), kNoFile);
  ASSERT_TRUE(volume.ns().unlink({}, {.parent = kRootId, .name = "removed"}));
  ASSERT_TRUE(volume.run_gc());
  EXPECT_GT(count(blobs), left) << "nothing of before is freed yet";
  EXPECT_EQ(metrics.gauge("stoa_blob_adoption_running", "").value(), 1);
  gate.open();
  expect_consistent(volume);  // waits for it
  EXPECT_EQ(metrics.gauge("stoa_blob_adoption_running", "").value(), 0);
  ASSERT_TRUE(volume.run_gc());
  expect_consistent(volume);
  EXPECT_EQ(content(volume.ns(), "before"), text(kBytes, 1));
  EXPECT_EQ(content(volume.ns(), "during"), text(kBytes, 3));
  ASSERT_TRUE(volume.ns().unlink({}, {.parent = kRootId, .name = "before"}));
  ASSERT_TRUE(volume.ns().unlink({}, {.parent = kRootId, .name = "during"}));
  ASSERT_TRUE(volume.run_gc());
  EXPECT_EQ(count(blobs), 0U);
}

// Else a start would spend what requests may use of a limited volume.
TEST(AdoptionTest, PaysForTheBlobsThatThereAre) {
  kv::MemoryKv kv;
  HeldMemoryBlobs blobs;
  MetricRegistry metrics;
  ASSERT_TRUE(Volume::format(kv, "test"));
  const QosTarget all = QosTarget::directory(kRootId);
  {
    auto volume = Volume::open(kv, blobs, metrics, {.background = false});
    ASSERT_TRUE(volume);
    ASSERT_NE(written((*volume)->ns(), "a", 1), kNoFile);
    ASSERT_NE(written((*volume)->ns(), "b", 2), kNoFile);
    ASSERT_TRUE((*volume)->registry().set_qos_class({.target = all}));
  }
  Gate gate;
  blobs.gate = &gate;
  VolumeOptions options = kAtLeisure;
  options.scrub_bytes_per_second = 0;
  auto opened = Volume::open(kv, blobs, metrics, options);
  gate.open();
  ASSERT_TRUE(opened);
  expect_consistent(**opened);  // waits for it
  const QosEntry* entry = (*opened)->registry().snapshot()->qos_classes()->find(all);
  ASSERT_NE(entry, nullptr);
  EXPECT_LE(entry->qos_class->use().admitted[qos::Resource::kMetadataOps], count(blobs));
}

// A server on disk. Each start is in a process of its own, so that it can be killed.
class KilledServerTest : public ::testing::Test {
 protected:
  KilledServerTest() {
    std::string pattern = (std::filesystem::current_path() / "stoa-adoption-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::create_directories(folder_ + "/blobs");
  }
  ~KilledServerTest() override { std::filesystem::remove_all(folder_); }

  struct Server {
    std::unique_ptr<KvStore> kv;
    MetricRegistry metrics;
    Gate gate;
    std::unique_ptr<WatchedBlobs> blobs;
    std::unique_ptr<Volume> volume;
  };
  // Null: it failed.
  std::unique_ptr<Server> start(bool format, bool held) const {
    auto server = std::make_unique<Server>();
    auto kv = kv::open_rocks({.path = folder_ + "/meta", .create = true});
    auto blobs = LocalBlobStore::open({.directories = {folder_ + "/blobs"}}, server->metrics);
    if (!kv || !blobs) return nullptr;
    server->kv = std::move(*kv);
    server->blobs = std::make_unique<WatchedBlobs>(std::move(*blobs));
    if (held) server->blobs->before_adopt = [gate = &server->gate] { gate->pass(); };
    if (format && !Volume::format(*server->kv, "test")) return nullptr;
    VolumeOptions options = kAtLeisure;
    options.background = held;
    auto volume = Volume::open(*server->kv, *server->blobs, server->metrics, options);
    if (!volume) return nullptr;
    server->volume = std::move(*volume);
    return server;
  }
  // After all kills.
  static void expect_all(Server& server) {
    Volume& volume = *server.volume;
    expect_consistent(volume);
    EXPECT_EQ(content(volume.ns(), "before"), text(kBytes, 1));
    for (const unsigned round : {10U, 11U, 12U})
      EXPECT_EQ(content(volume.ns(), "during" + std::to_string(round)), text(kBytes, round));
    EXPECT_TRUE(volume.run_gc());
    expect_consistent(volume);
    for (const char* name : {"before", "during10", "during11", "during12"})
      EXPECT_TRUE(volume.ns().unlink({}, {.parent = kRootId, .name = name}));
    EXPECT_TRUE(volume.flush());
    EXPECT_TRUE(volume.run_gc());
    EXPECT_EQ(count(*server.blobs), 0U);
  }
  // Runs it in a child that is killed at its own signal.
  template <class Body>
  void run_and_kill(Body body) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const char said = body() ? 'y' : 'n';
      std::fflush(stdout);
      (void)!::write(ends[1], &said, 1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char said = 0;
    EXPECT_EQ(::read(ends[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    ::close(ends[0]);
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  std::string folder_;
};

TEST_F(KilledServerTest, AKillInTheMiddleLosesNothingAndTheNextStartBeginsAnew) {
  run_and_kill([&] {
    static std::unique_ptr<Server> server = start(true, false);
    return server != nullptr && written(server->volume->ns(), "before", 1) != kNoFile &&
           written(server->volume->ns(), "removed", 2) != kNoFile;
  });
  for (const unsigned round : {10U, 11U, 12U}) {
    run_and_kill([&] {
      static std::unique_ptr<Server> server = start(false, true);
      if (server == nullptr) return false;
      Namespace& ns = server->volume->ns();
      (void)ns.unlink({}, {.parent = kRootId, .name = "removed"});
      const auto upload = ns.upload_begin({}, {kBytes});
      const std::string bytes = text(kBytes);
      const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
      return upload && ns.upload_write({}, {*upload, pieces}) && content(ns, "before") == text(kBytes, 1) &&
             written(ns, "during" + std::to_string(round), round) != kNoFile;
    });
  }
  run_and_kill([&] {
    static std::unique_ptr<Server> server = start(false, false);
    if (server != nullptr) expect_all(*server);
    return server != nullptr && !HasFailure();
  });
}

}  // namespace
}  // namespace stoa::core::test

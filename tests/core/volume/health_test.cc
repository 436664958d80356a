// A volume that cannot store changes reports it.
#include <gtest/gtest.h>

#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "backends/blob/local/local_blob_store.h"
#include "backends/kv/memory/memory_kv.h"
#include "core/data/data_state.h"
#include "core/txn/volume_context.h"
#include "core/volume/health.h"
#include "core/volume/opened_tree.h"
#include "core/volume/volume.h"
#include "tests/core/data/watched_blobs.h"
#include "tests/manual_time.h"

namespace stoa::core {
namespace {

class SickKv final : public kv::MemoryKv {
 public:
  Status apply(std::span<const WriteBatch* const> batches) override {
    ++applies;
    if (full) return fail(Errc::kNoSpace, "no room, as told");
    if (unwritable) return fail(Errc::kIo, "apply fails as told");
    return MemoryKv::apply(batches);
  }
  Status sync() override {
    ++syncs;
    if (unsyncable) return fail(Errc::kIo, "sync fails as told");
    return {};
  }
  std::atomic<bool> unwritable{false}, unsyncable{false}, full{false};
  std::atomic<int> applies{0}, syncs{0};
};

class HealthTest : public ::testing::Test {
 protected:
  HealthTest() {
    std::string pattern = (std::filesystem::current_path() / "stoa-health-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ + "/blobs");
    EXPECT_TRUE(Volume::format(kv_, "test"));
    open();
  }
  ~HealthTest() override {
    volume_.reset();
    blobs_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open() {
    volume_.reset();
    blobs_.reset();
    metrics_ = std::make_unique<MetricRegistry>();
    auto blobs = LocalBlobStore::open({.directories = {folder_ + "/blobs"}}, *metrics_);
    ASSERT_TRUE(blobs) << describe(blobs.error());
    blobs_ = std::move(*blobs);
    auto volume = Volume::open(kv_, *blobs_, *metrics_, {.background = false});
    ASSERT_TRUE(volume) << describe(volume.error());
    volume_ = std::move(*volume);
  }
  std::vector<ProblemKind> kinds() {
    std::vector<ProblemKind> found;
    for (const Problem& problem : volume_->health()) found.push_back(problem.kind);
    return found;
  }
  using Kinds = std::vector<ProblemKind>;

  std::string folder_;
  SickKv kv_;
  std::unique_ptr<MetricRegistry> metrics_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<Volume> volume_;
  const OpContext ctx_{};
};

TEST_F(HealthTest, AHealthyVolumeIsAskedByOneDurableChange) {
  const int syncs = kv_.syncs;
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_EQ(kv_.syncs, syncs + 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(kinds(), Kinds{});
  EXPECT_EQ(kv_.syncs, syncs + 1);
}

// Between looks that are not far apart, the changes of others are proof enough.
TEST_F(HealthTest, NothingIsWrittenWhileOtherChangesBecomeDurable) {
  volume_.reset();
  stoa::test::ManualTime now;
  OpenedTree opened(kv_, *blobs_, *metrics_, {.time = &now, .background = false}, 1, FileId{1'000'000});
  VolumeContext& volume = opened.volume;
  Health health(volume);
  const auto commit = [&] {
    WriteBatch batch;
    batch.put(Family::kConfig, "test", "x");
    ASSERT_TRUE(volume.committer.write_durably(batch));
  };
  const auto probes = [&] {
    const int before = kv_.syncs;
    EXPECT_TRUE(health.look().empty());
    return kv_.syncs - before;
  };
  EXPECT_EQ(probes(), 1);
  for (int i = 0; i < 10; ++i) {
    now.pass(Health::kFresh);
    commit();
    EXPECT_EQ(probes(), 0) << i;
  }
  now.pass(Health::kFresh);
  EXPECT_EQ(probes(), 1);
  // Old durable changes prove nothing.
  commit();
  now.pass(Health::kLately + std::chrono::seconds(1));
  EXPECT_EQ(probes(), 1);
}

TEST_F(HealthTest, AStoreThatCannotBeWrittenIsNotHealthy) {
  kv_.unwritable = true;
  EXPECT_EQ(kinds(), Kinds{ProblemKind::kMetadataFailed});
  EXPECT_TRUE(fails(volume_->health()[0]));
  EXPECT_NE(volume_->health()[0].error, "");
}

TEST_F(HealthTest, AStoreThatCannotBeSyncedIsNotHealthyAndStaysSo) {
  kv_.unsyncable = true;
  EXPECT_EQ(kinds(), Kinds{ProblemKind::kMetadataFailed});
  kv_.unsyncable = false;
  EXPECT_EQ(kinds(), Kinds{ProblemKind::kMetadataFailed});
}

// No healthy answer of a moment ago hides a later failure.
TEST_F(HealthTest, AFailedCommitIsKnownAtOnce) {
  EXPECT_EQ(kinds(), Kinds{});
  kv_.unsyncable = true;
  EXPECT_FALSE(volume_->ns().mkdir(ctx_, {.parent = kRootId, .name = "d"}));
  EXPECT_EQ(kinds(), Kinds{ProblemKind::kMetadataFailed});
}

TEST_F(HealthTest, AStoreWithoutRoomRecoversByItself) {
  kv_.full = true;
  const auto made = volume_->ns().mkdir(ctx_, {.parent = kRootId, .name = "d"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kNoSpace);
  EXPECT_EQ(kinds(), Kinds{ProblemKind::kMetadataStalled});
  kv_.full = false;
  ASSERT_TRUE(volume_->flush());
  const auto now = volume_->health();
  EXPECT_TRUE(volume_->ns().lookup(ctx_, {.parent = kRootId, .name = "d"}));
}

TEST_F(HealthTest, ABlobDirectoryThatIsGoneIsNotHealthy) {
  EXPECT_EQ(kinds(), Kinds{});
  std::filesystem::rename(folder_ + "/blobs", folder_ + "/away");
  const auto found = volume_->health();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, ProblemKind::kBlobDirectory);
  EXPECT_EQ(found[0].path, folder_ + "/blobs");
  EXPECT_TRUE(fails(found[0]));
  std::filesystem::create_directory(folder_ + "/blobs");  // an empty place to mount something
  EXPECT_EQ(kinds(), Kinds{ProblemKind::kBlobDirectory});
  std::filesystem::remove(folder_ + "/blobs");
  std::filesystem::rename(folder_ + "/away", folder_ + "/blobs");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(HealthTest, ContentThatIsMissingAtAStartIsNotHealthy) {
  const auto file = volume_->ns().create(ctx_, {.parent = kRootId, .name = "f", .mode = CreateMode::kGuarded});
  ASSERT_TRUE(file);
  const std::string text(1u << 20, 'x');
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
  for (std::uint64_t i = 0; i < 24; ++i) ASSERT_TRUE(volume_->ns().write(ctx_, {file->attr.id, i << 20, pieces}));
  ASSERT_TRUE(volume_->flush());
  volume_.reset();
  blobs_.reset();
  std::string gone;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/blobs/own")) {
    if (entry.is_regular_file()) gone = entry.path();
  }
  ASSERT_FALSE(gone.empty());
  std::filesystem::remove(gone);
  open();
  const auto found = volume_->health();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, ProblemKind::kBlobDirectory);
  EXPECT_NE(found[0].error.find(gone), std::string::npos) << found[0].error;
}

}  // namespace
}  // namespace stoa::core

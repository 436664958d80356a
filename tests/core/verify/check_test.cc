// The verifier and the blob store: faults that it must find, and states of a volume in use that it must not take for a
// loss.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/sizes.h"
#include "tests/core/data/watched_blobs.h"

namespace stoa::core::test {
namespace {

struct WatchedLocalBlobs {
  static std::unique_ptr<BlobStore> open(const std::string& folder, MetricRegistry& metrics) {
    return std::make_unique<WatchedBlobs>(LocalBlobs::open(folder, metrics));
  }
  static constexpr bool kOnDisk = true;
};

class CheckTest : public DataTest<WatchedLocalBlobs> {
 protected:
  WatchedBlobs& watched() { return static_cast<WatchedBlobs&>(*blobs_); }
  std::filesystem::path blobs_folder() const { return std::filesystem::path(folder_) / "blobs"; }

  // Writes new files of one slot each until one of them has the place of `blob`, without committing any.
  bool use_again(BlobId blob) {
    for (unsigned i = 0; i < 200; ++i) {
      if (!write(create("again" + std::to_string(i)), 0, text(20'000, i))) return false;
      if (watched().last_reserved == blob) return true;
    }
    return false;
  }
  std::vector<std::string> problems(bool read_data) {
    const auto report = volume_->check({.read_data = read_data});
    EXPECT_TRUE(report) << describe(report.error());
    std::vector<std::string> found;
    if (report) {
      for (const Finding& problem : report->problems) found.push_back(describe(problem));
    }
    return found;
  }
  // Every host file below `folder` of the store goes while the volume is stopped.
  void lose_host_files(const std::string& folder) {
    stop();
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(blobs_folder() / folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    EXPECT_EQ(files.size(), 1u);
    for (const auto& file : files) std::filesystem::remove(file);
    reopen();
  }
};

TEST_F(CheckTest, AHostFileThatIsGoneIsFound) {
  ASSERT_TRUE(put("big", text(5 * kM), 5 * kM));
  ASSERT_TRUE(put("small", "inline"));
  ASSERT_TRUE(problems(true).empty());
  lose_host_files("own");
  const auto found = problems(false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("blob_missing [")) << found[0];
  EXPECT_EQ(problems(true).size(), 2u);  // and the file cannot be read
  const auto big = ns().lookup(durable_, {kRootId, "big"});
  ASSERT_TRUE(big);
  std::vector<std::byte> bytes(100);
  EXPECT_EQ(ns().read(durable_, {big->attr.id, 0, bytes}).error().code, Errc::kCorrupt);
  const auto small = ns().lookup(durable_, {kRootId, "small"});
  ASSERT_TRUE(small);
  EXPECT_EQ(read(small->attr.id), "inline");
}

TEST_F(CheckTest, AContainerThatIsGoneIsFound) {
  ASSERT_TRUE(put("slot", text(20'000)));
  ASSERT_TRUE(problems(true).empty());
  lose_host_files("slots");
  const auto found = problems(false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("blob_missing [")) << found[0];
}

TEST(FindingTest, WordsAndFactsAreDistinct) {
  std::set<std::string_view> words;
  for (std::size_t number = 0; number < finding_kind_count(); ++number) {
    const auto kind = static_cast<FindingKind>(number);
    EXPECT_TRUE(words.insert(to_string(kind)).second) << to_string(kind);
    std::set<std::string_view> names;
    for (const std::string_view name : fact_names(kind)) EXPECT_TRUE(names.insert(name).second) << to_string(kind);
  }
  EXPECT_EQ(fact_names(FindingKind::kNamesUncompared).size(), 0u);
  EXPECT_EQ(fact_names(FindingKind::kEntryDangling), (std::vector<std::string_view>{"directory", "name", "inode"}));
  EXPECT_EQ(describe({FindingKind::kNamesUncompared}), "names_uncompared");
  EXPECT_EQ(describe({FindingKind::kInodeDamaged, {"7"}}), "inode_damaged [7]");
}

// Between the release of a blob and the note of its end, its place may begin a new life.
TEST_F(CheckTest, APlaceThatIsUsedAgainAtOnceIsNotLost) {
  ASSERT_TRUE(put("f", text(20'000)));
  ASSERT_TRUE(ns().unlink(durable_, {kRootId, "f"}));
  bool again = false;
  watched().after_release = [&](BlobId blob) { again = use_again(blob); };
  ASSERT_TRUE(volume_->run_gc());
  ASSERT_TRUE(again);
  EXPECT_EQ(problems(false), std::vector<std::string>{});
  expect_no_garbage();
}

TEST_F(CheckTest, BytesThatGoWhileTheyAreVerifiedAreNoDamage) {
  ASSERT_TRUE(put("f", text(20'000)));
  bool removed = false;
  watched().before_read = [&](BlobId blob) {
    removed = ns().unlink(durable_, {kRootId, "f"}) && volume_->run_gc();
    use_again(blob);
  };
  EXPECT_EQ(problems(true), std::vector<std::string>{});
  EXPECT_TRUE(removed);
  EXPECT_TRUE(volume_->damage().empty());
  expect_no_garbage();
}

}  // namespace
}  // namespace stoa::core::test

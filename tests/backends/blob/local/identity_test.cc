#include <fstream>
#include <iterator>

#include "backends/blob/local/identity.h"
#include "tests/backends/blob/local/fixture.h"
#include "tests/small_disk.h"

namespace stoa::blob_local {
namespace {

using IdentityTest = StoreTest;

TEST_F(IdentityTest, OrderOfDirectoriesDoesNotMatter) {
  options_.directories = {directory("d0"), directory("d1"), directory("d2")};
  open();
  std::vector<BlobId> blobs;
  for (unsigned i = 0; i < 20; ++i) {
    blobs.push_back(reserve(kBig));
    ASSERT_TRUE(put(blobs.back(), 0, pattern(10, i)));
  }
  std::ranges::reverse(options_.directories);
  store_.reset();
  metrics_ = std::make_unique<MetricRegistry>();
  store_ = *LocalBlobStore::open(options_, *metrics_);
  for (const BlobId blob : blobs) ASSERT_TRUE(store_->adopt(blob));
  ASSERT_TRUE(store_->finish_adoption());
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(get(blobs[i], 0, 10), pattern(10, i));
}

TEST_F(IdentityTest, MissingDirectoryIsNoticed) {
  options_.directories = {directory("d0"), directory("d1")};
  open();
  options_.directories = {directory("d0")};
  EXPECT_EQ(open_error(), Errc::kInvalid);
  EXPECT_EQ(last_error_.cause, Cause::kBlobMissing);
  EXPECT_EQ(last_error_.arguments.at(0), "1");
}

TEST_F(IdentityTest, EmptyMountPointInsteadOfADirectoryIsNoticed) {
  options_.directories = {directory("d0"), directory("d1")};
  open();
  options_.directories = {directory("d0"), directory("unmounted")};
  EXPECT_EQ(open_error(), Errc::kInvalid);
  EXPECT_EQ(last_error_.cause, Cause::kBlobUnmounted);
  EXPECT_EQ(last_error_.arguments.at(2), directory("unmounted"));
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "unmounted"));
}

TEST_F(IdentityTest, OnlyDirectoryThatIsEmptyIsRefusedUnlessItMayBeMade) {
  options_.create = false;
  EXPECT_EQ(open_error(), Errc::kInvalid);
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "d0"));
  options_.create = true;
  open();
  options_.create = false;
  open();
}

TEST_F(IdentityTest, DirectoryMayBeAddedLater) {
  open();
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(put(blob, 0, pattern(10)));
  options_.directories = {directory("new"), directory("d0")};
  open({blob});
  EXPECT_EQ(get(blob, 0, 10), pattern(10));
  std::set<std::uint32_t> used;
  for (int i = 0; i < 64; ++i) used.insert(BlobName::of(reserve(1000)).directory);
  EXPECT_EQ(used, (std::set<std::uint32_t>{0, 1}));
}

TEST_F(IdentityTest, DirectoryOfAnotherVolumeIsRefused) {
  options_.directories = {directory("other")};
  open();
  options_.directories = {directory("d0")};
  open();
  options_.directories = {directory("d0"), directory("other")};
  EXPECT_EQ(open_error(), Errc::kInvalid);
}

TEST_F(IdentityTest, CopyOfADirectoryIsRefused) {
  open();
  store_.reset();
  std::filesystem::copy(root_ / "d0", root_ / "copy", std::filesystem::copy_options::recursive);
  options_.directories.push_back((root_ / "copy").string());
  EXPECT_EQ(open_error(), Errc::kInvalid);
}

TEST_F(IdentityTest, SecondProcessIsKeptOut) {
  open();
  MetricRegistry metrics;
  EXPECT_EQ(LocalBlobStore::open(options_, metrics).error().code, Errc::kBusy);
}

// Once released, this stays readable: a change is a new format.
TEST_F(IdentityTest, TheFormatIsGolden) {
  open();
  const std::string path = (root_ / "d0" / "identity").string();
  store_.reset();
  const Identity written{.store = "s0",
                         .index = 3,
                         .count = 7,
                         .volume = "00000000000000ab",
                         .generation = {5, 77, 1790000000},
                         .next = core::Generation{6, 78, 1790000001},
                         .home = "/data folder",
                         .place = "/disk 1/blobs"};
  ASSERT_TRUE(write_identity((root_ / "d0").string(), written));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text,
            "stoa-blobs 1 s0 3 7\nvolume 00000000000000ab\ngeneration 5 77 1790000000\nnext 6 78 1790000001\n"
            "home /data folder\nplace /disk 1/blobs\n");
  const auto read = read_identity((root_ / "d0").string());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, written);
  EXPECT_EQ((*read)->generation.seconds, 1790000000);
}

TEST_F(IdentityTest, DamagedOrNewerIdentityIsRefused) {
  open();
  std::ofstream(root_ / "d0" / "identity") << "nonsense";
  EXPECT_EQ(open_error(), Errc::kCorrupt);
  std::ofstream(root_ / "d0" / "identity") << "stoa-blobs 9 abc 0 1\n";
  EXPECT_EQ(open_error(), Errc::kNotSupported);
  for (const char* early : {"stoa-blob-directory 1 abc 0 1\n", "stoa-blob-directory 2 abc 0 1\nvolume ab\n"}) {
    std::ofstream(root_ / "d0" / "identity") << early;
    EXPECT_EQ(open_error(), Errc::kNotSupported);
    EXPECT_EQ(last_error_.cause, Cause::kBlobEarly);
  }
}

// Removals make room, and they need a start.
TEST_F(IdentityTest, AStartOnAFullDiskDoesNotCount) {
  test::SmallDisk disk(32u << 20);
  if (!disk.mounted()) GTEST_SKIP() << disk.why_not();
  std::filesystem::create_directory(disk.path() + "/blobs");
  options_.directories = {disk.path() + "/blobs"};
  core::Generation metadata{};
  int raised = 0;
  const auto start = [&] {
    options_.pairing = BlobPairing{.volume = "v", .generation = metadata, .raise = [&](const core::Generation& next) {
                                     metadata = next;
                                     ++raised;
                                     return Status();
                                   }};
    open();
  };
  start();
  EXPECT_EQ(raised, 1);
  disk.fill_but(0);
  for (int i = 0; i < 3; ++i) start();
  EXPECT_EQ(raised, 1);
  // A directory that is new must be noted.
  std::filesystem::create_directory(disk.path() + "/more");
  options_.directories.push_back(disk.path() + "/more");
  options_.pairing->generation = metadata;
  EXPECT_EQ(open_error(), Errc::kNoSpace);
  options_.directories.pop_back();
  disk.give_back();
  start();
  EXPECT_EQ(raised, 2);
  store_.reset();
}

TEST_F(IdentityTest, NothingOrAFileAsDirectoryIsRefused) {
  options_.directories = {};
  EXPECT_EQ(open_error(), Errc::kInvalid);
  options_.directories = {(root_ / "nowhere").string()};
  EXPECT_EQ(open_error(), Errc::kNotFound);
  std::ofstream(root_ / "file") << "x";
  options_.directories = {(root_ / "file").string()};
  EXPECT_EQ(open_error(), Errc::kNotDirectory);
}

}  // namespace
}  // namespace stoa::blob_local

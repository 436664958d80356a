// The limit of directory depth, on every way to exceed it.
#include "core/txn/depth.h"

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

class DepthTest : public VolumeTest<MemoryEngine> {
 protected:
  // Directories in each other; the last of them.
  FileId chain(FileId below, std::uint32_t levels) {
    FileId at = below;
    for (std::uint32_t i = 0; i < levels; ++i) {
      const auto made = mkdir(at, "d");
      EXPECT_TRUE(made) << i << ": " << describe(made.error());
      if (!made) break;
      at = *made;
    }
    return at;
  }
  Errc rename(FileId from, std::string_view name, FileId to, std::string_view to_name) {
    const auto moved = ns().rename({}, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = to_name});
    return moved ? Errc{} : moved.error().code;
  }
};

TEST_F(DepthTest, OneMoreThanTheLimitIsRefusedAndChangesNothing) {
  const FileId last = chain(kRootId, kLevelsMax);
  const Usage before = usage(kRootId);
  EXPECT_EQ(mkdir(last, "d").error().code, Errc::kNameTooLong);
  EXPECT_TRUE(create(last, "f")) << "a file is no level";
  EXPECT_EQ(usage(kRootId), before + Usage{.files = 1});
  reopen();
  EXPECT_EQ(mkdir(last, "d").error().code, Errc::kNameTooLong);
  expect_consistent();
}

TEST_F(DepthTest, NoMoveMakesItDeeper) {
  const FileId side = *mkdir(kRootId, "side");
  chain(side, 1000);
  const FileId end = chain(kRootId, 1048);
  for (const bool reopened : {false, true}) {
    if (reopened) reopen();
    EXPECT_EQ(rename(kRootId, "side", end, "side"), Errc::kNameTooLong);  // 1048 + 1 + 1000
    EXPECT_EQ(rename(kRootId, "side", *mkdir(kRootId, reopened ? "y" : "x"), "side"), Errc{});
    EXPECT_EQ(
        rename(ns().lookup({}, {.parent = kRootId, .name = reopened ? "y" : "x"})->attr.id, "side", kRootId, "side"),
        Errc{});
  }
  // One level fewer fits, and then nothing more below it.
  ASSERT_TRUE(ns().rmdir({}, {.parent = end, .name = "none"}).error().code == Errc::kNotFound);
  const FileId above = ns().lookup({}, {.parent = end, .name = ".."})->attr.id;
  EXPECT_EQ(rename(kRootId, "side", above, "side"), Errc{});
  expect_consistent();
}

TEST_F(DepthTest, WhatIsEmptyIsFlatAgain) {
  const FileId side = *mkdir(kRootId, "side");
  FileId at = side;
  std::vector<FileId> levels{side};
  for (int i = 0; i < 1500; ++i) levels.push_back(at = *mkdir(at, "d"));
  for (std::size_t i = levels.size() - 1; i-- > 0;) ASSERT_TRUE(ns().rmdir({}, {.parent = levels[i], .name = "d"}));
  EXPECT_EQ(rename(kRootId, "side", chain(kRootId, 1500), "side"), Errc{});
}

TEST_F(DepthTest, WhatIsDeletedAtTheLimitGoesIntoTheBin) {
  ASSERT_TRUE(volume_->registry().set_recycle({.dir = kRootId}));
  const FileId last = chain(kRootId, kLevelsMax - 1);
  const FileId dir = *mkdir(last, "d");
  ASSERT_TRUE(create(dir, "f"));
  ASSERT_TRUE(ns().unlink({}, {.parent = dir, .name = "f"}));
  ASSERT_TRUE(ns().rmdir({}, {.parent = last, .name = "d"}));
  reopen();
  // It lay below the limit in the bin as well, and so it may come back.
  EXPECT_EQ(mkdir(last, "d").has_value(), true);
  expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test

#include "core/inode/ancestry.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

using Kind = Ancestry::Kind;

AncestryRef below(const AncestryRef& parent, std::uint64_t dir, Kind kind = Kind::kPlain) {
  return std::make_shared<Ancestry>(FileId{dir}, parent, kind);
}

TEST(Ancestry, TellsWhatIsAboveADirectory) {
  const AncestryRef root = below(nullptr, 1), a = below(root, 20), b = below(a, 30), other = below(root, 40);
  EXPECT_EQ(directories_of(b), (std::vector{FileId{1}, FileId{20}, FileId{30}}));
  EXPECT_EQ(directories_of(nullptr), std::vector<FileId>{});
  EXPECT_EQ(depth_of(root), 0u);
  EXPECT_EQ(depth_of(b), 2u);
  EXPECT_TRUE(lies_in(b, FileId{30}));
  EXPECT_TRUE(lies_in(b, FileId{1}));
  EXPECT_FALSE(lies_in(b, FileId{40}));
  EXPECT_FALSE(lies_in(nullptr, FileId{1}));
  EXPECT_EQ(find_above(b, FileId{20}), a);
  EXPECT_EQ(find_above(b, FileId{40}), nullptr);
  b->above = other;
  EXPECT_EQ(directories_of(b), (std::vector{FileId{1}, FileId{40}, FileId{30}}));
}

TEST(Ancestry, KnowsBinsAndUploads) {
  const AncestryRef root = below(nullptr, 1), bin = below(root, 20, Kind::kBin), in_bin = below(below(bin, 30), 31);
  const AncestryRef upload = below(below(nullptr, 2), 40, Kind::kUpload);
  EXPECT_FALSE(lies_in_bin(root));
  EXPECT_TRUE(lies_in_bin(bin));
  EXPECT_TRUE(lies_in_bin(in_bin));
  EXPECT_FALSE(lies_in_upload(in_bin));
  EXPECT_TRUE(lies_in_upload(upload));
  EXPECT_FALSE(lies_in_bin(upload));
  EXPECT_FALSE(lies_in_bin(nullptr));
}

TEST(Ancestry, CrossesABorder) {
  const std::uint64_t elsewhere = std::uint64_t{7} << 48 | 99;  // of another shard: neither node nor account is here
  const AncestryRef stand_in = below(below(nullptr, 1), elsewhere), local = below(stand_in, 20);
  EXPECT_EQ(directories_of(local), (std::vector{FileId{1}, FileId{elsewhere}, FileId{20}}));
  EXPECT_TRUE(lies_in(local, FileId{elsewhere}));
}

TEST(Ancestry, AsDeepAsAnythingEndsWithoutAStack) {
  AncestryRef deep = below(nullptr, 1);
  for (std::uint64_t i = 2; i < 1'000'000; ++i) deep = below(deep, i);
  EXPECT_EQ(depth_of(deep), 999'998u);
  deep.reset();
}

}  // namespace
}  // namespace stoa::core

// Bugs found by the model test, in shrunk form.
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class FoundByModelTest : public VolumeTest<Engine> {
 protected:
  std::vector<std::string> keys(FileId root) {
    std::vector<std::string> out;
    const auto listing = this->ns().list_keys({}, {.root = root});
    EXPECT_TRUE(listing);
    for (const ListedKey& key : listing->keys) out.push_back(key.key);
    return out;
  }
};
TYPED_TEST_SUITE(FoundByModelTest, Engines);
using Names = std::vector<std::string>;

TYPED_TEST(FoundByModelTest, AHardLinkIsListedAlsoWhereItIsNotCharged) {
  const FileId d = *this->mkdir(kRootId, "d");
  const FileId file = *this->create(kRootId, "first");
  ASSERT_TRUE(this->ns().link({}, {file, d, "second"}));
  EXPECT_EQ(this->usage(d).files, 0);
  EXPECT_EQ(this->keys(kRootId), Names({"d/second", "first"}));
}

TYPED_TEST(FoundByModelTest, ARefusedPutTakesBackTheDirectoriesThatItMade) {
  ASSERT_TRUE(this->ns().set_quota({}, {kRootId, {.files = 1}}));
  EXPECT_EQ(this->put(kRootId, "a/b/c", "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->names(kRootId), Names());
  this->expect_consistent();
}

TYPED_TEST(FoundByModelTest, ARefusedPutLeavesDirectoriesThatWereThere) {
  ASSERT_TRUE(this->put(kRootId, "a/b", "x"));
  const FileId a = this->ns().lookup({}, {kRootId, "a"})->attr.id;
  ASSERT_TRUE(this->ns().unlink({}, {a, "b"}));
  ASSERT_TRUE(this->ns().set_quota({}, {kRootId, {.files = 1}}));
  EXPECT_EQ(this->put(kRootId, "a/c", "x").error().code, Errc::kQuota);
  EXPECT_EQ(this->names(kRootId), Names({"a"}));
}

TYPED_TEST(FoundByModelTest, TheChargeStaysWhereTheFileHasAnotherName) {
  const FileId first = *this->mkdir(kRootId, "first"), home = *this->mkdir(kRootId, "home");
  const FileId file = *this->create(home, "a");
  ASSERT_TRUE(this->write(file, 0, "12345"));
  ASSERT_TRUE(this->ns().link({}, {file, first, "b"}));
  ASSERT_TRUE(this->ns().link({}, {file, home, "c"}));
  ASSERT_TRUE(this->ns().unlink({}, {home, "a"}));
  EXPECT_EQ(this->usage(home).bytes, 5);
  EXPECT_EQ(this->usage(first).bytes, 0);
  ASSERT_TRUE(this->ns().unlink({}, {home, "c"}));
  EXPECT_EQ(this->usage(home).bytes, 0);
  EXPECT_EQ(this->usage(first).bytes, 5);
  this->expect_consistent();
}

TYPED_TEST(FoundByModelTest, ListingBelowAFileIsRefused) {
  const FileId file = *this->create(kRootId, "f");
  EXPECT_EQ(this->ns().list_keys({}, {.root = file}).error().code, Errc::kNotDirectory);
}

TYPED_TEST(FoundByModelTest, ADirectoryMayHaveMoreSubdirectoriesThanAFileMayHaveLinks) {
  OpContext ctx;
  ctx.durability = Durability::kApplied;
  const FileId d = *this->mkdir(kRootId, "d");
  for (std::uint32_t i = 0; i < kLinksMax + 10; ++i) {
    ASSERT_TRUE(this->ns().mkdir(ctx, {.parent = d, .name = std::to_string(i)})) << i;
  }
  EXPECT_EQ(this->ns().getattr({}, {d})->attr.links, kLinksMax + 12);
  EXPECT_TRUE(this->ns().put_key(ctx, {.root = d, .key = "one/more", .bytes = {}}));
}

}  // namespace
}  // namespace stoa::core::test

// Look-ups that ignore case. Exact ones are in names_test.
#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class LookupTest : public VolumeTest<Engine> {
 protected:
  struct Found {
    FileId id = kNoFile;
    std::string name;  // where it is another
    bool operator==(const Found&) const = default;
  };
  Found find(FileId dir, std::string_view name) {
    const auto reply = this->ns().lookup(this->root_, {.parent = dir, .name = name, .ignore_case = true});
    return reply ? Found{reply->attr.id, reply->name} : Found{};
  }
  std::size_t fold_records() {
    EXPECT_TRUE(this->volume_->flush());
    std::size_t count = 0;
    for (const auto it = this->kv_->scan(Family::kFold, {}, {}); it->valid(); it->next()) ++count;
    return count;
  }
};
TYPED_TEST_SUITE(LookupTest, Engines);

TYPED_TEST(LookupTest, ANameIsFoundWhateverItsCase) {
  using Found = LookupTest<TypeParam>::Found;
  const FileId readme = *this->create(kRootId, "ReadMe"), dir = *this->mkdir(kRootId, "Größe"),
               plain = *this->create(dir, "plain");
  EXPECT_EQ(this->find(kRootId, "README"), (Found{readme, "ReadMe"}));
  EXPECT_EQ(this->find(kRootId, "readme"), (Found{readme, "ReadMe"}));
  EXPECT_EQ(this->find(kRootId, "ReadMe"), (Found{readme, ""}));
  EXPECT_EQ(this->find(kRootId, "GRÖßE"), (Found{dir, "Größe"}));
  EXPECT_EQ(this->find(dir, "PLAIN"), (Found{plain, "plain"}));
  EXPECT_EQ(this->find(dir, "readme"), Found{}) << "of another directory";
  EXPECT_EQ(this->find(kRootId, "readm"), Found{});
  EXPECT_EQ(this->find(kRootId, "readme2"), Found{});
  EXPECT_FALSE(this->ns().lookup(this->root_, {.parent = kRootId, .name = "README"})) << "only on request";
  this->reopen();
  EXPECT_EQ(this->find(kRootId, "README"), (Found{readme, "ReadMe"}));
  this->expect_consistent();
}

TYPED_TEST(LookupTest, NamesThatDifferInCaseOnlyMayAllExist) {
  using Found = LookupTest<TypeParam>::Found;
  const FileId upper = *this->create(kRootId, "A"), lower = *this->create(kRootId, "a");
  EXPECT_EQ(this->find(kRootId, "A"), (Found{upper, ""})) << "the exact one first";
  EXPECT_EQ(this->find(kRootId, "a"), (Found{lower, ""}));
  const FileId second = *this->create(kRootId, "bB"), first = *this->mkdir(kRootId, "Bb");
  EXPECT_EQ(this->find(kRootId, "BB"), (Found{first, "Bb"})) << "then the first in the order of bytes";
  ASSERT_TRUE(this->ns().rmdir(this->root_, {.parent = kRootId, .name = "Bb"}));
  EXPECT_EQ(this->find(kRootId, "BB"), (Found{second, "bB"}));
  EXPECT_EQ(this->fold_records(), 2u) << "names that are their own folding have none";
  this->expect_consistent();
}

TYPED_TEST(LookupTest, RenamesLinksAndRemovalsKeepItRight) {
  using Found = LookupTest<TypeParam>::Found;
  const FileId dir = *this->mkdir(kRootId, "Dir"), file = *this->create(kRootId, "File");
  ASSERT_TRUE(this->ns().link(this->root_, {.id = file, .parent = dir, .name = "Link"}));
  ASSERT_TRUE(this->ns().rename(
      this->root_, {.from_parent = kRootId, .from_name = "File", .to_parent = kRootId, .to_name = "fILE"}));
  EXPECT_EQ(this->find(kRootId, "FILE"), (Found{file, "fILE"}));
  EXPECT_EQ(this->find(dir, "LINK"), (Found{file, "Link"}));
  ASSERT_TRUE(this->ns().rename(
      this->root_, {.from_parent = kRootId, .from_name = "Dir", .to_parent = kRootId, .to_name = "other"}));
  EXPECT_EQ(this->find(kRootId, "DIR"), Found{});
  EXPECT_EQ(this->find(kRootId, "OTHER"), (Found{dir, "other"}));
  EXPECT_EQ(this->find(dir, "LINK"), (Found{file, "Link"}));
  EXPECT_EQ(this->fold_records(), 2u);
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = dir, .name = "Link"}));
  EXPECT_EQ(this->find(dir, "LINK"), Found{});
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = kRootId, .name = "fILE"}));
  EXPECT_EQ(this->fold_records(), 0u);
  this->expect_consistent();
}

TYPED_TEST(LookupTest, TheRecycleBinTakesNamesAndGivesThemBack) {
  using Found = LookupTest<TypeParam>::Found;
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = kRootId}));
  const FileId dir = *this->mkdir(kRootId, "Dir"), file = *this->create(dir, "File");
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = dir, .name = "File"}));
  EXPECT_EQ(this->find(dir, "FILE"), Found{});
  this->expect_consistent();
  const auto items = this->ns().list_recycled(this->root_, {.dir = kRootId});
  ASSERT_TRUE(items);
  ASSERT_EQ(items->items.size(), 1u);
  ASSERT_TRUE(this->ns().restore(this->root_, {.item = items->items[0].item}));
  EXPECT_EQ(this->find(dir, "FILE"), (Found{file, "File"}));
  this->expect_consistent();
}

TYPED_TEST(LookupTest, ObjectsAndTheirDirectoriesAreFound) {
  using Found = LookupTest<TypeParam>::Found;
  ASSERT_TRUE(this->put(kRootId, "Dir/Sub/Object", "x"));
  ASSERT_TRUE(this->put(kRootId, "Dir", "y"));  // a file beside the directory
  const Found dir = this->find(kRootId, "DIR");
  EXPECT_EQ(dir.name, "Dir");
  const Found sub = this->find(dir.id, "SUB");
  EXPECT_EQ(sub.name, "Sub");
  EXPECT_EQ(this->find(sub.id, "OBJECT").name, "Object");
  EXPECT_EQ(this->fold_records(), 4u);
  EXPECT_EQ(this->find(kRootId, "DIR%S3-OBJECT"), Found{}) << "an alias is exact";
  ASSERT_TRUE(this->ns().remove_key(this->root_, {.root = kRootId, .key = "Dir/Sub/Object"}));
  EXPECT_EQ(this->fold_records(), 1u);
  const Found file = this->find(kRootId, "DIR");
  EXPECT_EQ(file.name, "Dir");
  EXPECT_NE(file.id, dir.id);
  this->expect_consistent();
}

TYPED_TEST(LookupTest, TheVerifierFindsMissingAndStrayRecords) {
  ASSERT_TRUE(this->create(kRootId, "File"));
  ASSERT_TRUE(this->volume_->flush());
  const auto change = [&](auto&& make) {
    WriteBatch batch;
    make(batch);
    const WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(this->kv_->apply(batches));
  };
  const auto problems = [&] { return this->volume_->check({})->problems; };
  const std::string key = keys::fold_key(kRootId, "file", "File");
  change([&](WriteBatch& batch) { batch.remove(Family::kFold, key); });
  ASSERT_FALSE(problems().empty());
  EXPECT_EQ(describe(problems()[0]), "entry_fold [1, File]");
  change([&](WriteBatch& batch) {
    batch.put(Family::kFold, key, {});
    batch.put(Family::kFold, keys::fold_key(kRootId, "none", "None"), {});
  });
  ASSERT_EQ(problems().size(), 1u);
  EXPECT_EQ(describe(problems()[0]), "fold_count [2, 1]");
}

}  // namespace
}  // namespace stoa::core::test

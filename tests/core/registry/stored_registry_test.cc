#include "core/registry/stored_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/kv/memory/memory_kv.h"
#include "core/registry/name_rules.h"

namespace stoa::core {
namespace {

class StoredRegistryTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    auto loaded = StoredRegistry::load(kv_, [this](const WriteBatch& batch) -> Status {
      if (disk_is_broken_) return fail(Errc::kIo, "disk");
      const WriteBatch* one = &batch;
      return kv_.apply({&one, 1});
    });
    ASSERT_TRUE(loaded) << describe(loaded.error());
    registry_ = *std::move(loaded);
  }
  Export wanted(std::string name) {
    return {.name = std::move(name), .root = FileId{17}, .path = "/x", .nfs = true, .s3 = true};
  }
  Errc refused(const Export& e) {
    const auto added = registry_->add_export(e);
    EXPECT_FALSE(added);
    return added ? Errc::kIo : added.error().code;
  }

  kv::MemoryKv kv_;
  bool disk_is_broken_ = false;
  std::unique_ptr<StoredRegistry> registry_;
};

TEST_F(StoredRegistryTest, AddedExportIsFoundByNameAndIdAlsoAfterAReload) {
  const auto added = registry_->add_export(wanted("team"));
  ASSERT_TRUE(added);
  EXPECT_NE(added->created.ns, 0);
  for (int pass = 0; pass < 2; ++pass) {
    const auto picture = registry_->snapshot();
    ASSERT_NE(picture->find_export("team"), nullptr);
    ASSERT_NE(picture->find_export(added->id), nullptr);
    EXPECT_EQ(picture->find_export(added->id)->root, FileId{17});
    EXPECT_EQ(picture->find_export("tea"), nullptr);
    open();
  }
}

TEST_F(StoredRegistryTest, IdsOfRemovedExportsAreNeverGivenOutAgain) {
  const auto first = registry_->add_export(wanted("one"));
  ASSERT_TRUE(registry_->remove_export("one"));
  open();
  const auto second = registry_->add_export(wanted("one"));
  EXPECT_NE(first->id, second->id);
}

TEST_F(StoredRegistryTest, ASnapshotStaysAsItWas) {
  ASSERT_TRUE(registry_->add_export(wanted("one")));
  const auto before = registry_->snapshot();
  ASSERT_TRUE(registry_->remove_export("one"));
  EXPECT_NE(before->find_export("one"), nullptr);
  EXPECT_EQ(registry_->snapshot()->find_export("one"), nullptr);
}

TEST_F(StoredRegistryTest, AChangeThatWasNotWrittenIsNotVisible) {
  ASSERT_TRUE(registry_->add_export(wanted("one")));
  ASSERT_TRUE(registry_->add_user({.name = "ann"}));
  disk_is_broken_ = true;
  EXPECT_EQ(refused(wanted("two")), Errc::kIo);
  EXPECT_EQ(registry_->remove_export("one").error().code, Errc::kIo);
  EXPECT_EQ(registry_->add_user({.name = "bob"}).error().code, Errc::kIo);
  EXPECT_EQ(registry_->change_user({.name = "ann", .uid = 7}).error().code, Errc::kIo);
  EXPECT_EQ(registry_->remove_user("ann").error().code, Errc::kIo);
  const auto picture = registry_->snapshot();
  EXPECT_EQ(picture->exports().size(), 1u);
  ASSERT_EQ(picture->users().size(), 1u);
  EXPECT_EQ(picture->users()[0].uid, 65534u);
}

TEST_F(StoredRegistryTest, ExportNamesFollowTheRulesOfTheirDoors) {
  for (const char* bad :
       {"", "ab", "Team", "a_b", "-team", "team-", "te..am", "10.0.0.1", "xn--abc", "abc-s3alias", "a/b"}) {
    EXPECT_EQ(refused(wanted(bad)), Errc::kInvalid) << bad;
  }
  EXPECT_EQ(refused(wanted(std::string(64, 'a'))), Errc::kInvalid);
  for (const std::string& good : {std::string("abc"), std::string("a.b-c"), std::string("123"), std::string(63, 'a')}) {
    EXPECT_TRUE(registry_->add_export(wanted(good))) << good;
  }
  Export posix = wanted("Team A_b");
  posix.s3 = false;
  EXPECT_TRUE(registry_->add_export(posix));
  for (const char* bad : {"", ".", "..", "a/b", "a\nb"}) {
    posix.name = bad;
    EXPECT_EQ(refused(posix), Errc::kInvalid) << bad;
  }
}

TEST_F(StoredRegistryTest, ATakenNameIsRefused) {
  ASSERT_TRUE(registry_->add_export(wanted("team")));
  EXPECT_EQ(refused(wanted("team")), Errc::kExists);
  ASSERT_TRUE(registry_->add_user({.name = "ann"}));
  EXPECT_EQ(registry_->add_user({.name = "ann"}).error().code, Errc::kExists);
}

TEST_F(StoredRegistryTest, ChangeKeepsRootAndTimeAndMayRename) {
  const auto added = registry_->add_export(wanted("team"));
  ASSERT_TRUE(registry_->add_export(wanted("other")));
  Export changed = *added;
  changed.name = "crew";
  changed.root = FileId{99};
  changed.created = {};
  changed.read_only = true;
  ASSERT_TRUE(registry_->change_export(changed));
  open();
  const auto picture = registry_->snapshot();
  EXPECT_EQ(picture->find_export("team"), nullptr);
  const Export* now = picture->find_export("crew");
  ASSERT_NE(now, nullptr);
  EXPECT_EQ(now->root, FileId{17});
  EXPECT_EQ(now->created, added->created);
  EXPECT_TRUE(now->read_only);

  changed.name = "other";
  EXPECT_EQ(registry_->change_export(changed).error().code, Errc::kExists);
  changed.id = ExportId{4711};
  EXPECT_EQ(registry_->change_export(changed).error().code, Errc::kNotFound);
}

TEST_F(StoredRegistryTest, OnlyEnabledKeysAreFound) {
  ASSERT_TRUE(registry_->add_user(
      {.name = "ann", .uid = 7, .keys = {{"LIVEKEY", "secretsecret", true}, {"DEADKEY", "secretsecret", false}}}));
  const auto picture = registry_->snapshot();
  EXPECT_EQ(picture->find_key("LIVEKEY").first->name, "ann");
  EXPECT_EQ(picture->find_key("LIVEKEY").second->secret_key, "secretsecret");
  EXPECT_EQ(picture->find_key("DEADKEY").first, nullptr);
  EXPECT_EQ(picture->find_key("").first, nullptr);
  EXPECT_EQ(picture->find_user_by_uid(7)->name, "ann");
  EXPECT_EQ(picture->find_user_by_uid(8), nullptr);
}

TEST_F(StoredRegistryTest, AnAccessKeyBelongsToOneUserEvenWhenDisabled) {
  ASSERT_TRUE(registry_->add_user({.name = "ann", .keys = {{"SHARED", "secretsecret", false}}}));
  EXPECT_EQ(registry_->add_user({.name = "bob", .keys = {{"SHARED", "othersecret1", true}}}).error().code,
            Errc::kExists);
  ASSERT_TRUE(registry_->add_user({.name = "bob"}));
  EXPECT_EQ(registry_->change_user({.name = "bob", .keys = {{"SHARED", "othersecret1", true}}}).error().code,
            Errc::kExists);
  EXPECT_TRUE(registry_->change_user({.name = "ann", .keys = {{"SHARED", "newsecret123", true}}}));
}

TEST_F(StoredRegistryTest, BadUsersAreRefused) {
  for (const char* bad : {"", "-ann", ".ann", "a b", "a/b", "a\n"}) {
    EXPECT_EQ(registry_->add_user({.name = bad}).error().code, Errc::kInvalid) << bad;
  }
  EXPECT_EQ(registry_->add_user({.name = std::string(65, 'a')}).error().code, Errc::kInvalid);
  EXPECT_EQ(registry_->add_user({.name = "a", .keys = {{"AB", "secretsecret"}}}).error().code, Errc::kInvalid);
  EXPECT_EQ(registry_->add_user({.name = "a", .keys = {{"ABC/D", "secretsecret"}}}).error().code, Errc::kInvalid);
  EXPECT_EQ(registry_->add_user({.name = "a", .keys = {{"ABCD", "short"}}}).error().code, Errc::kInvalid);
  const S3Key twice{"ABCD", "secretsecret"};
  EXPECT_EQ(registry_->add_user({.name = "a", .keys = {twice, twice}}).error().code, Errc::kInvalid);
  EXPECT_EQ(
      registry_->add_user({.name = "a", .groups = std::vector<std::uint32_t>(kGroupsPerUserMax + 1)}).error().code,
      Errc::kInvalid);
  std::vector<S3Key> many;
  for (std::size_t i = 0; i <= kKeysPerUserMax; ++i) many.push_back(make_s3_key());
  EXPECT_EQ(registry_->add_user({.name = "a", .keys = many}).error().code, Errc::kInvalid);
}

TEST_F(StoredRegistryTest, AnOwnerMustExistAndStaysAsLongAsItOwns) {
  Export owned = wanted("team");
  owned.owner = "ann";
  EXPECT_EQ(refused(owned), Errc::kInvalid);
  ASSERT_TRUE(registry_->add_user({.name = "ann"}));
  ASSERT_TRUE(registry_->add_export(owned));
  EXPECT_EQ(registry_->remove_user("ann").error().code, Errc::kInvalid);
  ASSERT_TRUE(registry_->remove_export("team"));
  EXPECT_TRUE(registry_->remove_user("ann"));
  EXPECT_EQ(registry_->remove_user("ann").error().code, Errc::kNotFound);
  EXPECT_EQ(registry_->remove_export("team").error().code, Errc::kNotFound);
}

TEST_F(StoredRegistryTest, ADamagedRecordIsNamedAndNotSkipped) {
  WriteBatch batch;
  batch.put(Family::kConfig, "user/ann", "\x01\x01 garbage");
  const WriteBatch* one = &batch;
  ASSERT_TRUE(kv_.apply({&one, 1}));
  const auto loaded = StoredRegistry::load(kv_, [](const WriteBatch&) -> Status { return {}; });
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Errc::kCorrupt);
  EXPECT_NE(loaded.error().detail.find("user/ann"), std::string::npos);
}

TEST_F(StoredRegistryTest, ReadersSeeWholePicturesWhileRecordsChange) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop.load()) {
        const auto picture = registry_->snapshot();
        for (const User& user : picture->users()) {
          ASSERT_EQ(user.uid, user.gid);
          ASSERT_EQ(picture->find_user(user.name), &user);
        }
      }
    });
  }
  ASSERT_TRUE(registry_->add_user({.name = "ann", .uid = 0, .gid = 0}));
  for (std::uint32_t i = 1; i < 500; ++i) ASSERT_TRUE(registry_->change_user({.name = "ann", .uid = i, .gid = i}));
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(S3KeyTest, FreshKeysHaveTheUsualShapeAndDiffer) {
  const S3Key a = make_s3_key();
  const S3Key b = make_s3_key();
  EXPECT_EQ(a.access_key.size(), 20u);
  EXPECT_EQ(a.secret_key.size(), 40u);
  EXPECT_NE(a.access_key, b.access_key);
  EXPECT_NE(a.secret_key, b.secret_key);
}

}  // namespace
}  // namespace stoa::core

#include "core/registry/stored_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/kv/memory/memory_kv.h"
#include "core/registry/name_rules.h"
#include "core/registry/record.h"

namespace stoa::core {
namespace {

class StoredRegistryTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    auto loaded = StoredRegistry::load(
        kv_,
        [this](const WriteBatch& batch, const Deadline&) -> Status {
          if (disk_is_broken_) return fail(Errc::kIo, "disk");
          const WriteBatch* one = &batch;
          return kv_.apply({&one, 1});
        },
        scheduler_);
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
  qos::Scheduler scheduler_;
  bool disk_is_broken_ = false;
  std::unique_ptr<StoredRegistry> registry_;
};

TEST_F(StoredRegistryTest, AddedExportIsFoundByNameAndIdAlsoAfterAReload) {
  const auto added = registry_->add_export(wanted("team"));
  ASSERT_TRUE(added);
  EXPECT_NE(added->created.ns, 0);
  for (int pass = 0; pass < 2; ++pass) {
    const auto snapshot = registry_->snapshot();
    ASSERT_NE(snapshot->find_export("team"), nullptr);
    ASSERT_NE(snapshot->find_export(added->id), nullptr);
    EXPECT_EQ(snapshot->find_export(added->id)->root, FileId{17});
    EXPECT_EQ(snapshot->find_export("tea"), nullptr);
    open();
  }
}

Token token_named(std::string name, std::uint8_t secret) {
  Token token{.name = std::move(name), .role = Role::kAuditor, .created = {1}};
  token.hash.fill(secret);
  return token;
}

TEST_F(StoredRegistryTest, ATokenIsFoundByItsHashAlsoAfterAReloadAndGoneWhenRemoved) {
  const Token ann = token_named("ann", 1);
  ASSERT_TRUE(registry_->add_token(ann));
  ASSERT_TRUE(registry_->add_token(token_named("bob", 2)));
  for (int pass = 0; pass < 2; ++pass) {
    const auto snapshot = registry_->snapshot();
    ASSERT_EQ(snapshot->tokens().size(), 2u);
    ASSERT_NE(snapshot->find_token(ann.hash), nullptr);
    EXPECT_EQ(snapshot->find_token(ann.hash)->name, "ann");
    EXPECT_EQ(snapshot->find_token(token_named("x", 3).hash), nullptr);
    open();
  }
  ASSERT_TRUE(registry_->remove_token("ann"));
  EXPECT_EQ(registry_->snapshot()->find_token(ann.hash), nullptr);
  EXPECT_EQ(registry_->remove_token("ann").error().code, Errc::kNotFound);
  open();
  EXPECT_EQ(registry_->snapshot()->find_token(ann.hash), nullptr);
}

TEST_F(StoredRegistryTest, BadTokensAreRefusedAndLeaveNoTrace) {
  const auto refused = [&](Token token) {
    const Status added = registry_->add_token(token);
    EXPECT_FALSE(added);
    return added ? Errc::kIo : added.error().code;
  };
  ASSERT_TRUE(registry_->add_token(token_named("ann", 1)));
  EXPECT_EQ(refused(token_named("ann", 2)), Errc::kExists);
  EXPECT_EQ(refused(token_named("eve", 1)), Errc::kExists);
  EXPECT_EQ(refused(token_named("", 2)), Errc::kInvalid);
  EXPECT_EQ(refused(token_named("a/b", 2)), Errc::kInvalid);
  EXPECT_EQ(refused(token_named(std::string(kBuiltInToken), 2)), Errc::kInvalid);
  Token token = token_named("bob", 2);
  token.directory = FileId{17};
  EXPECT_EQ(refused(token), Errc::kInvalid);
  token = token_named("bob", 2);
  token.role = Role::kOwner;
  EXPECT_EQ(refused(token), Errc::kInvalid);
  token = token_named("bob", 2);
  token.expires = {1};
  EXPECT_EQ(refused(token), Errc::kInvalid);
  disk_is_broken_ = true;
  EXPECT_EQ(refused(token_named("bob", 2)), Errc::kIo);
  EXPECT_EQ(registry_->remove_token("ann").error().code, Errc::kIo);
  disk_is_broken_ = false;
  EXPECT_EQ(registry_->snapshot()->tokens().size(), 1u);
}

TEST_F(StoredRegistryTest, TheLastUseOfATokenIsStoredAtMostOnceAMinute) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kStart = 1'000'000 * kSecond;
  const Token ann = token_named("ann", 1);
  ASSERT_TRUE(registry_->add_token(ann));
  EXPECT_EQ(registry_->last_use(ann), Timestamp{});
  registry_->note_use(ann, {kStart});
  registry_->note_use(ann, {kStart + 59 * kSecond});
  EXPECT_EQ(registry_->last_use(ann).ns, kStart + 59 * kSecond);
  open();
  EXPECT_EQ(registry_->last_use(ann).ns, kStart);
  registry_->note_use(ann, {kStart + 60 * kSecond});
  open();
  EXPECT_EQ(registry_->last_use(ann).ns, kStart + 60 * kSecond);
  disk_is_broken_ = true;  // no request is refused for it
  registry_->note_use(ann, {kStart + 200 * kSecond});
  EXPECT_EQ(registry_->last_use(ann).ns, kStart + 200 * kSecond);
  disk_is_broken_ = false;
  // A request in progress when the token went leaves nothing behind.
  ASSERT_TRUE(registry_->remove_token("ann"));
  registry_->note_use(ann, {kStart + 300 * kSecond});
  ASSERT_TRUE(registry_->add_token(ann));
  EXPECT_EQ(registry_->last_use(ann), Timestamp{});
  open();
  EXPECT_EQ(registry_->last_use(ann), Timestamp{});
}

TEST_F(StoredRegistryTest, TokensAreUsedWhileOthersComeAndGo) {
  const Token ann = token_named("ann", 1);
  ASSERT_TRUE(registry_->add_token(ann));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto snapshot = registry_->snapshot();
        EXPECT_NE(snapshot->find_token(ann.hash), nullptr);
        registry_->note_use(ann, {(i * 3 + t) * std::int64_t{61'000'000'000}});
        (void)registry_->last_use(ann);
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(registry_->add_token(token_named("bob", 2)));
    EXPECT_TRUE(registry_->remove_token("bob"));
  }
  for (std::thread& thread : threads) thread.join();
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
  const auto snapshot = registry_->snapshot();
  EXPECT_EQ(snapshot->exports().size(), 1u);
  ASSERT_EQ(snapshot->users().size(), 1u);
  EXPECT_EQ(snapshot->users()[0].uid, 65534u);
}

TEST_F(StoredRegistryTest, ExportNamesFollowTheRulesOfTheirProtocols) {
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
  const auto snapshot = registry_->snapshot();
  EXPECT_EQ(snapshot->find_export("team"), nullptr);
  const Export* now = snapshot->find_export("crew");
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
  const auto snapshot = registry_->snapshot();
  EXPECT_EQ(snapshot->find_key("LIVEKEY").first->name, "ann");
  EXPECT_EQ(snapshot->find_key("LIVEKEY").second->secret_key, "secretsecret");
  EXPECT_EQ(snapshot->find_key("DEADKEY").first, nullptr);
  EXPECT_EQ(snapshot->find_key("").first, nullptr);
  EXPECT_EQ(snapshot->find_user_by_uid(7)->name, "ann");
  EXPECT_EQ(snapshot->find_user_by_uid(8), nullptr);
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

TEST_F(StoredRegistryTest, AUserIsFoundByEachOfItsIdentitiesAlsoAfterAReload) {
  ASSERT_TRUE(registry_->add_user(
      {.name = "ann", .uid = 1000, .principal = "ann.smith@EXAMPLE.ORG", .sid = "S-1-5-21-1-2-3-500"}));
  ASSERT_TRUE(registry_->add_user({.name = "bob", .uid = 1001}));
  ASSERT_TRUE(registry_->add_group({.name = "staff", .gid = 50}));
  std::string bobs, staffs;
  for (int pass = 0; pass < 2; ++pass) {
    const auto snapshot = registry_->snapshot();
    const User* ann = snapshot->find_user("ann");
    ASSERT_NE(ann, nullptr);
    EXPECT_EQ(snapshot->find_user_by_uid(1000), ann);
    EXPECT_EQ(snapshot->find_user_by_principal("ann.smith@EXAMPLE.ORG"), ann);
    EXPECT_EQ(snapshot->find_user_by_principal("bob@EXAMPLE.ORG"), nullptr);
    EXPECT_EQ(snapshot->find_user_by_principal(""), nullptr);
    EXPECT_EQ(snapshot->find_user_by_sid("S-1-5-21-1-2-3-500"), ann);
    const User* bob = snapshot->find_user("bob");
    const Group* staff = snapshot->find_group("staff");
    ASSERT_NE(staff, nullptr);
    EXPECT_EQ(snapshot->find_group_by_gid(50), staff);
    EXPECT_EQ(snapshot->find_group_by_gid(51), nullptr);
    EXPECT_EQ(snapshot->groups().size(), 1u);
    // The automatic ones: one domain for all, made once.
    if (pass == 0) {
      bobs = snapshot->sid_of(*bob);
      staffs = snapshot->sid_of(*staff);
    }
    EXPECT_TRUE(bobs.starts_with("S-1-5-21-") && bobs.ends_with("-3002")) << bobs;
    EXPECT_EQ(bobs.substr(0, bobs.rfind('-')) + "-1101", staffs);
    EXPECT_EQ(snapshot->sid_of(*bob), bobs);
    EXPECT_EQ(snapshot->sid_of(*staff), staffs);
    EXPECT_EQ(snapshot->find_user_by_sid(bobs), bob);
    EXPECT_EQ(snapshot->find_group_by_sid(staffs), staff);
    EXPECT_EQ(snapshot->find_user_by_sid(staffs), nullptr);
    open();
  }
  ASSERT_TRUE(registry_->remove_group("staff"));
  EXPECT_EQ(registry_->remove_group("staff").error().code, Errc::kNotFound);
  open();
  EXPECT_EQ(registry_->snapshot()->find_group_by_gid(50), nullptr);
}

TEST_F(StoredRegistryTest, NoTwoRecordsAreTheSameIdentity) {
  ASSERT_TRUE(registry_->add_user({.name = "ann", .uid = 1000, .principal = "ann@R", .sid = "S-1-5-21-1-2-3-500"}));
  EXPECT_EQ(registry_->add_user({.name = "bob", .uid = 1001, .principal = "ann@R"}).error().code, Errc::kExists);
  EXPECT_EQ(registry_->add_user({.name = "bob", .uid = 1001, .sid = "S-1-5-21-1-2-3-500"}).error().code, Errc::kExists);
  EXPECT_EQ(registry_->add_group({.name = "staff", .gid = 50, .sid = "S-1-5-21-1-2-3-500"}).error().code,
            Errc::kExists);
  ASSERT_TRUE(registry_->add_group({.name = "staff", .gid = 50}));
  EXPECT_EQ(registry_->add_group({.name = "staff", .gid = 51}).error().code, Errc::kExists);
  EXPECT_EQ(registry_->add_group({.name = "crew", .gid = 50}).error().code, Errc::kExists);
  const auto snapshot = registry_->snapshot();
  const std::string staff = snapshot->sid_of(*snapshot->find_group("staff"));
  EXPECT_EQ(registry_->add_user({.name = "bob", .uid = 1001, .sid = staff}).error().code, Errc::kExists);
  // The automatic SID follows from the uid, so users that share one share the other.
  ASSERT_TRUE(registry_->add_user({.name = "carl", .uid = 7}));
  ASSERT_TRUE(registry_->add_user({.name = "dora", .uid = 7}));
  const auto later = registry_->snapshot();
  EXPECT_EQ(later->sid_of(*later->find_user("carl")), later->sid_of(*later->find_user("dora")));
  EXPECT_EQ(later->find_user_by_sid(later->sid_of(*later->find_user("dora")))->name, "carl");
  // A change may keep the user's own values.
  EXPECT_TRUE(registry_->change_user({.name = "ann", .uid = 1000, .principal = "ann@R", .sid = "S-1-5-21-1-2-3-500"}));
  EXPECT_EQ(registry_->change_user({.name = "carl", .uid = 7, .principal = "ann@R"}).error().code, Errc::kExists);
}

TEST_F(StoredRegistryTest, IdentitiesThatAreNoneAreRefused) {
  for (const char* principal : {"ann", "@R", "ann@", "a nn@R", "ann@R\n"}) {
    EXPECT_EQ(registry_->add_user({.name = "ann", .principal = principal}).error().code, Errc::kInvalid) << principal;
  }
  for (const char* sid :
       {"S-1", "S-1-5", "S-2-5-21", "s-1-5-21", "S-1-5-", "S-1-5-021", "S-1-5-4294967296", "S-1-281474976710656-1",
        "S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16", "S-1-5-21 ", "S-1-5--1"}) {
    EXPECT_EQ(registry_->add_user({.name = "ann", .sid = sid}).error().code, Errc::kInvalid) << sid;
    EXPECT_EQ(registry_->add_group({.name = "staff", .gid = 1, .sid = sid}).error().code, Errc::kInvalid) << sid;
  }
  EXPECT_TRUE(registry_->add_user({.name = "ann", .sid = "S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15"}));
  EXPECT_EQ(registry_->add_group({.name = "no blanks", .gid = 1}).error().code, Errc::kInvalid);
}

TEST_F(StoredRegistryTest, IdsThatTheDomainHasNoRoomForHaveSidsOfUnix) {
  ASSERT_TRUE(registry_->add_user({.name = "last", .uid = 2147483147}));
  ASSERT_TRUE(registry_->add_user({.name = "beyond", .uid = 2147483148}));
  ASSERT_TRUE(registry_->add_group({.name = "beyond", .gid = 4294967295}));
  const auto snapshot = registry_->snapshot();
  EXPECT_TRUE(snapshot->sid_of(*snapshot->find_user("last")).ends_with("-4294967294"));
  EXPECT_EQ(snapshot->sid_of(*snapshot->find_user("beyond")), "S-1-22-1-2147483148");
  EXPECT_EQ(snapshot->sid_of(*snapshot->find_group("beyond")), "S-1-22-2-4294967295");
}

QosRule metadata_limit(const QosTarget& target, std::uint64_t rate) {
  QosRule rule{.target = target};
  rule.limits.limit[qos::Resource::kMetadataOps] = rate;
  return rule;
}

TEST_F(StoredRegistryTest, QosClassesAreFoundAlsoAfterAReloadAndKeepTheirStateWhenTheyChange) {
  EXPECT_EQ(registry_->snapshot()->qos_classes(), nullptr);
  const QosTarget target = QosTarget::user(1000);
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(target, 10)));
  const auto first = registry_->snapshot();
  ASSERT_NE(first->qos_classes(), nullptr);
  qos::QosClass* const qos_class = first->qos_classes()->find(target)->qos_class.get();
  ASSERT_TRUE(scheduler_.admit({&qos_class, 1}, qos::Price::metadata()));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(target, 20)));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::directory(kRootId), 5)));
  EXPECT_EQ(registry_->snapshot()->qos_classes()->find(target)->qos_class.get(), qos_class);
  EXPECT_EQ(qos_class->use().admitted[qos::Resource::kMetadataOps], 1u);
  ASSERT_TRUE(registry_->add_user({.name = "ann"}));
  EXPECT_EQ(registry_->snapshot()->qos_classes()->find(target)->qos_class.get(), qos_class);
  for (int pass = 0; pass < 2; ++pass) {
    const auto snapshot = registry_->snapshot();
    ASSERT_EQ(snapshot->qos_rules().size(), 2u);
    EXPECT_EQ(*snapshot->qos_rules()[0], metadata_limit(QosTarget::directory(kRootId), 5));
    EXPECT_EQ(*snapshot->qos_rules()[1], metadata_limit(target, 20));
    open();
  }
  ASSERT_TRUE(registry_->remove_qos_class(target));
  ASSERT_TRUE(registry_->remove_qos_class(QosTarget::directory(kRootId)));
  EXPECT_EQ(registry_->remove_qos_class(target).error().code, Errc::kNotFound);
  EXPECT_EQ(registry_->snapshot()->qos_classes(), nullptr);
}

TEST_F(StoredRegistryTest, BackgroundWorkPaysItsOwnQosClassAndTheRootsAlsoAfterAReload) {
  ASSERT_EQ(registry_->background_terms().path.size(), 1u);
  EXPECT_EQ(registry_->background_terms().weight, qos::kWeightLowest);
  const auto qos_class = registry_->background_terms().path[0];
  QosRule rule = metadata_limit(QosTarget::background(), 7);
  rule.limits.weight = 30;
  ASSERT_TRUE(registry_->set_qos_class(rule));
  EXPECT_EQ(registry_->background_terms().path[0], qos_class);
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::directory(kRootId), 5)));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::user(1), 5)));
  EXPECT_EQ(registry_->snapshot()->qos_rules().back()->target, QosTarget::background());
  open();
  const auto terms = registry_->background_terms();
  EXPECT_EQ(terms.weight, 30u);
  ASSERT_EQ(terms.path.size(), 2u);
  EXPECT_EQ(terms.path[0], registry_->snapshot()->qos_classes()->find(QosTarget::directory(kRootId))->qos_class);
  std::vector<qos::QosClass*> path{terms.path[0].get(), terms.path[1].get()};
  ASSERT_TRUE(scheduler_.admit(path, qos::Price{}.add(qos::Resource::kMetadataOps, 100)));
  EXPECT_FALSE(scheduler_.admit(std::span(path).subspan(1), qos::Price::metadata()));  // its limit holds
  EXPECT_EQ(registry_->snapshot()->qos_use(QosTarget::background()).admitted[qos::Resource::kMetadataOps], 100u);
  ASSERT_TRUE(registry_->remove_qos_class(QosTarget::background()));
  EXPECT_EQ(registry_->background_terms().weight, qos::kWeightLowest);
  EXPECT_TRUE(scheduler_.admit(std::span(path).subspan(1), qos::Price::metadata()));
  EXPECT_FALSE(registry_->set_qos_class(metadata_limit({QosKind::kBackground, 1}, 5)));
}

TEST_F(StoredRegistryTest, RecyclePoliciesAreKeptAndWithoutAnyThereIsNoTable) {
  EXPECT_EQ(registry_->snapshot()->recycle(), nullptr);
  ASSERT_TRUE(registry_->add_export(wanted("team")));
  ASSERT_TRUE(registry_->set_recycle({.dir = FileId{20}, .days = 3}));
  ASSERT_TRUE(registry_->set_recycle({.dir = FileId{20}, .days = 4}));
  EXPECT_EQ(registry_->set_recycle({}).error().code, Errc::kInvalid);
  EXPECT_EQ(registry_->set_recycle({.dir = FileId{21}, .days = 40'000}).error().code, Errc::kInvalid);
  for (int pass = 0; pass < 2; ++pass) {
    const auto snapshot = registry_->snapshot();
    ASSERT_NE(snapshot->recycle(), nullptr);
    ASSERT_NE(snapshot->recycle()->find(FileId{20}), nullptr);
    EXPECT_EQ(snapshot->recycle()->find(FileId{20})->days, 4u);
    EXPECT_EQ(snapshot->recycle()->find(FileId{17}), nullptr);
    EXPECT_TRUE(snapshot->recycle()->has_own_bin(FileId{17}));  // the root of the export
    EXPECT_TRUE(snapshot->recycle()->has_own_bin(FileId{20}));
    EXPECT_FALSE(snapshot->recycle()->has_own_bin(FileId{18}));
    open();
  }
  disk_is_broken_ = true;
  EXPECT_EQ(registry_->remove_recycle(FileId{20}).error().code, Errc::kIo);
  EXPECT_NE(registry_->snapshot()->recycle(), nullptr);
  disk_is_broken_ = false;
  ASSERT_TRUE(registry_->remove_recycle(FileId{20}));
  EXPECT_EQ(registry_->remove_recycle(FileId{20}).error().code, Errc::kNotFound);
  EXPECT_EQ(registry_->snapshot()->recycle(), nullptr);
}

TEST_F(StoredRegistryTest, ARequestPaysTheQosClassesThatAreAboutItFromTheGeneralToTheParticular) {
  const auto team = registry_->add_export(wanted("team"));
  ASSERT_TRUE(team);
  const QosTarget order[] = {QosTarget::directory(kRootId),
                             QosTarget::protocol(Protocol::kNfs),
                             QosTarget::of_export(team->id),
                             QosTarget::clients(*Network::parse("10.0.0.0/8")),
                             QosTarget::clients(*Network::parse("10.1.0.0/16")),
                             QosTarget::directory(FileId{17}),
                             QosTarget::directory(FileId{20}),
                             QosTarget::group(4),
                             QosTarget::group(100),
                             QosTarget::user(1000)};
  for (const QosTarget& target : order) ASSERT_TRUE(registry_->set_qos_class(metadata_limit(target, 10)));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::user(1), 10)));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::protocol(Protocol::kS3), 10)));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::clients(*Network::parse("10.2.0.0/16")), 10)));
  const auto snapshot = registry_->snapshot();
  const QosTable& table = *snapshot->qos_classes();
  EXPECT_TRUE(table.has_directories());
  const Credentials cred{.uid = 1000, .gid = 100, .groups = {5, 4, 100, 4}};
  QosCaller caller{
      .protocol = Protocol::kNfs, .through = team->id, .address = Network::parse("10.1.2.3")->address, .cred = &cred};
  const FileId above[] = {kRootId, FileId{17}, FileId{19}, FileId{20}};
  std::vector<qos::QosClass*> path;
  table.find_path(caller, above, path);
  std::vector<qos::QosClass*> expected;
  for (const QosTarget& target : order) expected.push_back(table.find(target)->qos_class.get());
  EXPECT_EQ(path, expected);

  const Credentials nobody{};
  caller = {
      .protocol = Protocol::kSmb, .through = ExportId{77}, .address = Network::parse("::1")->address, .cred = &nobody};
  table.find_path(caller, {}, path);
  EXPECT_TRUE(path.empty());

  ASSERT_TRUE(registry_->remove_export("team"));
  EXPECT_EQ(registry_->snapshot()->qos_classes()->find(QosTarget::of_export(team->id)), nullptr);
}

TEST_F(StoredRegistryTest, QosClassesWithLimitsThatMeanNothingAreRefused) {
  const QosTarget user = QosTarget::user(1);
  const auto refused_qos_class = [&](const QosRule& rule) {
    const Status set = registry_->set_qos_class(rule);
    return !set && set.error().code == Errc::kInvalid;
  };
  EXPECT_TRUE(refused_qos_class(metadata_limit(user, 0)));
  EXPECT_TRUE(refused_qos_class(metadata_limit(user, kQosRateMax + 1)));
  QosRule rule = metadata_limit(user, 10);
  rule.limits.guarantee[qos::Resource::kMetadataOps] = 11;
  EXPECT_TRUE(refused_qos_class(rule));
  rule = metadata_limit(user, 10);
  rule.limits.weight = 0;
  EXPECT_TRUE(refused_qos_class(rule));
  rule.limits.weight = kQosWeightMax + 1;
  EXPECT_TRUE(refused_qos_class(rule));
  rule = metadata_limit(user, 10);
  rule.limits.burst = std::chrono::milliseconds(9);
  EXPECT_TRUE(refused_qos_class(rule));
  rule.limits.burst = kQosBurstMax + std::chrono::milliseconds(1);
  EXPECT_TRUE(refused_qos_class(rule));
  EXPECT_TRUE(refused_qos_class(metadata_limit(QosTarget::protocol(Protocol{99}), 1)));
  EXPECT_TRUE(refused_qos_class(metadata_limit({QosKind{0}}, 1)));
  EXPECT_EQ(registry_->snapshot()->qos_classes(), nullptr);
  disk_is_broken_ = true;
  EXPECT_FALSE(registry_->set_qos_class(metadata_limit(user, 10)));
  EXPECT_EQ(registry_->snapshot()->qos_classes(), nullptr);
}

TEST_F(StoredRegistryTest, ThereMayBeAHundredThousandQosClassesAndEachCanBeChanged) {
  WriteBatch batch;
  for (std::uint64_t i = 0; i < kQosClassesMax; ++i) {
    const QosRule rule = metadata_limit(QosTarget::directory(FileId{1000 + i}), 10 + i);
    batch.put(Family::kConfig, qos_key(rule.target), encode_qos_class(rule));
  }
  const WriteBatch* one = &batch;
  ASSERT_TRUE(kv_.apply({&one, 1}));
  open();
  const auto before = registry_->snapshot();
  ASSERT_EQ(before->qos_rules().size(), kQosClassesMax);
  EXPECT_EQ(*before->qos_rules()[77], metadata_limit(QosTarget::directory(FileId{1077}), 87));
  EXPECT_EQ(registry_->set_qos_class(metadata_limit(QosTarget::user(1), 1)).error().code, Errc::kInvalid);
  EXPECT_EQ(registry_->snapshot(), before);
  const QosTarget target = QosTarget::directory(FileId{1077});
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(target, 5)));
  EXPECT_EQ(*registry_->snapshot()->find_qos_rule(target), metadata_limit(target, 5));
  EXPECT_EQ(*before->find_qos_rule(target), metadata_limit(target, 87));
  ASSERT_TRUE(registry_->remove_qos_class(target));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::user(1), 1)));
  EXPECT_EQ(registry_->snapshot()->find_qos_rule(target), nullptr);
  EXPECT_EQ(registry_->snapshot()->qos_rules().size(), kQosClassesMax);
}

TEST_F(StoredRegistryTest, AChangeOfQosClassesLeavesAllElseWhereItIs) {
  ASSERT_TRUE(registry_->add_user({.name = "ann", .uid = 7}));
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::user(7), 10)));
  const auto before = registry_->snapshot();
  ASSERT_TRUE(registry_->set_qos_class(metadata_limit(QosTarget::user(8), 10)));
  EXPECT_EQ(registry_->snapshot()->find_user("ann"), before->find_user("ann"));
  const QosRule* rule = registry_->snapshot()->find_qos_rule(QosTarget::user(7));
  ASSERT_TRUE(registry_->add_user({.name = "bob"}));
  EXPECT_EQ(registry_->snapshot()->find_qos_rule(QosTarget::user(7)), rule);
  // Existing settings are not set again.
  const auto now = registry_->snapshot();
  ASSERT_TRUE(registry_->set_qos_class(*rule));
  EXPECT_EQ(registry_->snapshot()->find_qos_rule(QosTarget::user(7)), rule);
  EXPECT_EQ(registry_->snapshot()->qos_classes(), now->qos_classes());
}

TEST_F(StoredRegistryTest, ADamagedRecordIsNamedAndNotSkipped) {
  WriteBatch batch;
  batch.put(Family::kConfig, "user/ann", "\x01\x01 garbage");
  const WriteBatch* one = &batch;
  ASSERT_TRUE(kv_.apply({&one, 1}));
  const auto loaded =
      StoredRegistry::load(kv_, [](const WriteBatch&, const Deadline&) -> Status { return {}; }, scheduler_);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Errc::kCorrupt);
  EXPECT_NE(loaded.error().detail.find("user/ann"), std::string::npos);
}

TEST_F(StoredRegistryTest, ReadersSeeWholeSnapshotsWhileRecordsChange) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop.load()) {
        const auto snapshot = registry_->snapshot();
        for (const User& user : snapshot->users()) {
          ASSERT_EQ(user.uid, user.gid);
          ASSERT_EQ(snapshot->find_user(user.name), &user);
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

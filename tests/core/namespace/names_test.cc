// Making, finding, moving and removing names, as POSIX protocols do.
#include "tests/core/namespace/user.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::Test;

template <class Engine>
class NamesTest : public VolumeTest<Engine> {};
TYPED_TEST_SUITE(NamesTest, Engines);

TYPED_TEST(NamesTest, ANewFileIsFoundWithItsAttributes) {
  const auto made =
      this->ns().create(user(7), {.parent = *this->mkdir(kRootId, "d"), .name = "f", .set = {.mode = 0640}});
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->created);
  EXPECT_EQ(made->attr.mode, 0640u);
  EXPECT_EQ(made->attr.uid, 7u);
  EXPECT_EQ(made->attr.links, 1u);
  EXPECT_GT(made->parent.change, made->parent_before.change);
  const auto found = this->ns().lookup(this->root_, {.parent = made->parent.id, .name = "f"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->attr.id, made->attr.id);
  this->expect_consistent();
}

TYPED_TEST(NamesTest, BadNamesAreRefused) {
  EXPECT_EQ(this->create(kRootId, "").error().code, Errc::kInvalid);
  EXPECT_EQ(this->create(kRootId, ".").error().code, Errc::kInvalid);
  EXPECT_EQ(this->create(kRootId, "..").error().code, Errc::kInvalid);
  EXPECT_EQ(this->create(kRootId, "a/b").error().code, Errc::kInvalid);
  EXPECT_EQ(this->create(kRootId, std::string(256, 'x')).error().code, Errc::kNameTooLong);
  EXPECT_TRUE(this->create(kRootId, std::string(255, 'x')));
  EXPECT_EQ(this->create(kRootId, "%S3-nonsense").error().code, Errc::kInvalid);
  EXPECT_TRUE(this->create(kRootId, "any \xff\x01\n bytes"));
  this->expect_consistent();
}

TYPED_TEST(NamesTest, ExclusiveCreateIsReplaySafe) {
  const CreateRequest request{.parent = kRootId, .name = "f", .mode = CreateMode::kExclusive, .verifier = 42};
  const auto first = this->ns().create(this->root_, request);
  const auto replay = this->ns().create(this->root_, request);
  ASSERT_TRUE(first);
  ASSERT_TRUE(replay);
  EXPECT_EQ(first->attr.id, replay->attr.id);
  auto other = request;
  other.verifier = 43;
  EXPECT_EQ(this->ns().create(this->root_, other).error().code, Errc::kExists);
}

TYPED_TEST(NamesTest, HardLinksCountAndChargeOnce) {
  const FileId a = *this->mkdir(kRootId, "a");
  const FileId b = *this->mkdir(kRootId, "b");
  const FileId f = *this->create(a, "f");
  ASSERT_TRUE(this->write(f, 0, "12345"));
  ASSERT_TRUE(this->ns().link(this->root_, {f, b, "g"}));
  EXPECT_EQ(this->usage(a), (Usage{5, 1, 0}));
  EXPECT_EQ(this->usage(b), (Usage{0, 0, 0}));
  ASSERT_TRUE(this->ns().unlink(this->root_, {a, "f"}));
  EXPECT_EQ(this->usage(a), (Usage{0, 0, 0}));
  EXPECT_EQ(this->usage(b), (Usage{5, 1, 0}));
  EXPECT_EQ(this->read(f), "12345");
  this->expect_consistent();
  ASSERT_TRUE(this->ns().unlink(this->root_, {b, "g"}));
  EXPECT_EQ(this->ns().getattr(this->root_, {f}).error().code, Errc::kStale);
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 2}));
  this->expect_consistent();
}

TYPED_TEST(NamesTest, RenameFollowsPosix) {
  const FileId a = *this->mkdir(kRootId, "a");
  const FileId b = *this->mkdir(a, "b");
  const FileId f = *this->create(a, "f");
  const auto rename = [&](FileId from, std::string_view x, FileId to, std::string_view y) {
    return this->ns().rename(this->root_, {from, x, to, y});
  };
  EXPECT_EQ(rename(kRootId, "a", b, "c").error().code, Errc::kInvalid);  // below itself
  EXPECT_EQ(rename(kRootId, "a", a, "c").error().code, Errc::kInvalid);  // into itself
  EXPECT_EQ(rename(a, "none", a, "x").error().code, Errc::kNotFound);
  EXPECT_EQ(rename(a, "f", a, "b").error().code, Errc::kIsDirectory);
  EXPECT_EQ(rename(a, "b", a, "f").error().code, Errc::kNotDirectory);
  ASSERT_TRUE(this->create(b, "inner"));
  const FileId c = *this->mkdir(kRootId, "c");
  EXPECT_EQ(rename(kRootId, "c", a, "b").error().code, Errc::kNotEmpty);
  ASSERT_TRUE(rename(a, "b", kRootId, "c"));  // over the empty directory c
  EXPECT_EQ(this->ns().getattr(this->root_, {c}).error().code, Errc::kStale);
  EXPECT_EQ(this->names(kRootId), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(this->usage(a), (Usage{0, 1, 0}));
  const auto up = this->ns().lookup(this->root_, {.parent = b, .name = ".."});
  ASSERT_TRUE(up);
  EXPECT_EQ(up->attr.id, kRootId);
  ASSERT_TRUE(rename(a, "f", b, "inner"));  // over a file
  EXPECT_EQ(this->names(b), (std::vector<std::string>{"inner"}));
  EXPECT_EQ(this->ns().lookup(this->root_, {.parent = b, .name = "inner"})->attr.id, f);
  ASSERT_TRUE(this->ns().link(this->root_, {f, b, "same"}));
  ASSERT_TRUE(rename(b, "inner", b, "same"));  // two names of one file: nothing happens
  EXPECT_EQ(this->names(b).size(), 2u);
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

TYPED_TEST(NamesTest, RemovalNeedsTheRightKind) {
  const FileId d = *this->mkdir(kRootId, "d");
  ASSERT_TRUE(this->create(d, "f"));
  EXPECT_EQ(this->ns().unlink(this->root_, {kRootId, "d"}).error().code, Errc::kIsDirectory);
  EXPECT_EQ(this->ns().rmdir(this->root_, {d, "f"}).error().code, Errc::kNotDirectory);
  EXPECT_EQ(this->ns().rmdir(this->root_, {kRootId, "d"}).error().code, Errc::kNotEmpty);
  EXPECT_EQ(this->ns().unlink(this->root_, {d, "g"}).error().code, Errc::kNotFound);
  ASSERT_TRUE(this->ns().unlink(this->root_, {d, "f"}));
  ASSERT_TRUE(this->ns().rmdir(this->root_, {kRootId, "d"}));
  EXPECT_EQ(this->ns().getattr(this->root_, {d}).error().code, Errc::kStale);
  EXPECT_EQ(this->ns().create(this->root_, {.parent = d, .name = "x"}).error().code, Errc::kStale);
  this->expect_consistent();
}

TYPED_TEST(NamesTest, CookiesStayValidWhileNamesComeAndGo) {
  const FileId d = *this->mkdir(kRootId, "d");
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(this->create(d, "f" + std::to_string(i)));
  const auto first = this->ns().readdir(this->root_, {.dir = d, .entries_max = 7});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->entries.size(), 7u);
  EXPECT_EQ(first->entries[0].name, ".");
  EXPECT_EQ(first->entries[1].name, "..");
  EXPECT_FALSE(first->end);
  const std::uint64_t cookie = first->entries.back().cookie;
  ASSERT_TRUE(this->ns().unlink(this->root_, {d, first->entries.back().name}));
  ASSERT_TRUE(this->create(d, "new"));
  this->reopen();
  const auto rest = this->ns().readdir(this->root_, {.dir = d, .cookie = cookie, .want_attributes = true});
  ASSERT_TRUE(rest);
  EXPECT_TRUE(rest->end);
  EXPECT_EQ(rest->entries.size(), 16u);
  EXPECT_EQ(rest->entries.back().name, "new");
  ASSERT_TRUE(rest->entries.back().attr);
  EXPECT_EQ(this->ns().readdir(this->root_, {.dir = d, .cookie = 1000}).error().code, Errc::kBadCookie);
}

TYPED_TEST(NamesTest, AListingUnderWayMeetsAReplacedNameOnce) {
  const FileId dir = *this->mkdir(kRootId, "d");
  ASSERT_TRUE(this->create(dir, "replaced"));
  const FileId other = *this->create(dir, "other");
  const auto first = this->ns().readdir(this->root_, {.dir = dir, .cookie = 2, .entries_max = 1});
  ASSERT_TRUE(first);
  ASSERT_TRUE(this->ns().rename(this->root_, {dir, "other", dir, "replaced"}));
  const auto rest = this->ns().readdir(this->root_, {.dir = dir, .cookie = first->entries.front().cookie});
  ASSERT_TRUE(rest);
  EXPECT_TRUE(rest->entries.empty());
  const auto all = this->ns().readdir(this->root_, {.dir = dir, .cookie = 2});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->entries.size(), 1u);
  EXPECT_EQ(all->entries.front().id, other);
  EXPECT_EQ(all->entries.front().name, "replaced");
  EXPECT_EQ(all->entries.front().cookie, first->entries.front().cookie);
  this->expect_consistent();
}

TYPED_TEST(NamesTest, PermissionsDecide) {
  ASSERT_TRUE(this->ns().mkdir(this->root_, {.parent = kRootId, .name = "d", .set = {.mode = 0755}}));
  const FileId d = this->ns().lookup(this->root_, {.parent = kRootId, .name = "d"})->attr.id;
  EXPECT_EQ(this->ns().create(user(5), {.parent = d, .name = "f"}).error().code, Errc::kAccess);
  const FileId f = *this->create(d, "f");
  EXPECT_EQ(this->ns().unlink(user(5), {d, "f"}).error().code, Errc::kAccess);
  EXPECT_EQ(this->ns().setattr(user(5), {.id = f, .set = {.mode = 0777}}).error().code, Errc::kNotOwner);
  OpContext read_only;
  read_only.read_only = true;
  EXPECT_EQ(this->ns().create(read_only, {.parent = d, .name = "g"}).error().code, Errc::kReadOnly);
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = d, .set = {.mode = 01777}}));
  EXPECT_EQ(this->ns().unlink(user(5), {d, "f"}).error().code, Errc::kNotOwner);  // sticky
}

TYPED_TEST(NamesTest, ARefusedCreateLeavesNoTraceOfQuota) {
  const FileId team = *this->mkdir(kRootId, "team");
  ASSERT_TRUE(this->ns().set_quota(this->root_, {team, {.bytes = 10, .files = 2}}));
  const FileId a = *this->create(team, "a");
  EXPECT_EQ(this->write(a, 0, "0123456789x").error().code, Errc::kQuota);
  EXPECT_TRUE(this->write(a, 0, "0123456789"));
  ASSERT_TRUE(this->create(team, "b"));
  EXPECT_EQ(this->create(team, "c").error().code, Errc::kQuota);
  EXPECT_EQ(this->mkdir(team, "c").error().code, Errc::kQuota);
  EXPECT_EQ(this->names(team), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(this->usage(team), (Usage{10, 2, 0}));
  const auto df = this->ns().statfs(this->root_, {team});
  ASSERT_TRUE(df);
  EXPECT_EQ(df->bytes_total, 10u);
  EXPECT_EQ(df->bytes_available, 0u);
  this->reopen();
  EXPECT_EQ(this->create(team, "c").error().code, Errc::kQuota);
  ASSERT_TRUE(this->ns().unlink(this->root_, {team, "a"}));
  EXPECT_TRUE(this->create(team, "c"));
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test

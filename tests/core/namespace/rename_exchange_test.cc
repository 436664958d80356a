// Two names that swap what they name.
#include "core/journal/note.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class RenameExchangeTest : public VolumeTest<Engine> {
 protected:
  ~RenameExchangeTest() override {
    EXPECT_TRUE(this->volume_->flush());
    this->expect_consistent();
  }
  Result<RenameReply> exchange(FileId from, std::string_view name, FileId to, std::string_view to_name,
                               const OpContext& ctx = {}) {
    return this->ns().rename(
        ctx, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = to_name, .exchange = true});
  }
  FileId at(FileId dir, std::string_view name) {
    const auto found = this->ns().lookup(this->root_, {dir, name});
    return found ? found->attr.id : kNoFile;
  }
  FileId file(FileId dir, std::string_view name, std::size_t bytes) {
    const FileId id = this->create(dir, name).value();
    EXPECT_TRUE(this->write(id, 0, std::string(bytes, 'x')));
    return id;
  }
};
TYPED_TEST_SUITE(RenameExchangeTest, Engines);

TYPED_TEST(RenameExchangeTest, FilesAndDirectoriesChangePlacesInOneDirectory) {
  const FileId a = this->file(kRootId, "a", 10), b = this->file(kRootId, "b", 20);
  const FileId dir = this->mkdir(kRootId, "dir").value();
  this->file(dir, "below", 5);
  const auto listed = this->names(kRootId);
  ASSERT_TRUE(this->exchange(kRootId, "a", kRootId, "b"));
  EXPECT_EQ(this->at(kRootId, "a"), b);
  EXPECT_EQ(this->at(kRootId, "b"), a);
  const auto reply = this->exchange(kRootId, "a", kRootId, "dir");
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->moved, b);
  EXPECT_EQ(reply->from.links, reply->to.links);
  EXPECT_EQ(this->at(kRootId, "a"), dir);
  EXPECT_EQ(this->at(kRootId, "dir"), b);
  EXPECT_EQ(this->names(kRootId), listed) << "a name keeps its place";
  this->reopen();
  EXPECT_EQ(this->at(kRootId, "a"), dir);
  EXPECT_EQ(this->at(kRootId, "dir"), b);
  EXPECT_NE(this->at(dir, "below"), kNoFile);
  EXPECT_EQ(this->ns().path_of(this->root_, {dir})->path, "/a");
  EXPECT_EQ(this->ns().path_of(this->root_, {b})->path, "/dir");
}

TYPED_TEST(RenameExchangeTest, UsageFollowsBothWays) {
  const FileId one = this->mkdir(kRootId, "one").value(), two = this->mkdir(kRootId, "two").value();
  const FileId dir = this->mkdir(one, "dir").value();
  this->file(dir, "below", 100);
  const FileId file = this->file(two, "file", 7);
  ASSERT_TRUE(this->exchange(one, "dir", two, "file"));
  EXPECT_EQ(this->usage(one), (Usage{.bytes = 7, .files = 1}));
  EXPECT_EQ(this->usage(two), (Usage{.bytes = 100, .files = 1, .directories = 1}));
  EXPECT_EQ(this->ns().path_of(this->root_, {dir})->path, "/two/file");
  EXPECT_EQ(this->ns().path_of(this->root_, {file})->path, "/one/dir");
  const FileId other = this->mkdir(one, "other").value();
  ASSERT_TRUE(this->exchange(two, "file", one, "other"));
  EXPECT_EQ(this->at(one, "other"), dir);
  EXPECT_EQ(this->at(two, "file"), other);
  EXPECT_EQ(this->usage(two), (Usage{.directories = 1}));
  this->reopen();
  EXPECT_EQ(this->usage(one), (Usage{.bytes = 107, .files = 2, .directories = 1}));
}

TYPED_TEST(RenameExchangeTest, FullQuotasAllowWhatNeedsNoRoom) {
  const FileId one = this->mkdir(kRootId, "one").value(), two = this->mkdir(kRootId, "two").value();
  const FileId small = this->file(one, "f", 50), same = this->file(two, "f", 50), big = this->file(two, "big", 51);
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = one, .limits = {.bytes = 50, .files = 1}}));
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = two, .limits = {.bytes = 101, .files = 2}}));
  ASSERT_TRUE(this->exchange(one, "f", two, "f"));
  EXPECT_EQ(this->at(one, "f"), same);
  EXPECT_EQ(this->exchange(one, "f", two, "big").error().code, Errc::kQuota);
  EXPECT_EQ(this->at(two, "big"), big);
  EXPECT_EQ(this->at(two, "f"), small);
  EXPECT_EQ(this->usage(one), (Usage{.bytes = 50, .files = 1}));
  EXPECT_EQ(this->usage(two), (Usage{.bytes = 101, .files = 2}));
}

TYPED_TEST(RenameExchangeTest, AFileMakesRoomForADirectoryWhereBothAreFull) {
  const FileId one = this->mkdir(kRootId, "one").value(), two = this->mkdir(kRootId, "two").value();
  const FileId dir = this->mkdir(one, "dir").value(), file = this->file(two, "file", 9);
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = one, .limits = {.files = 1}}));
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = two, .limits = {.files = 1}}));
  ASSERT_TRUE(this->exchange(one, "dir", two, "file"));
  EXPECT_EQ(this->at(two, "file"), dir);
  EXPECT_EQ(this->at(one, "dir"), file);
  EXPECT_EQ(this->usage(one), (Usage{.bytes = 9, .files = 1}));
  EXPECT_EQ(this->usage(two), (Usage{.directories = 1}));
  EXPECT_EQ(this->create(one, "more").error().code, Errc::kQuota);
  EXPECT_EQ(this->mkdir(two, "more").error().code, Errc::kQuota);
}

TYPED_TEST(RenameExchangeTest, RefusalsChangeNothing) {
  const FileId dir = this->mkdir(kRootId, "dir").value(), sub = this->mkdir(dir, "sub").value();
  const FileId file = this->file(kRootId, "file", 1);
  this->file(sub, "deep", 1);
  EXPECT_EQ(this->exchange(kRootId, "dir", sub, "deep").error().code, Errc::kInvalid);
  EXPECT_EQ(this->exchange(sub, "deep", kRootId, "dir").error().code, Errc::kInvalid);
  EXPECT_EQ(this->exchange(kRootId, "dir", dir, "sub").error().code, Errc::kInvalid);
  EXPECT_EQ(this->exchange(kRootId, "file", kRootId, "none").error().code, Errc::kNotFound);
  EXPECT_EQ(this->exchange(kRootId, "none", kRootId, "file").error().code, Errc::kNotFound);
  EXPECT_EQ(this->exchange(kRootId, "file", file, "x").error().code, Errc::kNotDirectory);
  EXPECT_EQ(this->ns()
                .rename(this->root_, {.from_parent = kRootId,
                                      .from_name = "file",
                                      .to_parent = kRootId,
                                      .to_name = "dir",
                                      .no_replace = true,
                                      .exchange = true})
                .error()
                .code,
            Errc::kInvalid);
  OpContext other;
  other.cred = {.uid = 7, .gid = 7};
  EXPECT_EQ(this->exchange(kRootId, "file", kRootId, "dir", other).error().code, Errc::kAccess);
  ASSERT_TRUE(this->ns().link(this->root_, {file, dir, "second"}));
  const auto same = this->exchange(kRootId, "file", dir, "second");
  ASSERT_TRUE(same) << "two names of one file";
  EXPECT_EQ(same->moved, file);
  EXPECT_EQ(this->at(kRootId, "dir"), dir);
  EXPECT_EQ(this->at(kRootId, "file"), file);
}

TYPED_TEST(RenameExchangeTest, ANameThatIsAnObjectAndADirectoryStaysOfItsKind) {
  const FileId file = this->file(kRootId, "file", 1);
  ASSERT_TRUE(this->put(kRootId, "both", "object"));
  ASSERT_TRUE(this->put(kRootId, "both/below", "object"));
  EXPECT_EQ(this->exchange(kRootId, "both", kRootId, "file").error().code, Errc::kExists);
  const FileId dir = this->mkdir(kRootId, "dir").value();
  ASSERT_TRUE(this->exchange(kRootId, "both", kRootId, "dir"));
  EXPECT_EQ(this->at(kRootId, "both"), dir);
  EXPECT_TRUE(this->ns().lookup_key(this->root_, {kRootId, "both"}));
  EXPECT_TRUE(this->ns().lookup_key(this->root_, {kRootId, "dir/below"}));
  EXPECT_EQ(this->at(kRootId, "file"), file);
}

}  // namespace
}  // namespace stoa::core::test

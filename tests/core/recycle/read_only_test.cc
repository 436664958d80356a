// Items in a bin can be read by their users, and not be changed.
#include <gmock/gmock.h>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::Contains;
using ::testing::Not;

template <class Engine>
class RecycleReadOnlyTest : public RecycleTest<Engine> {
 protected:
  void SetUp() override {
    RecycleTest<Engine>::SetUp();
    file_ = this->file_of(this->team_, "f", "text");
    dir_ = *this->mkdir(this->team_, "d");
    EXPECT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
    EXPECT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
    for (const std::string& name : this->names(this->user_bin(this->team_)))
      (name.starts_with("f@") ? file_name_ : dir_name_) = name;
  }
  FileId file_{}, dir_{};
  std::string file_name_, dir_name_;
};
TYPED_TEST_SUITE(RecycleReadOnlyTest, Engines);

TYPED_TEST(RecycleReadOnlyTest, NothingInABinChanges) {
  const FileId user_bin = this->user_bin(this->team_), bin = this->bin(this->team_);
  Namespace& ns = this->ns();
  const auto refused = [](const auto& reply) { return !reply && reply.error().code == Errc::kReadOnly; };
  EXPECT_TRUE(refused(ns.create({}, {.parent = user_bin, .name = "new"})));
  EXPECT_TRUE(refused(ns.mkdir({}, {.parent = this->dir_, .name = "new"})));
  EXPECT_TRUE(refused(ns.symlink({}, {bin, "new", "x"})));
  EXPECT_TRUE(refused(ns.link({}, {this->file_, this->team_, "new"})));
  EXPECT_TRUE(refused(ns.unlink({}, {user_bin, this->file_name_})));
  EXPECT_TRUE(refused(ns.rmdir({}, {user_bin, this->dir_name_})));
  EXPECT_TRUE(refused(ns.rmdir({}, {bin, "0"})));
  EXPECT_TRUE(refused(ns.rename({}, {bin, "0", this->team_, "x"})));
  EXPECT_TRUE(refused(ns.setattr({}, {.id = this->file_, .set = {.mode = 0600}})));
  EXPECT_TRUE(refused(ns.setattr({}, {.id = this->file_, .set = {.size = 0}})));
  EXPECT_TRUE(refused(ns.setattr({}, {.id = bin, .set = {.mode = 0777}})));
  EXPECT_TRUE(refused(ns.set_xattr({}, {this->file_, "user.a", "1"})));
  EXPECT_TRUE(refused(ns.allocate({}, {this->file_, 0, 10})));
  EXPECT_TRUE(refused(ns.punch({}, {this->file_, 0, 2})));
  EXPECT_TRUE(refused(ns.zero({}, {this->file_, 0, 2})));
  EXPECT_TRUE(refused(this->write(this->file_, 0, "x")));
  EXPECT_TRUE(refused(ns.set_quota({}, {bin, {.bytes = 1}})));
  EXPECT_TRUE(refused(ns.count_owners({}, {user_bin, true})));
  EXPECT_TRUE(refused(this->put(user_bin, "key", "x")));
  EXPECT_TRUE(refused(ns.remove_key({}, {user_bin, this->file_name_})));
  const FileId other = this->file_of(this->team_, "other", "other");
  EXPECT_TRUE(refused(ns.rename({}, {this->team_, "other", user_bin, "other"})));
  EXPECT_TRUE(refused(ns.copy_range({}, {other, 0, this->file_, 0, 5, true})));
  EXPECT_EQ(ns.access({}, {this->file_, kAccessRead | kAccessModify | kAccessExtend})->granted, kAccessRead);
  OpContext opener;
  opener.holder = this->volume_->state().add_holder(Protocol::kSmb, nullptr);
  const OpenRequest opens{.parent = user_bin, .name = this->file_name_};
  const auto with = [&](std::uint32_t access, OpenDisposition disposition) {
    OpenRequest request = opens;
    request.access = access;
    request.disposition = disposition;
    return request;
  };
  EXPECT_TRUE(refused(ns.open(opener, with(kShareBoth, OpenDisposition::kOpen))));
  EXPECT_TRUE(refused(ns.open(opener, with(kShareDelete, OpenDisposition::kOpen))));
  EXPECT_TRUE(refused(ns.open(opener, with(kShareRead, OpenDisposition::kOverwrite))));
  EXPECT_TRUE(ns.open(opener, opens));
  this->volume_->state().remove_holder(opener.holder);
  EXPECT_EQ(this->read(this->file_), "text");
  this->expect_consistent();
}

TYPED_TEST(RecycleReadOnlyTest, WhoHasItOpenGoesOn) {
  OpContext ctx;
  ctx.open = OpenId{1};
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view("more")))};
  ASSERT_TRUE(this->ns().write(ctx, {this->file_, 4, pieces}));
  EXPECT_EQ(this->read(this->file_), "textmore");
  EXPECT_EQ(this->usage(this->team_).bytes, 8);
  ASSERT_TRUE(this->ns().setattr(ctx, {.id = this->file_, .set = {.size = 2}}));
  this->expect_consistent();
}

TYPED_TEST(RecycleReadOnlyTest, TheNameOfTheBinIsTaken) {
  Namespace& ns = this->ns();
  EXPECT_EQ(ns.mkdir({}, {.parent = this->team_, .name = kRecycleName}).error().code, Errc::kExists);
  EXPECT_EQ(ns.create({}, {.parent = this->team_, .name = kRecycleName}).error().code, Errc::kExists);
  EXPECT_EQ(this->put(this->team_, ".recycle", "x").error().code, Errc::kReadOnly);
  EXPECT_EQ(this->put(this->team_, ".recycle/x", "x").error().code, Errc::kReadOnly);
  EXPECT_EQ(ns.rmdir({}, {this->team_, kRecycleName}).error().code, Errc::kReadOnly);
  EXPECT_EQ(ns.rename({}, {this->team_, kRecycleName, this->team_, "x"}).error().code, Errc::kReadOnly);
  const FileId sub = *this->mkdir(this->team_, "sub");
  EXPECT_TRUE(ns.mkdir({}, {.parent = sub, .name = kRecycleName}));  // it has no bin
  EXPECT_EQ(ns.rename({}, {sub, kRecycleName, this->team_, kRecycleName}).error().code, Errc::kExists);
  this->expect_consistent();
}

TYPED_TEST(RecycleReadOnlyTest, ItIsShownAtTheRootOfAnExportOnly) {
  const auto shown = [&](FileId root) {
    std::vector<std::string> names;
    for (std::uint64_t cookie = 0;;) {
      const auto page = this->ns().readdir(
          {}, {.dir = this->team_, .cookie = cookie, .entries_max = 1, .want_attributes = true, .root = root});
      EXPECT_TRUE(page);
      for (const DirectoryEntry& entry : page->entries) {
        names.push_back(entry.name);
        cookie = entry.cookie;
        EXPECT_TRUE(entry.attr && entry.attr->id == entry.id);
      }
      if (page->end) return names;
    }
  };
  this->file_of(this->team_, "g", "x");
  EXPECT_THAT(shown(this->team_), ::testing::ElementsAre(".", "..", "g", kRecycleName));
  EXPECT_THAT(shown(kRootId), Not(Contains(kRecycleName)));
  EXPECT_EQ(this->find(this->bin(this->team_), ".."), this->team_);
  const auto keys = this->ns().list_keys({}, {.root = this->team_});
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->keys.size(), 1u);
  EXPECT_EQ(this->ns().lookup_key({}, {this->team_, ".recycle/0/" + this->file_name_}).error().code, Errc::kNotFound);
}

TYPED_TEST(RecycleReadOnlyTest, EverybodySeesHisOwn) {
  this->file_of(this->team_, "his", "text");
  ASSERT_TRUE(this->ns().unlink(this->as(1000), {this->team_, "his"}));
  const FileId user_bin = this->user_bin(this->team_, "1000");
  EXPECT_TRUE(this->ns().readdir(this->as(1000), {.dir = user_bin}));
  EXPECT_EQ(this->ns().readdir(this->as(1001), {.dir = user_bin}).error().code, Errc::kAccess);
  EXPECT_EQ(this->find(user_bin, "x", this->as(1001)).error().code, Errc::kAccess);
  EXPECT_EQ(this->items(kRootId, this->as(1000)).size(), 1u);
  EXPECT_EQ(this->items(kRootId, this->as(1001)).size(), 0u);
}

}  // namespace
}  // namespace stoa::core::test

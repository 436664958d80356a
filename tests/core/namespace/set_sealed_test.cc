// Sealed directories: nothing below one changes, whatever asks.
#include "core/api/registry.h"
#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class SealTest : public VolumeTest<Engine> {
 protected:
  SealTest() {
    dir_ = this->mkdir(kRootId, "dir").value();
    sub_ = this->mkdir(dir_, "sub").value();
    file_ = this->create(sub_, "file").value();
    outside_ = this->create(kRootId, "outside").value();
    EXPECT_TRUE(this->write(file_, 0, "content"));
    EXPECT_TRUE(this->write(outside_, 0, "content"));
  }
  ~SealTest() override {
    EXPECT_TRUE(this->volume_->flush());
    this->expect_consistent();
  }
  Status seal(FileId dir, bool sealed = true) { return this->ns().set_sealed(this->root_, {dir, sealed}); }
  FileId sealed_by(FileId id) {
    const auto reply = this->ns().sealed(this->root_, {id});
    EXPECT_TRUE(reply);
    return reply ? reply->by : kNoFile;
  }
  // Each kind of change, by name; refused while `dir_` is sealed.
  template <class Visit>
  void each_change(Visit visit) {
    Namespace& ns = this->ns();
    const OpContext& ctx = this->root_;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(std::string_view("new")));
    const std::span<const std::byte> pieces[] = {bytes};
    visit("create", code(status(ns.create(ctx, {.parent = sub_, .name = "n"}))));
    visit("create with content",
          code(status(ns.create(ctx, {.parent = sub_, .name = "n", .mode = CreateMode::kGuarded, .bytes = bytes}))));
    visit("mkdir", code(status(ns.mkdir(ctx, {dir_, "n"}))));
    visit("symlink", code(status(ns.symlink(ctx, {sub_, "n", "t"}))));
    visit("mknod", code(status(ns.mknod(ctx, {.parent = sub_, .name = "n", .type = FileType::kFifo}))));
    visit("link in", code(status(ns.link(ctx, {outside_, sub_, "n"}))));
    visit("link out", code(status(ns.link(ctx, {file_, kRootId, "n"}))));
    visit("unlink", code(status(ns.unlink(ctx, {sub_, "file"}))));
    visit("rmdir", code(status(ns.rmdir(ctx, {dir_, "sub"}))));
    visit("rename within", code(status(ns.rename(ctx, {sub_, "file", dir_, "n"}))));
    visit("rename out", code(status(ns.rename(ctx, {sub_, "file", kRootId, "n"}))));
    visit("rename in", code(status(ns.rename(ctx, {kRootId, "outside", sub_, "n"}))));
    visit("rename over", code(status(ns.rename(ctx, {kRootId, "outside", sub_, "file"}))));
    visit("rename itself", code(status(ns.rename(ctx, {kRootId, "dir", kRootId, "n"}))));
    visit("exchange", code(status(ns.rename(ctx, {.from_parent = kRootId,
                                                  .from_name = "outside",
                                                  .to_parent = sub_,
                                                  .to_name = "file",
                                                  .exchange = true}))));
    visit("write", code(status(ns.write(ctx, {file_, 0, pieces}))));
    visit("append", code(status(ns.write(ctx, {.id = file_, .offset = 0, .data = pieces, .append = true}))));
    visit("allocate", code(status(ns.allocate(ctx, {file_, 0, 10}))));
    visit("zero", code(status(ns.zero(ctx, {file_, 0, 1}))));
    visit("punch", code(status(ns.punch(ctx, {file_, 0, 1}))));
    visit("copy in", code(status(ns.copy_range(ctx, {outside_, 0, file_, 0, 3}))));
    visit("truncate", code(status(ns.setattr(ctx, {.id = file_, .set = {.size = 1}}))));
    visit("chmod", code(status(ns.setattr(ctx, {.id = sub_, .set = {.mode = 0700}}))));
    visit("chmod of itself", code(status(ns.setattr(ctx, {.id = dir_, .set = {.mode = 0700}}))));
    visit("set_xattr", code(status(ns.set_xattr(ctx, {.id = file_, .name = "user.a", .value = "1"}))));
    visit("remove_xattr", code(status(ns.remove_xattr(ctx, {.id = file_, .name = "user.a"}))));
    visit("put_key", code(status(this->put(dir_, "sub/n", "object"))));
    visit("put_key over", code(status(this->put(dir_, "sub/file", "object"))));
    visit("put_key deeper", code(status(this->put(kRootId, "dir/new/n", "object"))));
    visit("remove_key", code(status(ns.remove_key(ctx, {.root = dir_, .key = "sub/file"}))));
    visit("concatenate",
          code(status(ns.concatenate(ctx, {.root = dir_, .key = "sub/n", .parts = {{.id = outside_}}}))));
    visit("remove_tree", code(ns.remove_tree(ctx, {kRootId, "dir"})));
    OpContext holder;
    holder.holder = this->volume_->state().add_holder(Protocol::kNative, nullptr);
    visit("open to write", code(status(ns.open(holder, {.parent = sub_, .name = "file", .access = kShareWrite}))));
    visit("open to create",
          code(status(ns.open(holder, {.parent = sub_, .name = "n", .disposition = OpenDisposition::kOpenOrCreate}))));
    visit("create nameless",
          code(status(ns.open(holder, {.parent = sub_, .disposition = OpenDisposition::kCreateNameless}))));
    this->volume_->state().remove_holder(holder.holder);
  }
  template <class Reply>
  static Status status(const Result<Reply>& reply) {
    if (!reply) return fail(reply.error());
    return {};
  }

  FileId dir_{}, sub_{}, file_{}, outside_{};
};
TYPED_TEST_SUITE(SealTest, Engines);

TYPED_TEST(SealTest, EveryChangeBelowIsRefusedAndLeavesNothing) {
  ASSERT_TRUE(this->ns().set_xattr(this->root_, {.id = this->file_, .name = "user.a", .value = "1"}));
  ASSERT_TRUE(this->seal(this->dir_));
  ASSERT_TRUE(this->seal(this->dir_)) << "again";
  for (const bool reopened : {false, true}) {
    if (reopened) this->reopen();
    const auto before = this->ns().getattr(this->root_, {this->file_})->attr;
    const Usage usage = this->usage(kRootId);
    this->each_change([](std::string_view what, Errc why) { EXPECT_EQ(why, Errc::kReadOnly) << what; });
    const Error refused = this->write(this->file_, 0, "x").error();
    EXPECT_EQ(refused.cause, Cause::kSealed);
    EXPECT_EQ(refused.arguments, std::vector{std::to_string(static_cast<std::uint64_t>(this->dir_))});
    const auto after = this->ns().getattr(this->root_, {this->file_})->attr;
    EXPECT_EQ(after.change, before.change);
    EXPECT_EQ(this->usage(kRootId), usage);
    EXPECT_EQ(this->read(this->file_), "content");
    EXPECT_EQ(this->names(this->dir_), std::vector<std::string>{"sub"});
    const auto access = this->ns().access(this->root_, {this->file_, kAccessRead | kAccessModify});
    ASSERT_TRUE(access);
    EXPECT_TRUE(access->read_only);
    EXPECT_EQ(access->granted, std::uint32_t{kAccessRead});
    EXPECT_TRUE(this->write(this->outside_, 0, "CONTENT")) << "elsewhere nothing is sealed";
  }
  ASSERT_TRUE(this->seal(this->dir_, false));
  EXPECT_TRUE(this->write(this->file_, 0, "changed"));
  EXPECT_TRUE(this->ns().unlink(this->root_, {this->sub_, "file"}));
}

TYPED_TEST(SealTest, TheNearestSealAnswers) {
  EXPECT_EQ(this->sealed_by(this->file_), kNoFile);
  ASSERT_TRUE(this->seal(this->sub_));
  ASSERT_TRUE(this->seal(this->dir_));
  EXPECT_EQ(this->sealed_by(this->file_), this->sub_);
  EXPECT_EQ(this->sealed_by(this->dir_), this->dir_);
  EXPECT_EQ(this->sealed_by(this->outside_), kNoFile);
  ASSERT_TRUE(this->seal(this->sub_, false));
  EXPECT_EQ(this->sealed_by(this->file_), this->dir_);
  EXPECT_EQ(this->write(this->file_, 0, "x").error().code, Errc::kReadOnly);
  this->reopen();
  EXPECT_EQ(this->sealed_by(this->file_), this->dir_);
  ASSERT_TRUE(this->seal(this->dir_, false));
  EXPECT_TRUE(this->write(this->file_, 0, "x"));
}

TYPED_TEST(SealTest, AFileWithANameBelowStaysTooWhereverItIsChanged) {
  ASSERT_TRUE(this->ns().link(this->root_, {this->outside_, this->sub_, "second"}));
  ASSERT_TRUE(this->seal(this->dir_));
  EXPECT_EQ(this->sealed_by(this->outside_), this->dir_);
  EXPECT_EQ(this->write(this->outside_, 0, "x").error().code, Errc::kReadOnly);
  EXPECT_EQ(this->ns().unlink(this->root_, {kRootId, "outside"}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->ns().rename(this->root_, {kRootId, "outside", kRootId, "n"}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->put(kRootId, "outside", "x").error().code, Errc::kReadOnly);
  ASSERT_TRUE(this->seal(this->dir_, false));
  EXPECT_TRUE(this->write(this->outside_, 0, "x"));
}

TYPED_TEST(SealTest, OpensOfBeforeWriteNoMore) {
  OpContext ctx;
  ctx.holder = this->volume_->state().add_holder(Protocol::kNative, nullptr);
  const auto opened = this->ns().open(ctx, {.id = this->file_, .access = kShareBoth});
  ASSERT_TRUE(opened);
  ctx.open = opened->open;
  ASSERT_TRUE(this->seal(this->dir_));
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view("x")))};
  EXPECT_EQ(this->ns().write(ctx, {this->file_, 0, pieces}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->ns().setattr(ctx, {.id = this->file_, .set = {.size = 0}}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->read(this->file_), "content");
  this->volume_->state().remove_holder(ctx.holder);
}

TYPED_TEST(SealTest, SettingsStayAllowedAndStrangersAreRefused) {
  OpContext user;
  user.cred = {.uid = 7, .gid = 7};
  EXPECT_EQ(this->ns().set_sealed(user, {this->dir_, true}).error().code, Errc::kNotOwner);
  OpContext read_only;
  read_only.read_only = true;
  EXPECT_EQ(this->ns().set_sealed(read_only, {this->dir_, true}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->seal(this->file_).error().code, Errc::kNotDirectory);
  EXPECT_EQ(this->seal(kMultipartId).error().code, Errc::kInvalid);
  EXPECT_EQ(this->sealed_by(this->file_), kNoFile);
  ASSERT_TRUE(this->seal(this->dir_));
  EXPECT_TRUE(this->ns().set_quota(this->root_, {.dir = this->sub_, .limits = {.bytes = 1 << 20}}));
  EXPECT_TRUE(this->ns().count_owners(this->root_, {this->dir_, true}));
}

TYPED_TEST(SealTest, TheVerifierComparesSealsWithTheirList) {
  ASSERT_TRUE(this->seal(this->dir_));
  const auto problems = [&] { return this->volume_->check({})->problems.size(); };
  const auto apply = [&](const WriteBatch& batch) {
    const WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(this->kv_->apply(batches));
  };
  EXPECT_EQ(problems(), 0u);
  WriteBatch lost, wrong, right;
  lost.remove(Family::kConfig, keys::sealed_key(this->dir_));
  apply(lost);
  EXPECT_EQ(problems(), 1u);
  wrong.put(Family::kConfig, keys::sealed_key(this->sub_), {});
  wrong.put(Family::kConfig, keys::sealed_key(FileId{12345}), {});
  apply(wrong);
  EXPECT_EQ(problems(), 3u);
  right.put(Family::kConfig, keys::sealed_key(this->dir_), {});
  right.remove(Family::kConfig, keys::sealed_key(this->sub_));
  right.remove(Family::kConfig, keys::sealed_key(FileId{12345}));
  apply(right);
}

TYPED_TEST(SealTest, RecycleBinsBelowStandStill) {
  ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = this->dir_, .days = 1}));
  ASSERT_TRUE(this->create(this->sub_, "deleted"));
  ASSERT_TRUE(this->ns().unlink(this->root_, {this->sub_, "deleted"}));
  ASSERT_TRUE(this->seal(this->dir_));
  const auto items = this->ns().list_recycled(this->root_, {.dir = this->dir_});
  ASSERT_TRUE(items);
  ASSERT_EQ(items->items.size(), 1u);
  const RecycleItemId item = items->items[0].item;
  EXPECT_EQ(this->ns().restore(this->root_, {.item = item}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->ns().restore(this->root_, {.item = item, .to_parent = kRootId}).error().code, Errc::kReadOnly);
  EXPECT_EQ(this->ns().purge(this->root_, {.dir = this->dir_}).error().code, Errc::kReadOnly);
  ASSERT_TRUE(this->volume_->run_purge(Timestamp{std::int64_t{1} << 62}));
  EXPECT_EQ(this->ns().list_recycled(this->root_, {.dir = this->dir_})->items.size(), 1u);
  EXPECT_EQ(this->ns().unlink(this->root_, {this->sub_, "file"}).error().code, Errc::kReadOnly);
  ASSERT_TRUE(this->seal(this->dir_, false));
  ASSERT_TRUE(this->volume_->run_purge(Timestamp{std::int64_t{1} << 62}));
  EXPECT_EQ(this->ns().list_recycled(this->root_, {.dir = this->dir_})->items.size(), 0u);
}

TYPED_TEST(SealTest, CachedWritesComeFirstAndNoneIsCachedAfterwards) {
  StateTable& state = this->volume_->state();
  const HolderId me = state.add_holder(Protocol::kNative, nullptr);
  const auto below = state.grant_lease(this->file_, {me}, {.bits = kAllCaching});
  const auto elsewhere = state.grant_lease(this->outside_, {me}, {.bits = kAllCaching});
  ASSERT_TRUE(below && elsewhere);
  ASSERT_EQ(below->bits, std::uint32_t{kAllCaching});
  const auto refused = this->seal(this->dir_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kRecallPending);
  EXPECT_EQ(refused.error().subject, static_cast<std::uint64_t>(this->file_));
  EXPECT_EQ(this->sealed_by(this->file_), kNoFile);
  OpContext mine;
  mine.holder = me;
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view("flushed")))};
  EXPECT_TRUE(this->ns().write(mine, {this->file_, 0, pieces}));
  ASSERT_TRUE(state.acknowledge(below->id, kReadCaching));
  ASSERT_TRUE(this->seal(this->dir_));
  EXPECT_EQ(this->read(this->file_), "flushed");
  state.return_lease(below->id);
  const HolderId other = state.add_holder(Protocol::kNative, nullptr, "other", {.pause_after_look = {}});
  const auto later = state.grant_lease(this->file_, {other}, {.bits = kAllCaching});
  ASSERT_TRUE(later);
  EXPECT_EQ(later->bits & kWriteCaching, 0u);
}

}  // namespace
}  // namespace stoa::core::test

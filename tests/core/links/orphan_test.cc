// Files that lose their last name while they are open.
#include "core/inode/node_cache.h"
#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

constexpr std::size_t kBig = 100'000;

template <class Engine>
class OrphanTest : public VolumeTest<Engine> {
 protected:
  StateTable& state() { return this->volume_->state(); }
  HolderId holder() { return this->state().add_holder(Protocol::kNfs, nullptr); }
  using VolumeTest<Engine>::open;
  Result<OpenId> open(FileId file, HolderId who) { return state().open({file, who, kShareBoth, kShareNone}); }
  std::size_t blobs() {
    EXPECT_TRUE(this->volume_->flush());
    EXPECT_TRUE(this->volume_->run_gc());
    std::size_t count = 0;
    this->blobs_.for_each([&](BlobId) { ++count; });
    return count;
  }
  bool gone(FileId file) {
    const auto attr = this->ns().getattr(this->root_, {file});
    return !attr && attr.error().code == Errc::kStale;
  }
  Result<OpenReply> make_nameless(FileId dir, OpContext ctx = {}) {
    ctx.holder = holder();
    return this->ns().open(
        ctx,
        {.parent = dir, .disposition = OpenDisposition::kCreateNameless, .access = kShareBoth, .set = {.mode = 0600}});
  }
  FileId file(std::string_view name, std::size_t bytes) {
    const auto made = this->create(kRootId, name);
    EXPECT_TRUE(made);
    EXPECT_TRUE(this->write(*made, 0, std::string(bytes, 'o')));
    return *made;
  }
};
TYPED_TEST_SUITE(OrphanTest, Engines);

TYPED_TEST(OrphanTest, LivesUntilItsLastCloseHoweverItLostItsName) {
  const HolderId me = this->holder();
  const std::size_t before = this->blobs();
  struct Way {
    std::string name;
    std::function<bool()> take;
  };
  const std::vector<Way> ways = {
      {"unlink", [&] { return this->ns().unlink(this->root_, {kRootId, "f"}).has_value(); }},
      {"rename",
       [&] {
         return this->create(kRootId, "g") && this->ns().rename(this->root_, {kRootId, "g", kRootId, "f"}) &&
                this->ns().unlink(this->root_, {kRootId, "f"});
       }},
      {"remove_key", [&] { return this->ns().remove_key(this->root_, {kRootId, "f"}).has_value(); }},
  };
  for (const std::size_t bytes : {std::size_t{100}, kBig}) {
    for (const Way& way : ways) {
      SCOPED_TRACE(way.name + " " + std::to_string(bytes));
      const FileId file = this->file("f", bytes);
      const auto first = this->open(file, me);
      const auto second = this->open(file, me);
      ASSERT_TRUE(first && second);
      ASSERT_TRUE(way.take());
      EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = static_cast<std::int64_t>(bytes), .files = 1}));
      const auto attr = this->ns().getattr(this->root_, {file});
      ASSERT_TRUE(attr);
      EXPECT_EQ(attr->attr.links, 0u);
      EXPECT_EQ(attr->attr.size, bytes);
      EXPECT_EQ(this->read(file), std::string(bytes, 'o'));
      EXPECT_TRUE(this->write(file, bytes, "more"));
      EXPECT_TRUE(this->write(file, 2 * kBig, "far"));
      EXPECT_EQ(this->read(file, 2 * kBig), "far");
      EXPECT_TRUE(this->ns().setattr(this->root_, {file, {.mode = 0600, .size = 2 * kBig + 1}}));
      EXPECT_EQ(this->read(file, 2 * kBig), "f");
      EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = 2 * kBig + 1, .files = 1}));
      EXPECT_EQ(this->ns().link(this->root_, {file, kRootId, "again"}).error().code, Errc::kNotFound);
      this->expect_consistent();
      EXPECT_GT(this->blobs(), before);
      this->state().close(*first);
      EXPECT_FALSE(this->gone(file));
      EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = 2 * kBig + 1, .files = 1}));
      this->state().close(*second);
      EXPECT_TRUE(this->gone(file));
      EXPECT_EQ(this->open(file, me).error().code, Errc::kStale);
      EXPECT_EQ(this->usage(kRootId), Usage{});
      EXPECT_EQ(this->blobs(), before);
      this->expect_consistent();
    }
  }
}

// A damaged record says of no directory that the file counts there.
TYPED_TEST(OrphanTest, AFileThatCountsNowhereGoesAsOthersDo) {
  for (const std::size_t bytes : {std::size_t{100}, kBig}) {
    const FileId file = this->file("f", bytes);
    ASSERT_TRUE(this->volume_->flush());
    this->volume_.reset();
    auto inode = load_inode(*this->kv_, file);
    ASSERT_TRUE(inode);
    inode->parent = kNoFile;
    WriteBatch batch;
    batch.put(Family::kInode, keys::id_key(file), inode->encode());
    const WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(this->kv_->apply(batches));
    this->open();
    const auto opened = this->open(file, this->holder());
    ASSERT_TRUE(opened);
    ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "f"}));
    EXPECT_EQ(this->read(file), std::string(bytes, 'o'));
    EXPECT_TRUE(this->write(file, bytes, "more"));
    this->state().close(*opened);
    EXPECT_TRUE(this->gone(file));
    EXPECT_EQ(this->blobs(), 0u);
  }
}

TYPED_TEST(OrphanTest, AFileWithAnotherNameIsNone) {
  const HolderId me = this->holder();
  const FileId file = this->file("f", 100);
  ASSERT_TRUE(this->ns().link(this->root_, {file, kRootId, "g"}));
  const auto opened = this->open(file, me);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "f"}));
  this->state().close(*opened);
  EXPECT_FALSE(this->gone(file));
  EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = 100, .files = 1}));
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, GoesWithItsHolder) {
  const HolderId me = this->holder();
  const FileId file = this->file("f", kBig);
  ASSERT_TRUE(this->open(file, me));
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "f"}));
  this->state().remove_holder(me);
  EXPECT_TRUE(this->gone(file));
  EXPECT_EQ(this->blobs(), 0u);
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, WhoMayReclaimFindsWhatOthersRemovedOrClosedInGrace) {
  const FileId removed = this->file("removed", kBig), nameless = this->file("nameless", kBig);
  ASSERT_TRUE(this->open(nameless, this->holder()));
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "nameless"}));
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "late"));
  ASSERT_TRUE(this->ns().symlink(this->root_, {.parent = kRootId, .name = "link", .target = "x"}));
  this->reopen();
  ASSERT_TRUE(this->state().in_grace());
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "removed"}));
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "link"}));
  const auto early = this->open(nameless, this->holder());
  ASSERT_TRUE(early);
  this->state().close(*early);
  EXPECT_EQ(this->blobs(), 2u);
  EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = 2 * kBig, .files = 2}));

  const auto opened = this->open(removed, this->holder());
  ASSERT_TRUE(opened);
  ASSERT_TRUE(this->open(nameless, this->holder()));
  this->state().reclaim_done(Protocol::kNfs, "late");
  ASSERT_FALSE(this->state().in_grace());
  EXPECT_EQ(this->blobs(), 2u);
  this->state().close(*opened);
  EXPECT_TRUE(this->gone(removed));
  EXPECT_EQ(this->blobs(), 1u);
  EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = kBig, .files = 1}));
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, WhatWasRemovedInGraceGoesWhenNobodyReclaimsIt) {
  const FileId file = this->file("f", kBig);
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "late"));
  this->reopen();
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "f"}));
  EXPECT_FALSE(this->gone(file));
  this->state().reclaim_done(Protocol::kNfs, "late");
  EXPECT_EQ(this->blobs(), 0u);
  EXPECT_TRUE(this->gone(file));
  EXPECT_EQ(this->usage(kRootId), Usage{});
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, OfBeforeTheStartGoesAtOnceWhenNobodyCanReclaimIt) {
  const FileId file = this->file("f", kBig);
  ASSERT_TRUE(this->open(file, this->holder()));
  ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, "f"}));
  this->reopen();
  EXPECT_TRUE(this->gone(file));
  EXPECT_EQ(this->usage(kRootId), Usage{});
  EXPECT_EQ(this->blobs(), 0u);
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, OfBeforeTheStartWaitsForGrace) {
  const FileId wanted = this->file("f", kBig);
  const FileId unwanted = this->file("g", kBig);
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "client"));
  for (const FileId file : {wanted, unwanted}) ASSERT_TRUE(this->open(file, this->holder()));
  for (const char* name : {"f", "g"}) ASSERT_TRUE(this->ns().unlink(this->root_, {kRootId, name}));
  this->reopen();
  ASSERT_TRUE(this->state().may_reclaim(Protocol::kNfs, "client"));
  ASSERT_TRUE(this->volume_->run_gc());
  this->expect_consistent();
  EXPECT_FALSE(this->gone(unwanted));
  const auto reclaimed = this->open(wanted, this->holder());
  ASSERT_TRUE(reclaimed);
  this->state().reclaim_done(Protocol::kNfs, "client");
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_TRUE(this->gone(unwanted));
  EXPECT_EQ(this->read(wanted), std::string(kBig, 'o'));
  this->expect_consistent();
  this->state().close(*reclaimed);
  EXPECT_TRUE(this->gone(wanted));
  EXPECT_EQ(this->blobs(), 0u);
  EXPECT_EQ(this->usage(kRootId), Usage{});
  this->expect_consistent();
}

// --- files that were made without a name

TYPED_TEST(OrphanTest, AFileMadeWithoutANameGoesWithItsLastClose) {
  const FileId dir = this->mkdir(kRootId, "dir").value();
  const auto made = this->make_nameless(dir);
  ASSERT_TRUE(made) << describe(made.error());
  const FileId file = made->attr.id;
  EXPECT_TRUE(made->created);
  EXPECT_EQ(made->attr.links, 0u);
  EXPECT_EQ(this->names(dir), std::vector<std::string>{});
  EXPECT_TRUE(this->write(file, 0, std::string(kBig, 'n')));
  EXPECT_EQ(this->usage(dir), (Usage{.bytes = kBig, .files = 1}));
  this->expect_consistent();
  ASSERT_TRUE(this->ns().rmdir(this->root_, {kRootId, "dir"}));
  EXPECT_EQ(this->read(file, 0, 5), "nnnnn");
  this->state().close(made->open);
  EXPECT_TRUE(this->gone(file));
  EXPECT_EQ(this->usage(kRootId), Usage{});
  EXPECT_EQ(this->blobs(), 0u);
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, ALinkGivesItAName) {
  const FileId dir = this->mkdir(kRootId, "dir").value(), other = this->mkdir(kRootId, "other").value();
  const auto made = this->make_nameless(dir);
  ASSERT_TRUE(made);
  const FileId file = made->attr.id;
  EXPECT_TRUE(this->write(file, 0, std::string(kBig, 'n')));
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = other, .limits = {.bytes = kBig - 1}}));
  EXPECT_EQ(this->ns().link(this->root_, {file, other, "f"}).error().code, Errc::kQuota);
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = other, .limits = {.bytes = kBig}}));
  const auto linked = this->ns().link(this->root_, {file, other, "f"});
  ASSERT_TRUE(linked) << describe(linked.error());
  EXPECT_EQ(linked->attr.links, 1u);
  EXPECT_EQ(this->usage(dir), Usage{});
  EXPECT_EQ(this->usage(other), (Usage{.bytes = kBig, .files = 1}));
  this->state().close(made->open);
  this->expect_consistent();
  this->reopen();
  EXPECT_EQ(this->read(file, 0, 5), "nnnnn");
  EXPECT_EQ(this->ns().path_of(this->root_, {file})->path, "/other/f");
  ASSERT_TRUE(this->open(file, this->holder()));
  ASSERT_TRUE(this->ns().unlink(this->root_, {other, "f"}));
  EXPECT_EQ(this->ns().link(this->root_, {file, other, "again"}).error().code, Errc::kNotFound)
      << "only what never had a name gets one";
}

TYPED_TEST(OrphanTest, AFileMadeWithoutANameIsReclaimedOrGoes) {
  const auto wanted = this->make_nameless(kRootId), unwanted = this->make_nameless(kRootId);
  ASSERT_TRUE(wanted && unwanted);
  EXPECT_TRUE(this->write(wanted->attr.id, 0, "kept"));
  ASSERT_TRUE(this->state().remember_client(Protocol::kNative, "client"));
  this->reopen();
  const auto reclaimed = this->open(wanted->attr.id, this->holder());
  ASSERT_TRUE(reclaimed);
  this->state().reclaim_done(Protocol::kNative, "client");
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_TRUE(this->gone(unwanted->attr.id));
  EXPECT_TRUE(this->ns().link(this->root_, {wanted->attr.id, kRootId, "named"}));
  this->state().close(*reclaimed);
  EXPECT_EQ(this->read(wanted->attr.id), "kept");
  EXPECT_EQ(this->usage(kRootId), (Usage{.bytes = 4, .files = 1}));
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, WhatMayNotBeMadeIsNotMadeWithoutANameEither) {
  const FileId dir = this->mkdir(kRootId, "dir").value();
  ASSERT_TRUE(this->ns().set_quota(this->root_, {.dir = dir, .limits = {.files = 0}}));
  EXPECT_EQ(this->make_nameless(dir).error().code, Errc::kQuota);
  EXPECT_EQ(this->make_nameless(this->file("f", 1)).error().code, Errc::kNotDirectory);
  OpContext ctx;
  ctx.read_only = true;
  EXPECT_EQ(this->make_nameless(kRootId, ctx).error().code, Errc::kReadOnly);
  ctx = {.cred = {.uid = 7, .gid = 7}};
  EXPECT_EQ(this->make_nameless(kRootId, ctx).error().code, Errc::kAccess);
  ctx = {};
  ctx.holder = this->holder();
  EXPECT_EQ(this->ns()
                .open(ctx, {.parent = kRootId, .name = "f", .disposition = OpenDisposition::kCreateNameless})
                .error()
                .code,
            Errc::kInvalid);
  EXPECT_FALSE(this->state().holds_state(ctx.holder));
  this->expect_consistent();
}

TYPED_TEST(OrphanTest, APartOfAnUploadThatIsOpenIsNotTakenOver) {
  const auto uploads = this->mkdir(kRootId, "uploads");
  ASSERT_TRUE(uploads);
  const auto dir = this->mkdir(*uploads, "upload");
  ASSERT_TRUE(dir);
  const auto part = this->create(*dir, "1");
  ASSERT_TRUE(part && this->write(*part, 0, std::string(kBig, 'p')));
  const auto opened = this->open(*part, this->holder());
  ASSERT_TRUE(opened);
  ConcatenateRequest join{.root = kRootId, .key = "object", .parts = {{.id = *part}}, .consume_dir = *dir};
  EXPECT_EQ(this->ns().concatenate(this->root_, join).error().code, Errc::kBusy);
  this->state().close(*opened);
  EXPECT_TRUE(this->ns().concatenate(this->root_, join));
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test

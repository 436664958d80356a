// An open happens as a whole or not at all: the file, its place in the table of opens, the cut, the lease.
#include <thread>

#include "tests/core/state/lease_requests.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class OpenTest : public VolumeTest<Engine> {
 protected:
  StateTable& state() { return this->volume_->state(); }
  OpContext holder(std::uint32_t uid = 0) {
    OpContext ctx;
    ctx.holder = state().add_holder(Protocol::kSmb, nullptr);
    if (uid != 0) ctx.cred = Credentials{.uid = uid, .gid = uid};
    return ctx;
  }
  Result<OpenReply> open(const OpContext& ctx, OpenDisposition disposition, std::uint32_t access = kShareRead,
                         std::uint32_t deny = kShareNone, std::string_view name = "f") {
    return this->ns().open(
        ctx, {.parent = kRootId, .name = name, .disposition = disposition, .access = access, .deny = deny});
  }
  static Errc code(const Result<OpenReply>& reply) { return reply ? Errc{} : reply.error().code; }
  FileId file(std::string_view name = "f", std::string_view text = "text") {
    const FileId id = *this->create(kRootId, name);
    EXPECT_TRUE(this->write(id, 0, text));
    return id;
  }
  // A refused open leaves nothing behind.
  void expect_refused(const Result<OpenReply>& reply, Errc right, const OpContext& ctx) {
    EXPECT_EQ(code(reply), right);
    EXPECT_FALSE(state().holds_state(ctx.holder));
  }
};
TYPED_TEST_SUITE(OpenTest, Engines);

TYPED_TEST(OpenTest, TakesOrMakesTheFileAsTheDispositionSays) {
  struct Case {
    OpenDisposition disposition;
    Errc absent, present;  // Errc{}: it is opened
    bool cuts;
  };
  const Case cases[] = {{OpenDisposition::kOpen, Errc::kNotFound, Errc{}, false},
                        {OpenDisposition::kCreate, Errc{}, Errc::kExists, false},
                        {OpenDisposition::kOpenOrCreate, Errc{}, Errc{}, false},
                        {OpenDisposition::kOverwrite, Errc::kNotFound, Errc{}, true},
                        {OpenDisposition::kOverwriteOrCreate, Errc{}, Errc{}, true},
                        {OpenDisposition::kCreateExclusive, Errc{}, Errc::kExists, false}};
  int number = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(static_cast<int>(one.disposition));
    const std::string absent = "absent" + std::to_string(number), present = "present" + std::to_string(number);
    ++number;
    const OpContext ctx = this->holder();
    const auto made = this->open(ctx, one.disposition, kShareBoth, kShareNone, absent);
    EXPECT_EQ(this->code(made), one.absent);
    EXPECT_EQ(this->ns().lookup({}, {.parent = kRootId, .name = absent}).has_value(), one.absent == Errc{});
    if (made) {
      EXPECT_TRUE(made->created && !made->truncated);
      EXPECT_NE(made->parent.change, made->parent_before.change);
      EXPECT_EQ(this->state().held_of(made->attr.id, 1).opens.total, 1u);
      this->state().close(made->open);
    }
    EXPECT_FALSE(this->state().holds_state(ctx.holder));
    const FileId id = this->file(present);
    const auto taken = this->open(ctx, one.disposition, kShareBoth, kShareNone, present);
    EXPECT_EQ(this->code(taken), one.present);
    EXPECT_EQ(this->read(id), one.cuts ? "" : "text");
    if (taken) {
      EXPECT_FALSE(taken->created);
      EXPECT_EQ(taken->truncated, one.cuts);
      EXPECT_EQ(taken->attr.id, id);
      EXPECT_EQ(taken->attr.size, one.cuts ? 0u : 4u);
      EXPECT_EQ(taken->parent.change, taken->parent_before.change);
      this->state().close(taken->open);
    }
    EXPECT_FALSE(this->state().holds_state(ctx.holder));
  }
  this->expect_consistent();
}

TYPED_TEST(OpenTest, MakesExclusivelyOnceForEachVerifier) {
  const OpContext ctx = this->holder();
  OpenRequest request{.parent = kRootId, .name = "f", .disposition = OpenDisposition::kCreateExclusive, .verifier = 7};
  const auto first = this->ns().open(ctx, request);
  const auto again = this->ns().open(ctx, request);
  ASSERT_TRUE(first && again);
  EXPECT_TRUE(first->created);
  EXPECT_FALSE(again->created);
  EXPECT_EQ(again->attr.id, first->attr.id);
  EXPECT_NE(again->open, first->open);
  request.verifier = 8;
  EXPECT_EQ(this->code(this->ns().open(ctx, request)), Errc::kExists);
}

TYPED_TEST(OpenTest, OfAFileItself) {
  const FileId id = this->file();
  const OpContext ctx = this->holder();
  const auto opened =
      this->ns().open(ctx, {.id = id, .disposition = OpenDisposition::kOverwrite, .access = kShareWrite});
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->truncated);
  EXPECT_EQ(this->read(id), "");
  this->state().close(opened->open);
  this->expect_refused(this->ns().open(ctx, {.id = id, .disposition = OpenDisposition::kOpenOrCreate}), Errc::kInvalid,
                       ctx);
  ASSERT_TRUE(this->ns().unlink({}, {kRootId, "f"}));
  this->expect_refused(this->ns().open(ctx, {.id = id}), Errc::kStale, ctx);
}

TYPED_TEST(OpenTest, OfWhatIsNoFileNamesIt) {
  const OpContext ctx = this->holder();
  const FileId dir = *this->mkdir(kRootId, "d");
  const auto link = this->ns().symlink({}, {.parent = kRootId, .name = "l", .target = "f"});
  ASSERT_TRUE(link);
  for (const OpenDisposition disposition : {OpenDisposition::kOpen, OpenDisposition::kOpenOrCreate,
                                            OpenDisposition::kOverwrite, OpenDisposition::kOverwriteOrCreate}) {
    const auto of_dir = this->open(ctx, disposition, kShareRead, kShareNone, "d");
    this->expect_refused(of_dir, Errc::kIsDirectory, ctx);
    EXPECT_EQ(FileId{of_dir.error().subject}, dir);
    const auto of_link = this->open(ctx, disposition, kShareRead, kShareNone, "l");
    this->expect_refused(of_link, Errc::kWrongType, ctx);
    EXPECT_EQ(FileId{of_link.error().subject}, link->attr.id);
  }
}

TYPED_TEST(OpenTest, ThatIsRefusedMakesAndCutsNothing) {
  const FileId id = this->file();
  const OpContext first = this->holder(), second = this->holder();
  const auto denies = this->open(first, OpenDisposition::kOpen, kShareRead, kShareWrite);
  ASSERT_TRUE(denies);
  const auto conflict = this->open(second, OpenDisposition::kOverwriteOrCreate, kShareBoth);
  this->expect_refused(conflict, Errc::kShareConflict, second);
  EXPECT_EQ(FileId{conflict.error().subject}, id);
  // Truncation is a write, regardless of the access.
  this->expect_refused(this->open(second, OpenDisposition::kOverwrite, kShareRead), Errc::kShareConflict, second);
  EXPECT_TRUE(this->open(second, OpenDisposition::kOpen, kShareNone)) << "the attributes alone";
  this->state().close(denies->open);
  this->state().remove_holder(second.holder);

  const OpContext third = this->holder();
  const auto locks = this->open(first, OpenDisposition::kOpen, kShareBoth);
  ASSERT_TRUE(locks);
  ASSERT_TRUE(this->state().lock_mandatory(locks->open, {2, 1}, true));
  this->expect_refused(this->open(third, OpenDisposition::kOverwrite, kShareBoth), Errc::kLocked, third);
  this->state().close(locks->open);

  const auto lease = grant(this->state(), id, first.holder, kReads);
  ASSERT_TRUE(lease);
  const auto pending = this->open(third, OpenDisposition::kOverwrite, kShareBoth);
  this->expect_refused(pending, Errc::kRecallPending, third);
  EXPECT_EQ(FileId{pending.error().subject}, id);
  EXPECT_EQ(this->read(id), "text");
  this->state().return_lease(*lease);
  EXPECT_TRUE(this->open(third, OpenDisposition::kOverwrite, kShareBoth));
  EXPECT_EQ(this->read(id), "");

  OpContext unknown;
  EXPECT_EQ(this->code(this->open(unknown, OpenDisposition::kOpenOrCreate, kShareRead, kShareNone, "new")),
            Errc::kInvalid);
  EXPECT_EQ(this->code(this->open(third, OpenDisposition::kOpenOrCreate, 8, kShareNone, "new")), Errc::kInvalid);
  OpContext reader = this->holder();
  reader.read_only = true;
  this->expect_refused(this->open(reader, OpenDisposition::kOpenOrCreate, kShareRead, kShareNone, "new"),
                       Errc::kReadOnly, reader);
  EXPECT_EQ(this->names(kRootId), std::vector<std::string>{"f"});
  this->expect_consistent();
}

TYPED_TEST(OpenTest, OfANewFileThatAQuotaRefusesIsInNoTable) {
  const FileId dir = *this->mkdir(kRootId, "d");
  ASSERT_TRUE(this->create(dir, "first"));
  ASSERT_TRUE(this->ns().set_quota({}, {dir, {.files = 1}}));
  const OpContext ctx = this->holder();
  this->expect_refused(this->ns().open(ctx, {.parent = dir, .name = "f", .disposition = OpenDisposition::kCreate}),
                       Errc::kQuota, ctx);
}

TYPED_TEST(OpenTest, LooksAtPermissionsUnlessItMakesTheFileOrHadIt) {
  ASSERT_TRUE(this->ns().setattr({}, {.id = kRootId, .set = {.mode = 01777}}));
  const OpContext owner = this->holder(1000), stranger = this->holder(1001);
  OpenRequest request{
      .parent = kRootId, .name = "f", .disposition = OpenDisposition::kCreate, .access = kShareAll, .set = {.mode = 0}};
  const auto made = this->ns().open(owner, request);
  ASSERT_TRUE(made) << "its maker may use it whatever its mode";
  this->state().close(made->open);
  const FileId id = made->attr.id;
  const auto refused = [&](std::uint32_t access, OpenDisposition disposition = OpenDisposition::kOpen) {
    const auto reply = this->open(stranger, disposition, access);
    const bool yes = !reply && (reply.error().code == Errc::kAccess || reply.error().code == Errc::kNotOwner);
    if (reply) this->state().close(reply->open);
    EXPECT_FALSE(this->state().holds_state(stranger.holder));
    return yes;
  };
  EXPECT_TRUE(refused(kShareRead) && refused(kShareWrite) && refused(kShareDelete));
  EXPECT_FALSE(refused(kShareNone));
  ASSERT_TRUE(this->ns().setattr({}, {.id = id, .set = {.mode = 0001}}));
  EXPECT_FALSE(refused(kShareRead)) << "what may be executed may be read";
  EXPECT_TRUE(refused(kShareRead, OpenDisposition::kOverwriteOrCreate));
  ASSERT_TRUE(this->ns().setattr({}, {.id = id, .set = {.mode = 0002}}));
  EXPECT_FALSE(refused(kShareWrite));
  EXPECT_TRUE(refused(kShareDelete)) << "in a sticky directory";
  EXPECT_FALSE(refused(kShareWrite, OpenDisposition::kOverwrite));
  const auto reclaimed = this->ns().open(stranger, {.id = id, .access = kShareBoth, .reclaim = true});
  ASSERT_TRUE(reclaimed);
  this->state().close(reclaimed->open);
  ASSERT_TRUE(this->ns().setattr({}, {.id = kRootId, .set = {.mode = 0777}}));
  EXPECT_FALSE(refused(kShareDelete)) << "who may remove the name may open it for that";
}

TYPED_TEST(OpenTest, GrantsALeaseWhereItCan) {
  const OpContext first = this->holder(), second = this->holder();
  OpenRequest request{.parent = kRootId, .name = "f", .disposition = OpenDisposition::kOpenOrCreate, .lease = kAll};
  const auto made = this->ns().open(first, request);
  ASSERT_TRUE(made && made->lease);
  EXPECT_EQ(made->lease->bits, kAllCaching);
  // Another open of the same lease does not hinder it, one of another does.
  const auto again = this->ns().open(first, request);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->lease, made->lease);
  const auto pending = this->ns().open(second, request);
  EXPECT_EQ(this->code(pending), Errc::kRecallPending);
  EXPECT_EQ(FileId{pending.error().subject}, made->attr.id);
  ASSERT_TRUE(this->state().acknowledge(made->lease->id, kReadCaching));
  const auto other = this->ns().open(second, request);
  ASSERT_TRUE(other);
  ASSERT_TRUE(other->lease);
  EXPECT_EQ(other->lease->bits & kWriteCaching, 0u) << "it was recalled just now";
}

TYPED_TEST(OpenTest, JoinsAnotherOneOfItsOwner) {
  this->file();
  const OpContext ctx = this->holder(), other = this->holder();
  const auto one = this->open(ctx, OpenDisposition::kOpen, kShareRead);
  const auto two = this->open(ctx, OpenDisposition::kOpen, kShareWrite);
  const auto strange = this->open(other, OpenDisposition::kOpen, kShareRead);
  ASSERT_TRUE(one && two && strange);
  this->state().join_opens(one->open, strange->open);
  EXPECT_EQ(this->state().held_by(other.holder).opens, 1) << "not of one owner";
  this->state().join_opens(one->open, two->open);
  EXPECT_EQ(this->state().held_by(ctx.holder).opens, 1);
  EXPECT_EQ(this->code(this->open(other, OpenDisposition::kOpen, kShareRead, kShareWrite)), Errc::kShareConflict);
  this->state().close(two->open);
  this->state().join_opens(one->open, one->open);
  EXPECT_EQ(this->state().held_by(ctx.holder).opens, 1);
  this->state().close(one->open);
  EXPECT_TRUE(this->open(other, OpenDisposition::kOpen, kShareRead, kShareWrite));
}

TYPED_TEST(OpenTest, DeletesOnCloseTheNameThatItOpened) {
  const OpContext ctx = this->holder();
  OpenRequest request{.parent = kRootId,
                      .name = "f",
                      .disposition = OpenDisposition::kOpenOrCreate,
                      .access = kShareRead | kShareDelete,
                      .delete_on_close = true};
  const auto made = this->ns().open(ctx, request);
  ASSERT_TRUE(made);
  ASSERT_TRUE(this->ns().link({}, {made->attr.id, kRootId, "other"}));
  const auto conflict = this->open(ctx, OpenDisposition::kOpen, kShareRead, kShareDelete);
  EXPECT_EQ(this->code(conflict), Errc::kShareConflict);
  this->state().close(made->open);
  EXPECT_EQ(this->names(kRootId), std::vector<std::string>{"other"});

  // A name that is another file's by then is not touched.
  const auto again = this->ns().open(ctx, request);
  ASSERT_TRUE(again && again->created);
  ASSERT_TRUE(this->ns().rename({}, {kRootId, "f", kRootId, "moved"}));
  const FileId other = this->file("f", "new");
  this->state().remove_holder(ctx.holder);
  EXPECT_EQ(this->read(other), "new");
  for (const std::string_view name : {"other", "moved", "f"}) {
    EXPECT_TRUE(this->ns().lookup({}, {.parent = kRootId, .name = name})) << name;
  }

  const OpContext last = this->holder();
  request.access = kShareRead;
  this->expect_refused(this->ns().open(last, request), Errc::kInvalid, last);
  // An open that fails deletes nothing.
  request.access = kShareRead | kShareDelete;
  request.disposition = OpenDisposition::kOverwrite;
  const auto lease = grant(this->state(), other, this->holder().holder, kReads);
  ASSERT_TRUE(lease);
  this->expect_refused(this->ns().open(last, request), Errc::kRecallPending, last);
  EXPECT_EQ(this->read(other), "new");
  this->expect_consistent();
}

// NFSv3 and S3 have no opens, and share-deny does not bind them (core/state/README.md).
TYPED_TEST(OpenTest, DeniesNothingToCallersWithoutOpens) {
  const FileId id = this->file();
  const OpContext ctx = this->holder();
  const auto opened = this->open(ctx, OpenDisposition::kOpen, kShareAll, kShareAll);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(this->write(id, 0, "new"));
  EXPECT_EQ(this->read(id), "newt");
  EXPECT_TRUE(this->ns().setattr({}, {.id = id, .set = {.size = 2}}));
  EXPECT_TRUE(this->put(kRootId, "f", "object"));
  EXPECT_TRUE(this->ns().rename({}, {kRootId, "f", kRootId, "g"}));
  EXPECT_TRUE(this->ns().unlink({}, {kRootId, "g"}));
  EXPECT_TRUE(this->ns().getattr({}, {id})) << "it lives until it is closed";
  this->state().close(opened->open);
  EXPECT_EQ(this->ns().getattr({}, {id}).error().code, Errc::kStale);
  this->expect_consistent();
}

// Regardless of the name, a granted open is of a file that exists and stays.
TYPED_TEST(OpenTest, IsOfAFileThatStaysWhileItsNameGoes) {
  std::atomic<bool> stop = false;
  std::thread remover([&] {
    while (!stop) (void)this->ns().unlink({}, {kRootId, "f"});
  });
  std::vector<std::thread> openers;
  for (int i = 0; i < 3; ++i) {
    openers.emplace_back([&] {
      const OpContext ctx = this->holder();
      for (int n = 0; n < 100; ++n) {
        const auto opened = this->open(
            ctx, n % 2 == 0 ? OpenDisposition::kOpenOrCreate : OpenDisposition::kOverwriteOrCreate, kShareBoth);
        if (!opened) {
          EXPECT_EQ(opened.error().code, Errc::kBusy);
          continue;
        }
        EXPECT_TRUE(this->ns().getattr({}, {opened->attr.id}));
        this->state().close(opened->open);
      }
      EXPECT_FALSE(this->state().holds_state(ctx.holder));
    });
  }
  for (std::thread& opener : openers) opener.join();
  stop = true;
  remover.join();
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test

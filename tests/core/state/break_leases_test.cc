// Break before mutate: every operation of Namespace against leases of another holder.
#include <thread>

#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/lease_requests.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

constexpr std::uint64_t kBytes = 40'000;  // in blobs, not inline

// The objects of one operation, made afresh for each case.
struct Scene {
  FileId dir, sub, elsewhere;  // d, d/sub, e
  FileId file, other;          // d/f, d/g
  ObjectVersion version;       // of f
};

enum class Touches : std::uint8_t { kFile, kOther, kDir, kSub, kElsewhere };

struct Operation {
  std::string name;
  std::vector<Touches> touched;  // files with leases in the way
  bool changes;                  // else it only looks
  std::function<Status(Namespace&, const OpContext&, const Scene&)> run;
};

template <class T>
Status status(const Result<T>& result) {
  if (!result) return fail(result.error());
  return {};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<Operation> operations() {
  using enum Touches;
  using Ns = Namespace;
  using Ctx = OpContext;
  const auto write_at = [](std::uint64_t offset) {
    return [offset](Ns& ns, const Ctx& ctx, const Scene& s) {
      const std::span<const std::byte> pieces[] = {bytes_of("new")};
      return status(ns.write(ctx, {s.file, offset, pieces}));
    };
  };
  const auto set = [](SetAttributes what) {
    return [what](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.setattr(ctx, {s.file, what})); };
  };
  const auto copy = [](bool share, bool to_file) {
    return [=](Ns& ns, const Ctx& ctx, const Scene& s) {
      return status(ns.copy_range(ctx, {to_file ? s.other : s.file, 0, to_file ? s.file : s.other, 0, 0, share}));
    };
  };
  const auto rename = [](std::string_view from, FileId Scene::* to_dir, std::string_view to) {
    return [=](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.rename(ctx, {s.dir, from, s.*to_dir, to})); };
  };
  const auto put = [](std::string_view key) {
    return [=](Ns& ns, const Ctx& ctx, const Scene& s) {
      return status(ns.put_key(ctx, {.root = s.dir, .key = key, .bytes = bytes_of("object")}));
    };
  };
  const auto join = [](FileId Scene::* part, std::string_view key) {
    return [=](Ns& ns, const Ctx& ctx, const Scene& s) {
      return status(ns.concatenate(ctx, {.root = s.dir, .key = key, .parts = {{.id = s.*part}}}));
    };
  };
  return {
      {"write in place", {kFile}, true, write_at(5)},
      {"write beyond the end", {kFile}, true, write_at(1u << 20)},
      {"setattr mode", {kFile}, true, set({.mode = 0600})},
      {"setattr ACL", {kFile}, true, set({.acl = std::make_shared<const Acl>()})},
      {"setattr times", {kFile}, true, set({.mtime = SetTime{.server_time = true}})},
      {"setattr size", {kFile}, true, set({.size = 7})},
      {"allocate",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.allocate(ctx, {s.file, 0, 50'000})); }},
      {"punch",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.punch(ctx, {s.file, 0, 4096})); }},
      {"zero",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.zero(ctx, {s.file, 0, 4096})); }},
      {"append",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         const std::span<const std::byte> pieces[] = {bytes_of("new")};
         return status(ns.write(ctx, {.id = s.file, .offset = 0, .data = pieces, .append = true}));
       }},
      {"exchange of two names",
       {kFile, kOther, kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         return status(ns.rename(
             ctx, {.from_parent = s.dir, .from_name = "f", .to_parent = s.dir, .to_name = "g", .exchange = true}));
       }},
      {"copy_range into it", {kFile}, true, copy(false, true)},
      {"copy_range into it, shared", {kFile}, true, copy(true, true)},
      {"create that truncates",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         return status(ns.create(ctx, {.parent = s.dir, .name = "f", .set = {.size = 0}}));
       }},
      {"open that overwrites",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         return status(ns.open(ctx, {.parent = s.dir, .name = "f", .disposition = OpenDisposition::kOverwrite}));
       }},
      {"create",
       {kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         return status(ns.create(ctx, {.parent = s.dir, .name = "new", .mode = CreateMode::kGuarded}));
       }},
      {"mkdir",
       {kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.mkdir(ctx, {s.dir, "new"})); }},
      {"symlink",
       {kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.symlink(ctx, {s.dir, "new", "f"})); }},
      {"mknod",
       {kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         return status(ns.mknod(ctx, {.parent = s.dir, .name = "new", .type = FileType::kFifo}));
       }},
      {"link",
       {kFile, kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.link(ctx, {s.file, s.dir, "new"})); }},
      {"unlink",
       {kFile, kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.unlink(ctx, {s.dir, "f"})); }},
      {"rmdir",
       {kSub, kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.rmdir(ctx, {s.dir, "sub"})); }},
      {"rename", {kFile, kDir}, true, rename("f", &Scene::dir, "new")},
      {"rename over it", {kFile, kOther, kDir}, true, rename("g", &Scene::dir, "f")},
      {"rename to another directory", {kFile, kDir, kElsewhere}, true, rename("f", &Scene::elsewhere, "f")},
      {"rename of a directory", {kSub, kDir, kElsewhere}, true, rename("sub", &Scene::elsewhere, "sub")},
      {"put_key", {kFile}, true, put("f")},
      {"put_key of a new one", {kDir}, true, put("new")},
      {"put_key below a new directory", {kDir}, true, put("x/new")},
      {"concatenate into it", {kFile}, true, join(&Scene::other, "f")},
      {"remove_key",
       {kFile, kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.remove_key(ctx, {s.dir, "f"})); }},
      {"set_meta",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return ns.set_meta(ctx, {s.file, "m", s.version}); }},
      {"set_xattr",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.set_xattr(ctx, {s.file, "user.b", "2"})); }},
      {"remove_xattr",
       {kFile},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.remove_xattr(ctx, {s.file, "user.a"})); }},
      {"remove_tree",
       {kSub, kDir},
       true,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return ns.remove_tree(ctx, {s.dir, "sub"}); }},
      {"read",
       {kFile},
       false,
       [](Ns& ns, const Ctx& ctx, const Scene& s) {
         std::vector<std::byte> into(10);
         return status(ns.read(ctx, {s.file, 0, into}));
       }},
      {"read_slices",
       {kFile},
       false,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.read_slices(ctx, {s.file, 0, 10})); }},
      {"getattr",
       {kFile},
       false,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.getattr(ctx, {s.file})); }},
      {"seek",
       {kFile},
       false,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.seek(ctx, {s.file, 0, SeekWhat::kHole})); }},
      {"lookup_key",
       {kFile},
       false,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.lookup_key(ctx, {s.dir, "f"})); }},
      {"list_keys",
       {kFile, kOther},
       false,
       [](Ns& ns, const Ctx& ctx, const Scene& s) { return status(ns.list_keys(ctx, {.root = s.dir})); }},
      {"copy_range out of it", {kFile}, false, copy(false, false)},
      {"copy_range out of it, shared", {kFile}, false, copy(true, false)},
      {"concatenate from it", {kFile}, false, join(&Scene::file, "g")},
  };
}

template <class Engine>
class BreakLeasesTest : public VolumeTest<Engine> {
 protected:
  StateTable& state() { return this->volume_->state(); }
  // The caller of the operations: opens belong to a holder.
  OpContext other() {
    OpContext ctx;
    ctx.holder = state().add_holder(Protocol::kSmb, nullptr);
    return ctx;
  }
  Scene scene() {
    const std::string name = "d" + std::to_string(++scenes_);
    Scene s{};
    s.dir = *this->mkdir(kRootId, name);
    s.sub = *this->mkdir(s.dir, "sub");
    s.elsewhere = *this->mkdir(kRootId, name + "e");
    s.file = *this->create(s.dir, "f");
    s.other = *this->create(s.dir, "g");
    EXPECT_TRUE(this->write(s.file, 0, std::string(kBytes, 'f')));
    EXPECT_TRUE(this->write(s.other, 0, std::string(kBytes, 'g')));
    EXPECT_TRUE(this->ns().set_xattr(this->root_, {s.file, "user.a", "1"}));
    s.version = this->ns().getattr(this->root_, {s.file})->attr.version();
    return s;
  }
  static FileId of(const Scene& s, Touches what) {
    switch (what) {
      case Touches::kFile:
        return s.file;
      case Touches::kOther:
        return s.other;
      case Touches::kDir:
        return s.dir;
      case Touches::kSub:
        return s.sub;
      case Touches::kElsewhere:
        return s.elsewhere;
    }
    return kNoFile;
  }
  // All state that an operation might have changed, read as the holder, for whom nothing conflicts.
  std::string snapshot(const Scene& s, const OpContext& holder) {
    std::string text;
    for (const FileId id : {s.dir, s.sub, s.elsewhere, s.file, s.other}) {
      const auto got = this->ns().getattr(holder, {id});
      if (!got) return "error: " + describe(got.error());
      const Attributes& a = got->attr;
      for (const std::uint64_t value : {static_cast<std::uint64_t>(a.mode), static_cast<std::uint64_t>(a.links), a.size,
                                        a.change, a.data_version, static_cast<std::uint64_t>(a.mtime.ns)}) {
        text.append(std::to_string(value)).append(" ");
      }
    }
    for (const FileId dir : {s.dir, s.sub, s.elsewhere}) {
      for (const std::string& name : this->names(dir)) text.append(name).append("/");
    }
    for (const FileId id : {s.file, s.other}) {
      std::string content(kBytes + 1, '\0');
      const auto got = this->ns().read(holder, {id, 0, std::as_writable_bytes(std::span(content))});
      if (!got) return "error: " + describe(got.error());
      content.resize(got->length);
      text.append(content);
    }
    const Usage usage = this->usage(kRootId);
    return text.append(std::to_string(core::bytes_of(usage)))
        .append(" ")
        .append(std::to_string(usage.files + usage.directories));
  }

  int scenes_ = 0;
};
TYPED_TEST_SUITE(BreakLeasesTest, Engines);

TYPED_TEST(BreakLeasesTest, EveryOperationRecallsWhatIsInItsWayAndChangesNothingBefore) {
  const OpContext other = this->other();
  for (const Operation& operation : operations()) {
    for (const Touches what : operation.touched) {
      for (const LeaseRequest wanted : {kReadDelegation, kWriteDelegation, kReads, kAll}) {
        const std::string name =
            operation.name + ", lease " + std::to_string(wanted.bits) + " on " + std::to_string(static_cast<int>(what));
        SCOPED_TRACE(name);
        const Scene s = this->scene();
        std::vector<std::pair<LeaseId, FileId>> recalled;
        OpContext holder;
        holder.holder = this->state().add_holder(
            Protocol::kNfs, on_recall([&](const LeaseRecall& r) { recalled.push_back({r.lease, r.file}); }));
        const FileId id = this->of(s, what);
        const auto lease = grant(this->state(), id, holder.holder, wanted);
        ASSERT_TRUE(lease);
        const std::string before = this->snapshot(s, holder);
        const Status first = operation.run(this->ns(), other, s);
        if (operation.changes || (wanted.bits & kWriteCaching) != 0) {
          ASSERT_FALSE(first);
          EXPECT_EQ(first.error().code, Errc::kRecallPending);
          EXPECT_EQ(recalled, (std::vector<std::pair<LeaseId, FileId>>{{*lease, id}}));
          EXPECT_EQ(this->snapshot(s, holder), before);
          this->state().return_lease(*lease);
          const Status again = operation.run(this->ns(), other, s);
          EXPECT_TRUE(again) << describe(again.error());
        } else {
          EXPECT_TRUE(first) << describe(first.error());
          EXPECT_TRUE(recalled.empty());
        }
        this->state().remove_holder(holder.holder);
      }
    }
  }
  this->expect_consistent();
}

// The lease is on the directory of f and g, or on the other one that the operation changes.
TYPED_TEST(BreakLeasesTest, FilesLeasesAreRecalledForTheDirectoryAndForItsFiles) {
  const OpContext other = this->other();
  const std::set<std::string> change_g{"copy_range out of it", "copy_range out of it, shared", "concatenate from it"};
  for (const Operation& operation : operations()) {
    for (const Touches where : {Touches::kDir, Touches::kElsewhere}) {
      if (where == Touches::kElsewhere && std::ranges::find(operation.touched, where) == operation.touched.end()) {
        continue;
      }
      for (const LeaseRequest wanted : {kFilesRead, kFilesReadAndHandle, kFilesAll}) {
        SCOPED_TRACE(operation.name + ", files lease " + std::to_string(wanted.bits) + " on " +
                     std::to_string(static_cast<int>(where)));
        const Scene s = this->scene();
        std::vector<LeaseRecall> recalled;
        OpContext holder;
        holder.holder = this->state().add_holder(Protocol::kNative,
                                                 on_recall([&](const LeaseRecall& r) { recalled.push_back(r); }));
        const FileId directory = this->of(s, where);
        const auto lease = this->state().grant_lease(directory, {holder.holder, {}}, wanted);
        ASSERT_TRUE(lease);
        ASSERT_EQ(lease->bits, wanted.bits);
        const std::string before = this->snapshot(s, holder);
        std::uint32_t bits = wanted.bits;
        Status done = operation.run(this->ns(), other, s);
        for (std::size_t answered = 0; !done && answered < 4; ++answered) {
          ASSERT_EQ(done.error().code, Errc::kRecallPending) << describe(done.error());
          EXPECT_EQ(done.error().subject, static_cast<std::uint64_t>(directory));
          ASSERT_EQ(recalled.size(), answered + 1);
          const LeaseRecall& recall = recalled.back();
          EXPECT_EQ(recall.lease, lease->id);
          EXPECT_EQ(recall.file, directory);
          const bool looks = recall.reason == RecallReason::kLook;
          EXPECT_EQ(recall.keeps, looks ? bits & ~kWriteCaching : 0u) << static_cast<int>(recall.reason);
          EXPECT_TRUE(looks || recall.reason == RecallReason::kChange);
          EXPECT_TRUE(recall.subject == s.file || recall.subject == s.other || recall.subject == directory ||
                      recall.subject == s.sub);
          EXPECT_EQ(this->snapshot(s, holder), before);
          bits = recall.keeps;
          ASSERT_TRUE(this->state().acknowledge(lease->id, bits));
          done = operation.run(this->ns(), other, s);
        }
        EXPECT_TRUE(done) << describe(done.error());
        const bool changes = operation.changes || change_g.contains(operation.name);
        EXPECT_EQ(bits, changes ? 0u : wanted.bits & ~kWriteCaching);
        this->state().remove_holder(holder.holder);
      }
    }
  }
  this->expect_consistent();
}

TYPED_TEST(BreakLeasesTest, OnesOwnFilesLeasesHinderNothing) {
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    const Scene s = this->scene();
    OpContext holder;
    holder.holder =
        this->state().add_holder(Protocol::kNative, on_recall([](const LeaseRecall&) { ADD_FAILURE() << "recalled"; }));
    for (const FileId directory : {s.dir, s.elsewhere}) {
      ASSERT_TRUE(grant(this->state(), directory, holder.holder, kFilesAll));
    }
    const Status done = operation.run(this->ns(), holder, s);
    EXPECT_TRUE(done) << describe(done.error());
    this->state().remove_holder(holder.holder);
  }
  this->expect_consistent();
}

TYPED_TEST(BreakLeasesTest, AFileWithTwoNamesIsNotCoveredUntilOneIsLeft) {
  const OpContext other = this->other();
  const Scene s = this->scene();
  ASSERT_TRUE(this->ns().link(other, {s.file, s.elsewhere, "second"}));
  std::vector<LeaseRecall> recalled;
  const HolderId holder =
      this->state().add_holder(Protocol::kNative, on_recall([&](const LeaseRecall& r) { recalled.push_back(r); }));
  const auto lease = grant(this->state(), s.dir, holder, kFilesAll);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(this->ns().setattr(other, {s.file, {.mode = 0600}}));
  EXPECT_TRUE(this->ns().getattr(other, {s.file}));
  EXPECT_TRUE(recalled.empty());
  const auto gone = this->ns().unlink(other, {s.elsewhere, "second"});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Errc::kRecallPending);
  ASSERT_EQ(recalled.size(), 1u);
  EXPECT_EQ(recalled[0].subject, s.file);
  EXPECT_EQ(recalled[0].keeps, 0u);
  this->state().return_lease(*lease);
  EXPECT_TRUE(this->ns().unlink(other, {s.elsewhere, "second"}));
}

TYPED_TEST(BreakLeasesTest, AChangeThatWasCachedNeedsItsLeaseStill) {
  const OpContext other = this->other();
  const Scene s = this->scene();
  OpContext holder;
  holder.holder = this->state().add_holder(Protocol::kNative, nullptr);
  const auto lease = grant(this->state(), s.dir, holder.holder, kFilesAll);
  ASSERT_TRUE(lease);
  const std::span<const std::byte> pieces[] = {bytes_of("new")};
  const auto write = [&](const OpContext& ctx) {
    const auto written = this->ns().write(ctx, {s.file, 0, pieces});
    return written ? Errc{} : written.error().code;
  };
  OpContext cached = holder;
  cached.cached_under = lease;
  EXPECT_EQ(write(cached), Errc{});
  OpContext stranger = other;
  stranger.cached_under = lease;
  EXPECT_EQ(write(stranger), Errc::kLeaseLost) << "it is the lease of somebody else";
  ASSERT_TRUE(this->state().acknowledge(*lease, kReadCaching | kHandleCaching));
  EXPECT_EQ(write(cached), Errc::kLeaseLost) << "no write caching";
  EXPECT_EQ(write(holder), Errc{});
  this->state().return_lease(*lease);
  const std::string before = this->snapshot(s, holder);
  EXPECT_EQ(write(cached), Errc::kLeaseLost);
  const auto cut = this->ns().setattr(cached, {s.file, {.size = 1}});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Errc::kLeaseLost);
  EXPECT_EQ(this->snapshot(s, holder), before);
}

TYPED_TEST(BreakLeasesTest, WhateverTakesANameRecallsHandleLeasesAndNothingElseDoes) {
  using enum Touches;
  const OpContext other = this->other();
  const std::map<std::string, std::vector<Touches>> takes{{"unlink", {kFile}},
                                                          {"rmdir", {kSub}},
                                                          {"rename", {kFile}},
                                                          {"rename over it", {kFile, kOther}},
                                                          {"rename to another directory", {kFile}},
                                                          {"rename of a directory", {kSub}},
                                                          {"exchange of two names", {kFile, kOther}},
                                                          {"remove_key", {kFile}},
                                                          {"remove_tree", {kSub}}};
  for (const Operation& operation : operations()) {
    for (const Touches what : {kFile, kOther, kDir, kSub, kElsewhere}) {
      SCOPED_TRACE(operation.name + ", handle lease on " + std::to_string(static_cast<int>(what)));
      const auto found = takes.find(operation.name);
      const bool expected = found != takes.end() && std::ranges::find(found->second, what) != found->second.end();
      const Scene s = this->scene();
      std::size_t recalled = 0;
      OpContext holder;
      holder.holder = this->state().add_holder(Protocol::kSmb, on_recall([&](const LeaseRecall&) { ++recalled; }));
      const auto lease = grant(this->state(), this->of(s, what), holder.holder, kKeepsHandle);
      ASSERT_TRUE(lease);
      const std::string before = this->snapshot(s, holder);
      const Status first = operation.run(this->ns(), other, s);
      EXPECT_EQ(recalled, expected ? 1u : 0u);
      if (expected) {
        ASSERT_FALSE(first);
        EXPECT_EQ(first.error().code, Errc::kRecallPending);
        EXPECT_EQ(this->snapshot(s, holder), before);
        this->state().return_lease(*lease);
        EXPECT_TRUE(operation.run(this->ns(), other, s));
      } else {
        EXPECT_TRUE(first) << describe(first.error());
      }
      this->state().remove_holder(holder.holder);
    }
  }
  this->expect_consistent();
}

TYPED_TEST(BreakLeasesTest, MandatoryLocksKeepWhoeverReadsOrWritesContentOut) {
  const OpContext other = this->other();
  const std::set<std::string> reads{"read", "read_slices", "copy_range out of it", "copy_range out of it, shared",
                                    "concatenate from it"};
  const std::set<std::string> writes{"write in place",
                                     "write beyond the end",
                                     "setattr size",
                                     "allocate",
                                     "zero",
                                     "append",
                                     "punch",
                                     "copy_range into it",
                                     "copy_range into it, shared",
                                     "create that truncates",
                                     "open that overwrites",
                                     "put_key",
                                     "concatenate into it"};
  for (const Operation& operation : operations()) {
    for (const bool exclusive : {false, true}) {
      SCOPED_TRACE(operation.name + (exclusive ? ", exclusive lock" : ", shared lock"));
      const Scene s = this->scene();
      OpContext holder;
      holder.holder = this->state().add_holder(Protocol::kSmb, nullptr);
      const auto open = this->state().open({s.file, holder.holder, kShareBoth, kShareNone});
      ASSERT_TRUE(open);
      holder.open = *open;
      const auto locked = this->state().lock_mandatory(*open, {}, exclusive);
      ASSERT_TRUE(locked && !*locked);
      const std::string before = this->snapshot(s, holder);
      const Status first = operation.run(this->ns(), other, s);
      if (writes.contains(operation.name) || (exclusive && reads.contains(operation.name))) {
        ASSERT_FALSE(first);
        EXPECT_EQ(first.error().code, Errc::kLocked);
        EXPECT_EQ(this->snapshot(s, holder), before);
        EXPECT_TRUE(this->state().unlock_mandatory(*open, {}));
        EXPECT_TRUE(operation.run(this->ns(), other, s));
      } else {
        EXPECT_TRUE(first) << describe(first.error());
      }
      this->state().remove_holder(holder.holder);
    }
  }
  this->expect_consistent();
}

TYPED_TEST(BreakLeasesTest, OnesOwnLeasesHinderNothing) {
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    const Scene s = this->scene();
    OpContext holder;
    holder.holder =
        this->state().add_holder(Protocol::kNfs, on_recall([](const LeaseRecall&) { ADD_FAILURE() << "recalled"; }));
    for (const Touches what : operation.touched) {
      ASSERT_TRUE(grant(this->state(), this->of(s, what), holder.holder, kWriteDelegation));
    }
    const Status done = operation.run(this->ns(), holder, s);
    EXPECT_TRUE(done) << describe(done.error());
    this->state().remove_holder(holder.holder);
  }
  this->expect_consistent();
}

TYPED_TEST(BreakLeasesTest, WhatIsRefusedAnywayRecallsNobody) {
  const Scene s = this->scene();
  OpContext holder;
  holder.holder =
      this->state().add_holder(Protocol::kNfs, on_recall([](const LeaseRecall&) { ADD_FAILURE() << "recalled"; }));
  ASSERT_TRUE(grant(this->state(), s.file, holder.holder, kWriteDelegation));
  ASSERT_TRUE(this->ns().setattr(holder, {s.file, {.mode = 0600}}));
  OpContext stranger;
  stranger.cred = Credentials{.uid = 1000, .gid = 1000};
  EXPECT_EQ(this->ns().setattr(stranger, {s.file, {.mode = 0777}}).error().code, Errc::kNotOwner);
  std::vector<std::byte> into(10);
  EXPECT_EQ(this->ns().read(stranger, {s.file, 0, into}).error().code, Errc::kAccess);
  EXPECT_EQ(this->ns().unlink(this->root_, {s.dir, "absent"}).error().code, Errc::kNotFound);
}

TYPED_TEST(BreakLeasesTest, AProtocolThatCannotParkWaitsForTheReturn) {
  const Scene s = this->scene();
  std::thread client;
  OpContext holder;
  holder.holder = this->state().add_holder(Protocol::kNfs, on_recall([&](const LeaseRecall& recall) {
                                             client = std::thread([&, lease = recall.lease, file = recall.file] {
                                               // Its cached data comes first.
                                               const std::span<const std::byte> pieces[] = {bytes_of("cached")};
                                               EXPECT_TRUE(this->ns().write(holder, {file, 0, pieces}));
                                               this->state().return_lease(lease);
                                             });
                                           }));
  ASSERT_TRUE(grant(this->state(), s.file, holder.holder, kWriteDelegation));
  OpContext waiting;
  waiting.lease_patience = std::chrono::minutes(1);
  std::string text(6, '?');
  const auto got = this->ns().read(waiting, {s.file, 0, std::as_writable_bytes(std::span(text))});
  client.join();
  ASSERT_TRUE(got) << describe(got.error());
  EXPECT_EQ(text, "cached");
}

TYPED_TEST(BreakLeasesTest, AClientThatDoesNotAnswerHindersForALimitedTimeOnly) {
  this->options_.lease_recall_timeout_ms = 1;
  this->reopen();
  const Scene s = this->scene();
  const HolderId silent = this->state().add_holder(Protocol::kNfs, nullptr);
  const auto lease = grant(this->state(), s.file, silent, kWriteDelegation);
  ASSERT_TRUE(lease);
  OpContext waiting;
  waiting.lease_patience = std::chrono::minutes(1);
  EXPECT_TRUE(this->ns().put_key(waiting, {.root = s.dir, .key = "f", .bytes = bytes_of("object")}));
  EXPECT_TRUE(this->state().lease_revoked(*lease));
}

}  // namespace
}  // namespace stoa::core::test

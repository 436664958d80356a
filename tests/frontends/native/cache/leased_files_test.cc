// Opens that the server does not know, and content through them.
#include "tests/frontends/native/cache/leased_fixture.h"

namespace stoa::native {
namespace {

// Content that is buffered above the leases: which files' was asked to be written, and forgotten.
class SettledFiles : public KeptUnderLeases {
 public:
  void write_back(const HeldLease&, core::FileId file) override { written.insert(file); }
  void forget(const HeldLease&, core::FileId file) override { forgotten.insert(file); }
  void lose(const HeldLease&) override {}

  std::set<core::FileId> written, forgotten;
};

class LeasedFiles : public LeasedFixture {
 protected:
  // A file with content, looked up, in a directory of its own.
  core::FileId known_file(std::uint32_t mode = 0644) {
    dir_ = make_dir("d");
    const core::FileId file = make_file("f", mode, dir_);
    EXPECT_TRUE(other().write(root, file, 0, 0, bytes("content"), {}));
    EXPECT_TRUE(leased().lookup(root, dir_, "f"));
    return file;
  }
  core::FileId dir_ = core::kNoFile;
};

TEST_F(LeasedFiles, AnOpenUnderALeaseIsMadeHere) {
  const core::FileId file = known_file();
  EXPECT_EQ(calls_of([&] { leased().close(root, leased().open(root, {.id = file})->open); }), 0);
  // Another user's rights are not known yet, but for those that everybody has.
  EXPECT_EQ(calls_of([&] { leased().close(ann, leased().open(ann, {.id = file})->open); }), 0);
  const auto to_write = [&] { EXPECT_FALSE(leased().open(ann, {.id = file, .access = core::kShareBoth})); };
  EXPECT_EQ(calls_of(to_write), 2);  // the rights, and the server's own word
  EXPECT_EQ(calls_of(to_write), 1);
  server().opened = 0;
  EXPECT_EQ(server().opened, 0);
  const auto open = leased().open(root, {.id = file});
  ASSERT_TRUE(open);
  EXPECT_EQ(open->attr.size, 7u);
  EXPECT_EQ(text_of(leased(), root, file, open->open), "content");
  EXPECT_EQ(leased().stats().local_opens, 1u);
  leased().close(root, open->open);
  EXPECT_EQ(leased().stats().local_opens, 0u);
}

TEST_F(LeasedFiles, RightsAreThoseOfTheOpener) {
  const core::FileId file = known_file(0600);
  ASSERT_TRUE(leased().open(root, {.id = file}));
  EXPECT_EQ(leased().open(ann, {.id = file}).error().code, Errc::kAccess);
  EXPECT_EQ(leased().open(ann, {.id = file, .access = core::kShareWrite}).error().code, Errc::kAccess);
}

TEST_F(LeasedFiles, OnlyFilesAreOpenedHere) {
  const core::FileId dir = make_dir("e");
  ASSERT_FALSE(leased().lookup(root, dir, "x"));
  EXPECT_EQ(leased().open(root, {.id = dir}).error().code, Errc::kIsDirectory);
}

TEST_F(LeasedFiles, AllLeasesAreGivenBackUntilTheyAreAskedForAgain) {
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(10); };
  const core::FileId file = known_file();
  const auto open = leased().open(root, {.id = file});
  ASSERT_TRUE(open);
  {
    // What the kernel is just being told holds its lease.
    const auto pin = leased().pin_since(leased().ticket(), file, core::kReadCaching);
    ASSERT_TRUE(pin);
    EXPECT_EQ(leased().give_all_back(std::chrono::steady_clock::now()).error().code, Errc::kTimeout);
  }
  ASSERT_TRUE(leased().give_all_back(soon()));
  EXPECT_EQ(leased().stats().cache.leases, 0u);
  EXPECT_EQ(server().opened, 1);
  EXPECT_TRUE(leased().local_opens().empty());
  EXPECT_EQ(text_of(leased(), root, file, open->open), "content");
  EXPECT_GT(calls_of([&] { (void)leased().lookup(root, dir_, "f"); }), 0);
  EXPECT_GT(calls_of([&] { (void)leased().lookup(root, dir_, "f"); }), 0);
  EXPECT_EQ(leased().stats().cache.leases, 0u);
  leased().ask_again();
  ASSERT_TRUE(leased().lookup(root, dir_, "f"));
  EXPECT_EQ(calls_of([&] { (void)leased().lookup(root, dir_, "f"); }), 0);
}

TEST_F(LeasedFiles, AnOpenThatTheServerDoesNotKnowGoesToTheNextProcess) {
  const core::FileId file = known_file();
  const OpenNumber number = 12345;
  leased().restore({.number = number, .file = file, .cred = root.cred, .access = core::kShareRead});
  const auto opens = leased().local_opens();
  ASSERT_EQ(opens.size(), 1u);
  EXPECT_EQ(opens[0].number, number);
  EXPECT_EQ(opens[0].file, file);
  EXPECT_EQ(text_of(leased(), root, file, number), "content");
  leased().close(root, number);
  EXPECT_TRUE(leased().local_opens().empty());
  EXPECT_EQ(server().opened, 0);
}

TEST_F(LeasedFiles, ARecallMakesOpensReal) {
  const core::FileId file = known_file();
  const auto first = leased().open(root, {.id = file, .access = core::kShareBoth});
  const auto second = leased().open(ann, {.id = file});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(server().opened, 0);
  EXPECT_EQ(recall(dir_, core::kReadCaching, core::RecallReason::kName), core::kReadCaching);
  EXPECT_EQ(server().opened, 2);
  // Others take the name and the rights: what is open stays so.
  ASSERT_TRUE(other().setattr(root, file, 0, {.mode = 0}));
  ASSERT_TRUE(other().unlink(root, {.parent = dir_, .name = "f"}));
  EXPECT_EQ(text_of(leased(), ann, file, second->open), "content");
  EXPECT_TRUE(leased().write(root, file, first->open, 0, bytes("C"), {}));
  EXPECT_EQ(text_of(leased(), ann, file, second->open), "Content");
  leased().close(ann, second->open);
  leased().close(root, first->open);
  EXPECT_FALSE(leased().getattr(root, file));
}

TEST_F(LeasedFiles, AnUnlinkOfOnesOwnLeavesOpenFiles) {
  const core::FileId file = known_file();
  const auto open = leased().open(ann, {.id = file});
  ASSERT_TRUE(open);
  ASSERT_TRUE(leased().unlink(root, {.parent = dir_, .name = "f"}));
  EXPECT_EQ(text_of(leased(), ann, file, open->open), "content");
  leased().close(ann, open->open);
  EXPECT_FALSE(leased().getattr(root, file));
}

// A create that was refused, or whose answer was lost, leaves a name of which nothing is known.
TEST_F(LeasedFiles, AnUnlinkOfANameThatHasBecomeUnknownSettlesTheFileThatItMayBe) {
  for (const bool answered : {true, false}) {
    SCOPED_TRACE(answered);
    const core::FileId dir = make_dir(answered ? "refused" : "lost");
    const core::FileId file = make_file("f", 0644, dir);
    ASSERT_TRUE(other().write(root, file, 0, 0, bytes("content"), {}));
    ASSERT_TRUE(leased().lookup(root, dir, "f"));
    const auto open = leased().open(ann, {.id = file});
    ASSERT_TRUE(open);
    ASSERT_TRUE(leased().pin(file, core::kReadCaching));
    if (!answered) server().loses_reply_of_create = true;
    const auto made = leased().create(root, {.parent = dir, .name = "f", .mode = core::CreateMode::kGuarded});
    EXPECT_EQ(made.error().code, answered ? Errc::kExists : Errc::kIo);

    SettledFiles settled;
    leased().set_kept(&settled);
    const int opened = server().opened;
    ASSERT_TRUE(leased().unlink(root, {.parent = dir, .name = "f"}));
    leased().set_kept(nullptr);
    EXPECT_EQ(server().opened, opened + 1) << "before the name goes";
    EXPECT_EQ(settled.written, std::set{file});
    EXPECT_EQ(settled.forgotten, std::set{file});
    EXPECT_FALSE(leased().pin(file, core::kReadCaching));
    EXPECT_EQ(leased().getattr(ann, file)->links, 0u) << "what was kept of it is forgotten";
    EXPECT_EQ(text_of(leased(), ann, file, open->open), "content");
    leased().close(ann, open->open);
    EXPECT_FALSE(leased().getattr(root, file));
  }
}

TEST_F(LeasedFiles, SoDoesARenameFromOrOverSuchAName) {
  for (const bool over : {true, false}) {
    SCOPED_TRACE(over);
    const core::FileId dir = make_dir(over ? "over" : "from");
    const core::FileId file = make_file("f", 0644, dir);
    make_file("g");
    ASSERT_TRUE(leased().lookup(root, dir, "f"));
    ASSERT_FALSE(leased().create(root, {.parent = dir, .name = "f", .mode = core::CreateMode::kGuarded}));
    SettledFiles settled;
    leased().set_kept(&settled);
    if (over) {
      ASSERT_TRUE(
          leased().rename(root, {.from_parent = core::kRootId, .from_name = "g", .to_parent = dir, .to_name = "f"}));
    } else {
      ASSERT_TRUE(
          leased().rename(root, {.from_parent = dir, .from_name = "f", .to_parent = core::kRootId, .to_name = "h"}));
    }
    leased().set_kept(nullptr);
    EXPECT_TRUE(settled.forgotten.contains(file));
    EXPECT_FALSE(leased().pin(file, core::kReadCaching));
  }
}

TEST_F(LeasedFiles, SoDoesARenameOverIt) {
  const core::FileId file = known_file();
  make_file("g", 0644, dir_);
  const auto open = leased().open(ann, {.id = file});
  ASSERT_TRUE(open);
  ASSERT_TRUE(leased().rename(root, {.from_parent = dir_, .from_name = "g", .to_parent = dir_, .to_name = "f"}));
  EXPECT_EQ(text_of(leased(), ann, file, open->open), "content");
}

TEST_F(LeasedFiles, AChmodOfOnesOwnLeavesTheRightsOfOpenFiles) {
  const core::FileId file = known_file();
  const auto open = leased().open(ann, {.id = file});
  ASSERT_TRUE(open);
  ASSERT_TRUE(leased().setattr(root, file, 0, {.mode = 0600}));
  EXPECT_EQ(text_of(leased(), ann, file, open->open), "content");
  EXPECT_EQ(leased().open(ann, {.id = file}).error().code, Errc::kAccess);
}

TEST_F(LeasedFiles, SoDoesAnAclButNoOtherAttribute) {
  const core::FileId file = known_file();
  ASSERT_TRUE(leased().open(ann, {.id = file}));
  ASSERT_TRUE(leased().set_xattr(root, {.id = file, .name = "user.a", .value = "1"}));
  EXPECT_EQ(server().opened, 0);
  (void)leased().set_xattr(root, {.id = file, .name = "system.posix_acl_access", .value = ""});
  EXPECT_EQ(server().opened, 1) << "before the rights change";
  ASSERT_TRUE(leased().getattr(root, file));
  ASSERT_TRUE(leased().open(ann, {.id = file}));
  (void)leased().remove_xattr(root, {.id = file, .name = "system.posix_acl_default"});
  EXPECT_EQ(server().opened, 2);
}

TEST_F(LeasedFiles, ALockMakesAnOpenReal) {
  const core::FileId file = known_file();
  const auto open = leased().open(root, {.id = file, .access = core::kShareBoth});
  ASSERT_TRUE(open);
  ASSERT_TRUE(leased().lock(root, {.file = file, .owner = 1, .range = {0, 1}, .exclusive = true}, false));
  EXPECT_EQ(server().opened, 1);
}

TEST_F(LeasedFiles, WritesOfManyFilesGoThroughLocalOpens) {
  const core::FileId file = known_file();
  const auto open = leased().open(root, {.id = file, .access = core::kShareWrite});
  ASSERT_TRUE(open);
  const std::array<StorageWrite, 2> writes{
      StorageWrite{.id = file, .open = open->open, .offset = 0, .data = bytes("a")},
      StorageWrite{.id = file, .open = open->open, .offset = 1, .data = bytes("b"), .closes = true}};
  const auto results = leased().write_all(root, writes);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0] && results[1]);
  EXPECT_EQ(leased().stats().local_opens, 0u);
  EXPECT_EQ(text_of(other(), root, file, 0), "abntent");
}

TEST_F(LeasedFiles, ALostLeaseMakesOpensReal) {
  const core::FileId file = known_file();
  const auto open = leased().open(root, {.id = file});
  ASSERT_TRUE(open);
  leased().lease_lost(server().lease_of(dir_));
  while (leased().stats().local_opens != 0) std::this_thread::yield();
  EXPECT_EQ(server().opened, 1);
  EXPECT_EQ(text_of(leased(), root, file, open->open), "content");
}

}  // namespace
}  // namespace stoa::native

// Names and attributes that are answered under leases.
#include "tests/frontends/native/cache/leased_fixture.h"

namespace stoa::native {
namespace {

class LeasedNames : public LeasedFixture {};

TEST_F(LeasedNames, ANameIsAskedForOnce) {
  const core::FileId file = make_file("f");
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(root, core::kRootId, "f")->id, file); }), 1);
  EXPECT_EQ(server().wishes, 1);
  EXPECT_EQ(calls_of([&] {
              EXPECT_EQ(leased().lookup(root, core::kRootId, "f")->id, file);
              EXPECT_EQ(leased().getattr(root, file)->id, file);
            }),
            0);
  EXPECT_EQ(server().wishes, 1);
}

TEST_F(LeasedNames, ThatANameIsNotThereIsKnown) {
  EXPECT_EQ(leased().lookup(root, core::kRootId, "f").error().code, Errc::kNotFound);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(root, core::kRootId, "f").error().code, Errc::kNotFound); }), 0);
  recall(core::kRootId);
  make_file("f");
  EXPECT_TRUE(leased().lookup(root, core::kRootId, "f"));
}

TEST_F(LeasedNames, TheNamesOfASmallDirectoryAreLearntWithTheFirstThatIsNotThere) {
  const core::FileId dir = make_dir("d");
  for (int i = 0; i < 10; ++i) make_file("f" + std::to_string(i), 0644, dir);
  EXPECT_EQ(calls_of([&] { EXPECT_FALSE(leased().lookup(root, dir, "x")); }), 2);
  EXPECT_EQ(calls_of([&] {
              EXPECT_EQ(leased().lookup(root, dir, "y").error().code, Errc::kNotFound);
              EXPECT_EQ(leased().lookup(root, dir, "f").error().code, Errc::kNotFound);
            }),
            0);
  // What this client makes and removes keeps the directory known.
  ASSERT_TRUE(leased().create(root, {.parent = dir, .name = "y", .mode = core::CreateMode::kGuarded}));
  ASSERT_TRUE(leased().unlink(root, {.parent = dir, .name = "f3"}));
  EXPECT_EQ(calls_of([&] {
              EXPECT_TRUE(leased().lookup(root, dir, "y"));
              EXPECT_EQ(leased().lookup(root, dir, "f3").error().code, Errc::kNotFound);
              EXPECT_EQ(leased().lookup(root, dir, "z").error().code, Errc::kNotFound);
            }),
            0);
  recall(dir);
  make_file("z", 0644, dir);
  EXPECT_TRUE(leased().lookup(root, dir, "z"));
}

TEST_F(LeasedNames, TheNamesOfALargeDirectoryAreNotLearntSo) {
  const core::FileId dir = make_dir("d");
  for (int i = 0; i < 300; ++i) make_file("f" + std::to_string(i), 0644, dir);
  const auto absent = [&](int i) { return leased().lookup(root, dir, "x" + std::to_string(i)); };
  const int calls = calls_of([&] {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(absent(i).error().code, Errc::kNotFound);
  });
  EXPECT_EQ(calls, 20 + 3) << "it is tried three times";
  EXPECT_TRUE(leased().lookup(root, dir, "f299"));
}

TEST_F(LeasedNames, WhoAsksForManyNamesLearnsTheirNeighbours) {
  const core::FileId dir = make_dir("d");
  constexpr int kFiles = 1000;
  const auto name = [](int i) { return "f" + std::to_string(1000 + i); };
  for (int i = 0; i < kFiles; ++i) make_file(name(i), 0644, dir);
  int calls = calls_of([&] {
    for (int i = 0; i < kFiles; ++i) EXPECT_TRUE(leased().lookup(root, dir, name(i)));
  });
  EXPECT_LT(calls, 100);
  // Who may open what everybody may read is known, too.
  calls = calls_of([&] {
    for (int i = 500; i < kFiles; ++i) {
      const auto file = leased().lookup(bob, dir, name(i));
      ASSERT_TRUE(file);
      const auto open = leased().open(bob, {.id = file->id});
      ASSERT_TRUE(open);
      leased().close(bob, open->open);
      EXPECT_EQ(leased().open(bob, {.id = file->id, .access = core::kShareWrite}).error().code, Errc::kAccess);
    }
  });
  EXPECT_LT(calls, 3 * kFiles / 2);
  recall(dir);
  ASSERT_TRUE(other().unlink(root, {.parent = dir, .name = name(7)}));
  EXPECT_EQ(leased().lookup(root, dir, name(7)).error().code, Errc::kNotFound);
}

TEST_F(LeasedNames, FewLookUpsInALargeDirectoryDoNotListIt) {
  const core::FileId dir = make_dir("d");
  for (int i = 0; i < 3000; ++i) make_file("f" + std::to_string(i), 0644, dir);
  const int calls = calls_of([&] {
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(leased().lookup(root, dir, "f" + std::to_string(i * 400)));
  });
  EXPECT_EQ(calls, 7);
}

TEST_F(LeasedNames, WhoMayNotListADirectoryLearnsWhatIsNotThereOneByOne) {
  const core::FileId dir = make_dir("d", 0711);
  EXPECT_EQ(leased().lookup(ann, dir, "x").error().code, Errc::kNotFound);
  EXPECT_EQ(leased().lookup(ann, dir, "y").error().code, Errc::kNotFound);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(ann, dir, "x").error().code, Errc::kNotFound); }), 0);
}

TEST_F(LeasedNames, ThatAFileHasNoCapabilitiesIsAskedForOnce) {
  const core::FileId dir = make_dir("d");
  const core::FileId file = make_file("f", 0755, dir);
  ASSERT_TRUE(leased().lookup(root, dir, "f"));
  const auto ask = [&](core::FileId id) { return leased().get_xattr(ann, {.id = id, .name = "security.capability"}); };
  const auto expect = [&](core::FileId id, int calls, Errc error) {
    EXPECT_EQ(calls_of([&] {
                const auto value = ask(id);
                EXPECT_EQ(value ? Errc{} : value.error().code, error);
              }),
              calls);
  };
  expect(file, 1, Errc::kNoAttribute);
  expect(file, 0, Errc::kNoAttribute);
  // A write changes nothing about it; another name is another matter.
  ASSERT_TRUE(leased().write(root, file, 0, 0, bytes("12345"), {}));
  expect(file, 0, Errc::kNoAttribute);
  EXPECT_EQ(calls_of([&] { EXPECT_FALSE(leased().get_xattr(ann, {.id = file, .name = "user.x"})); }), 1);
  // A file that this client has just made has none.
  const auto made = leased().open(
      root,
      {.parent = dir, .name = "new", .disposition = core::OpenDisposition::kOpenOrCreate, .access = core::kShareBoth});
  ASSERT_TRUE(made);
  expect(made->attr.id, 0, Errc::kNoAttribute);
  leased().close(root, made->open);
  // One that was there before may have some.
  make_file("old", 0755, make_dir("e"));
  const auto old = leased().open(root, {.parent = leased().lookup(root, core::kRootId, "e")->id,
                                        .name = "old",
                                        .disposition = core::OpenDisposition::kOpenOrCreate});
  ASSERT_TRUE(old);
  expect(old->attr.id, 1, Errc::kNoAttribute);
  leased().close(root, old->open);

  ASSERT_TRUE(leased().set_xattr(root, {.id = file, .name = "security.capability", .value = "own"}));
  expect(file, 1, Errc{});
  ASSERT_TRUE(leased().remove_xattr(root, {.id = file, .name = "security.capability"}));
  expect(file, 1, Errc::kNoAttribute);
  recall(dir);
  ASSERT_TRUE(other().set_xattr(root, {.id = file, .name = "security.capability", .value = "others"}));
  EXPECT_EQ(ask(file).value_or(""), "others");
}

TEST_F(LeasedNames, ThatAFileHasNoAclIsToldByItsAttributes) {
  const core::FileId dir = make_dir("d");
  const core::FileId file = make_file("f", 0644, dir);
  ASSERT_TRUE(leased().lookup(root, dir, "f"));
  EXPECT_EQ(calls_of([&] {
              const auto acl = leased().get_xattr(ann, {.id = file, .name = "system.posix_acl_access"});
              ASSERT_FALSE(acl);
              EXPECT_EQ(acl.error().code, Errc::kNoAttribute);
            }),
            0);
  recall(dir);
  core::Acl acl{.entries = {{false, 0, core::kRightReadData, core::AclWho::user(7)}}};
  ASSERT_TRUE(other().setattr(root, file, 0, {.acl = std::make_shared<const core::Acl>(acl)}));
  ASSERT_TRUE(leased().lookup(root, dir, "f")->has_acl);
  EXPECT_EQ(calls_of([&] { (void)leased().get_xattr(ann, {.id = file, .name = "system.posix_acl_access"}); }), 1);
}

TEST_F(LeasedNames, WhoMayNoLongerSearchADirectoryFindsNoNameInTheKernel) {
  const core::FileId dir = make_dir("d", 0755);
  const core::FileId file = make_file("f", 0644, dir);
  ASSERT_TRUE(leased().lookup(root, dir, "f"));
  EXPECT_TRUE(leased().everybody_searches(dir));
  EXPECT_TRUE(leased().known_entry(dir, "f", file).name);
  EXPECT_FALSE(leased().known_entry(dir, "f", dir).name);
  EXPECT_FALSE(leased().known_entry(dir, "g", core::kNoFile).name);
  const std::uint64_t lease = server().lease_of(dir);
  ASSERT_TRUE(leased().setattr(root, dir, 0, {.mode = 0711}));
  EXPECT_EQ(server().lease_of(dir), lease);
  EXPECT_FALSE(server().is_acknowledged(lease)) << "everybody searches it as before";
  ASSERT_TRUE(leased().setattr(root, dir, 0, {.mode = 0750}));
  EXPECT_FALSE(leased().everybody_searches(dir));
  server().wait_for_return(lease);  // which ends the names in the kernel
  ASSERT_TRUE(leased().lookup(root, dir, "f"));
  EXPECT_FALSE(leased().everybody_searches(dir));
}

TEST_F(LeasedNames, AListedDirectoryIsKnownAsAWhole) {
  const core::FileId dir = make_dir("d");
  for (int i = 0; i < 10; ++i) make_file("f" + std::to_string(i), 0644, dir);
  ASSERT_TRUE(leased().lookup(root, dir, "f0"));
  std::vector<std::string> first, again;
  const auto list = [&](std::vector<std::string>& names) {
    std::uint64_t cookie = 0;
    for (bool end = false; !end;) {
      auto piece = leased().readdir(root, {.dir = dir, .cookie = cookie, .entries_max = 3, .want_attributes = true});
      ASSERT_TRUE(piece);
      for (const auto& entry : piece->entries) names.push_back(entry.name), cookie = entry.cookie;
      end = piece->end;
    }
  };
  list(first);
  EXPECT_EQ(first.size(), 12u);
  EXPECT_EQ(calls_of([&] {
              for (int i = 0; i < 10; ++i) EXPECT_TRUE(leased().lookup(root, dir, "f" + std::to_string(i)));
              EXPECT_EQ(leased().lookup(root, dir, "g").error().code, Errc::kNotFound);
              list(again);
            }),
            0);
  EXPECT_EQ(first, again);
  // Names with a dot may be there without being listed.
  EXPECT_EQ(calls_of([&] { EXPECT_FALSE(leased().lookup(root, dir, ".recycle")); }), 1);
}

TEST_F(LeasedNames, WithoutTrustTheServerIsAsked) {
  make_file("f");
  ASSERT_TRUE(leased().lookup(root, core::kRootId, "f"));
  server().trusts = false;
  EXPECT_EQ(calls_of([&] { EXPECT_TRUE(leased().lookup(root, core::kRootId, "f")); }), 1);
  EXPECT_FALSE(leased().pin(core::kRootId, core::kReadCaching));
  server().trusts = true;
  EXPECT_EQ(calls_of([&] { EXPECT_TRUE(leased().lookup(root, core::kRootId, "f")); }), 0);
}

TEST_F(LeasedNames, ARefusalIsNotFollowedByAnotherWish) {
  server().grants = 0;
  make_file("f");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(leased().lookup(root, core::kRootId, "f"));
  EXPECT_EQ(server().wishes, 1);
}

TEST_F(LeasedNames, APauseEnds) {
  make({.pause = std::chrono::milliseconds(0)});
  server().grants = 0;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(leased().lookup(root, core::kRootId, "f"));
  EXPECT_EQ(server().wishes, 3);
}

TEST_F(LeasedNames, WhatARecallOvertakesIsNotKept) {
  make({.pause = std::chrono::milliseconds(0)});
  const core::FileId file = make_file("f");
  ASSERT_FALSE(leased().lookup(root, core::kRootId, "g"));
  server().before_reply = [&] {
    server().before_reply = {};
    recall(core::kRootId);
    ASSERT_TRUE(other().unlink(root, {.parent = core::kRootId, .name = "f"}));
  };
  EXPECT_EQ(leased().lookup(root, core::kRootId, "f")->id, file);  // as it was when the server ran it
  EXPECT_EQ(leased().lookup(root, core::kRootId, "f").error().code, Errc::kNotFound);
}

TEST_F(LeasedNames, ALeaseThatIsRecalledBeforeItsGrantIsKnownIsGivenBack) {
  make_file("f");
  server().before_reply = [&] {
    server().before_reply = {};
    leased().lease_recalled({.lease = server().lease_of(core::kRootId)});
    while (leased().stats().cache.leases == 0) std::this_thread::yield();
  };
  EXPECT_TRUE(leased().lookup(root, core::kRootId, "f"));
  const std::uint64_t lease = server().lease_of(core::kRootId);
  // Either order of the two threads ends without the lease.
  EXPECT_EQ(server().acknowledged(lease), 0u);
}

TEST_F(LeasedNames, PermissionsAreThoseOfTheAsker) {
  const core::FileId dir = make_dir("d", 0700);
  const core::FileId file = make_file("f", 0644, dir);
  ASSERT_EQ(leased().lookup(root, dir, "f")->id, file);
  ASSERT_TRUE(leased().readdir(root, {.dir = dir}));
  EXPECT_EQ(leased().lookup(ann, dir, "f").error().code, Errc::kAccess);
  EXPECT_EQ(leased().lookup(ann, dir, "g").error().code, Errc::kAccess);
  EXPECT_EQ(leased().readdir(ann, {.dir = dir}).error().code, Errc::kAccess);
  const core::FileId secret = make_file("s", 0600);
  ASSERT_TRUE(leased().lookup(root, core::kRootId, "s"));
  EXPECT_EQ(*leased().access(root, secret, core::kAccessRead), core::kAccessRead);
  EXPECT_EQ(*leased().access(ann, secret, core::kAccessRead), 0u);
  EXPECT_EQ(calls_of([&] {
              EXPECT_EQ(*leased().access(root, secret, core::kAccessRead), core::kAccessRead);
              EXPECT_EQ(*leased().access(ann, secret, core::kAccessRead), 0u);
            }),
            0);
}

TEST_F(LeasedNames, OwnChangesAreKnownAtOnce) {
  const core::FileId dir = make_dir("d");
  ASSERT_FALSE(leased().lookup(root, dir, "x"));
  auto made = leased().create(root, {.parent = dir, .name = "x", .mode = core::CreateMode::kGuarded});
  ASSERT_TRUE(made);
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(root, dir, "x")->id, made->id); }), 0);
  EXPECT_EQ(leased().create(root, {.parent = dir, .name = "x", .mode = core::CreateMode::kGuarded}).error().code,
            Errc::kExists);
  EXPECT_EQ(leased().lookup(root, dir, "x")->id, made->id);
  ASSERT_TRUE(leased().rename(root, {.from_parent = dir, .from_name = "x", .to_parent = dir, .to_name = "y"}));
  EXPECT_EQ(leased().lookup(root, dir, "x").error().code, Errc::kNotFound);
  EXPECT_EQ(leased().lookup(root, dir, "y")->id, made->id);
  ASSERT_TRUE(leased().setattr(root, made->id, 0, {.mode = 0600}));
  EXPECT_EQ(leased().getattr(root, made->id)->mode, 0600u);
  ASSERT_TRUE(leased().write(root, made->id, 0, 0, bytes("12345"), {}));
  EXPECT_EQ(leased().getattr(root, made->id)->size, 5u);
  ASSERT_TRUE(leased().unlink(root, {.parent = dir, .name = "y"}));
  EXPECT_EQ(calls_of([&] { EXPECT_EQ(leased().lookup(root, dir, "y").error().code, Errc::kNotFound); }), 0);
  EXPECT_FALSE(leased().getattr(root, made->id));
}

TEST_F(LeasedNames, TheDirectoryOfAnOwnChangeIsAskedAgain) {
  const core::FileId dir = make_dir("d");
  ASSERT_FALSE(leased().lookup(root, dir, "x"));
  const auto before = leased().getattr(root, dir);
  ASSERT_TRUE(leased().mkdir(root, {.parent = dir, .name = "x"}));
  EXPECT_EQ(leased().getattr(root, dir)->links, before->links + 1);
}

TEST_F(LeasedNames, AFileOfTwoLinksIsNotUnderTheLeaseOfItsDirectory) {
  const core::FileId dir = make_dir("d");
  const core::FileId file = make_file("f", 0644, dir);
  ASSERT_TRUE(leased().lookup(root, dir, "f"));
  EXPECT_TRUE(leased().pin(file, core::kReadCaching));
  ASSERT_TRUE(leased().link(root, {.id = file, .parent = core::kRootId, .name = "g"}));
  EXPECT_FALSE(leased().pin(file, core::kReadCaching));
  EXPECT_EQ(leased().getattr(root, file)->links, 2u);
  ASSERT_TRUE(leased().lookup(root, dir, "f"));
  EXPECT_FALSE(leased().pin(file, core::kReadCaching));
  ASSERT_TRUE(leased().unlink(root, {.parent = core::kRootId, .name = "g"}));
  EXPECT_EQ(leased().lookup(root, dir, "f")->links, 1u);
}

TEST_F(LeasedNames, AFileThatMovesLeavesTheLeaseOfItsDirectory) {
  const core::FileId from = make_dir("from");
  const core::FileId to = make_dir("to");
  const core::FileId file = make_file("f", 0644, from);
  ASSERT_TRUE(leased().lookup(root, from, "f"));
  ASSERT_TRUE(leased().pin(file, core::kReadCaching));
  ASSERT_TRUE(leased().rename(root, {.from_parent = from, .from_name = "f", .to_parent = to, .to_name = "f"}));
  EXPECT_FALSE(leased().pin(file, core::kReadCaching));
  ASSERT_TRUE(leased().lookup(root, to, "f"));
  const auto pin = leased().pin(file, core::kReadCaching);
  ASSERT_TRUE(pin);
  EXPECT_EQ(pin->lease().file, to);
}

TEST_F(LeasedNames, LeasesAndMemoryAreBounded) {
  make({.leases = 4, .bytes = 4096});
  for (int i = 0; i < 40; ++i) {
    const core::FileId dir = make_dir("d" + std::to_string(i));
    for (int j = 0; j < 20; ++j) EXPECT_FALSE(leased().lookup(root, dir, "absent" + std::to_string(j)));
  }
  // They are given back by other threads.
  while (leased().stats().cache.leases > 5) std::this_thread::yield();
  while (leased().stats().cache.bytes > 8192) std::this_thread::yield();
  EXPECT_FALSE(leased().lookup(root, core::kRootId, "absent"));
}

}  // namespace
}  // namespace stoa::native

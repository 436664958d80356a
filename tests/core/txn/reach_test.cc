// Reach is decided by the present tree below the exported directory: ids handed out before are valid as long as that
// holds.
#include <functional>
#include <map>

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class ReachTest : public VolumeTest<Engine> {
 protected:
  ReachTest() {
    shown_ = *this->mkdir(kRootId, "shown");
    hidden_ = *this->mkdir(kRootId, "hidden");
    ctx_.root = shown_;
  }
  void rename(FileId from, std::string_view name, FileId to, std::string_view to_name) {
    const auto moved =
        this->ns().rename({}, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = to_name});
    ASSERT_TRUE(moved) << describe(moved.error());
  }
  void remove(FileId dir, std::string_view name) { ASSERT_TRUE(this->ns().unlink({}, {.parent = dir, .name = name})); }
  void link(FileId file, FileId dir, std::string_view name) {
    ASSERT_TRUE(this->ns().link({}, {.id = file, .parent = dir, .name = name}));
  }
  bool reached(FileId id) {
    const auto found = this->ns().getattr(ctx_, {.id = id});
    EXPECT_TRUE(found || found.error().code == Errc::kStale);
    return found.has_value();
  }
  template <class Reply>
  static bool stale(const Reply& reply) {
    return !reply && reply.error().code == Errc::kStale;
  }
  // Each call that names a file or a directory by its id, with its result for `dir` and for `file` in it.
  std::map<std::string, std::function<bool()>> calls(FileId dir, FileId file, FileId link) {
    Namespace& ns = this->ns();
    const auto& c = ctx_;
    static constexpr std::array<std::byte, 1> kByte{};
    static std::array<std::byte, 1> into{};
    static const std::span<const std::byte> pieces[] = {kByte};
    return {
        {"lookup", [=, &ns] { return stale(ns.lookup(c, {.parent = dir, .name = "f", .root = c.root})); }},
        {"lookup .", [=, &ns] { return stale(ns.lookup(c, {.parent = dir, .name = ".", .root = c.root})); }},
        {"lookup ..", [=, &ns] { return stale(ns.lookup(c, {.parent = dir, .name = "..", .root = c.root})); }},
        {"getattr", [=, &ns] { return stale(ns.getattr(c, {.id = file})); }},
        {"getattr dir", [=, &ns] { return stale(ns.getattr(c, {.id = dir})); }},
        {"get_acl", [=, &ns] { return stale(ns.get_acl(c, {.id = file})); }},
        {"setattr", [=, &ns] { return stale(ns.setattr(c, {.id = file, .set = {.mode = 0600}})); }},
        {"setattr size", [=, &ns] { return stale(ns.setattr(c, {.id = file, .set = {.size = 1}})); }},
        {"access", [=, &ns] { return stale(ns.access(c, {.id = file, .wanted = kAccessRead})); }},
        {"open of a file", [=, &ns] { return stale(ns.open(c, {.id = file})); }},
        {"readlink", [=, &ns] { return stale(ns.readlink(c, {.id = link})); }},
        {"statfs", [=, &ns] { return stale(ns.statfs(c, {.id = dir})); }},
        {"create",
         [=, &ns] { return stale(ns.create(c, {.parent = dir, .name = "f", .mode = CreateMode::kUnchecked})); }},
        {"mkdir", [=, &ns] { return stale(ns.mkdir(c, {.parent = dir, .name = "new d"})); }},
        {"symlink", [=, &ns] { return stale(ns.symlink(c, {.parent = dir, .name = "new s", .target = "t"})); }},
        {"mknod", [=, &ns] { return stale(ns.mknod(c, {.parent = dir, .name = "new p", .type = FileType::kFifo})); }},
        {"link", [=, this, &ns] { return stale(ns.link(c, {.id = file, .parent = shown_, .name = "new l"})); }},
        {"link to", [=, this, &ns] { return stale(ns.link(c, {.id = other_, .parent = dir, .name = "new l"})); }},
        {"unlink", [=, &ns] { return stale(ns.unlink(c, {.parent = dir, .name = "new l"})); }},
        {"rmdir", [=, &ns] { return stale(ns.rmdir(c, {.parent = dir, .name = "new d"})); }},
        {"rename from",
         [=, this, &ns] {
           return stale(ns.rename(c, {.from_parent = dir, .from_name = "f", .to_parent = shown_, .to_name = "taken"}));
         }},
        {"rename to",
         [=, this, &ns] {
           return stale(ns.rename(c, {.from_parent = shown_, .from_name = "taken", .to_parent = dir, .to_name = "f"}));
         }},
        {"readdir", [=, &ns] { return stale(ns.readdir(c, {.dir = dir, .root = c.root})); }},
        {"read", [=, &ns] { return stale(ns.read(c, {.id = file, .offset = 0, .into = into})); }},
        {"read_slices", [=, &ns] { return stale(ns.read_slices(c, {.id = file, .offset = 0, .length = 1})); }},
        {"write", [=, &ns] { return stale(ns.write(c, {.id = file, .offset = 0, .data = pieces})); }},
        {"commit", [=, &ns] { return stale(ns.commit(c, {.id = file})); }},
        {"allocate", [=, &ns] { return stale(ns.allocate(c, {.id = file, .offset = 0, .length = 1})); }},
        {"zero", [=, &ns] { return stale(ns.zero(c, {.id = file, .offset = 0, .length = 1})); }},
        {"punch", [=, &ns] { return stale(ns.punch(c, {.id = file, .offset = 0, .length = 1})); }},
        {"seek", [=, &ns] { return stale(ns.seek(c, {.id = file, .offset = 0, .what = SeekWhat::kData})); }},
        {"copy from",
         [=, this, &ns] {
           return stale(ns.copy_range(c, {.from = file, .from_offset = 0, .to = other_, .to_offset = 0, .length = 1}));
         }},
        {"copy to",
         [=, this, &ns] {
           return stale(ns.copy_range(c, {.from = other_, .from_offset = 0, .to = file, .to_offset = 0, .length = 1}));
         }},
        {"get_xattr", [=, &ns] { return stale(ns.get_xattr(c, {.id = file, .name = "x"})); }},
        {"set_xattr", [=, &ns] { return stale(ns.set_xattr(c, {.id = file, .name = "x", .value = "1"})); }},
        {"list_xattrs", [=, &ns] { return stale(ns.list_xattrs(c, {.id = file})); }},
        {"remove_xattr", [=, &ns] { return stale(ns.remove_xattr(c, {.id = file, .name = "x"})); }},
    };
  }

  FileId shown_{}, hidden_{}, other_{};
  OpContext ctx_;
};
TYPED_TEST_SUITE(ReachTest, Engines);

TYPED_TEST(ReachTest, WhatHasLeftIsStaleForEveryCallAndGoodWhenItIsBack) {
  const FileId a = *this->mkdir(this->shown_, "a"), dir = *this->mkdir(a, "dir"), file = *this->create(dir, "f");
  ASSERT_TRUE(this->write(file, 0, "12"));
  this->other_ = *this->create(this->shown_, "other");
  ASSERT_TRUE(this->write(this->other_, 0, "12"));
  const FileId link = this->ns().symlink({}, {.parent = dir, .name = "s", .target = "t"})->attr.id;
  const auto calls = this->calls(dir, file, link);
  for (const auto& [name, call] : calls) EXPECT_FALSE(call()) << name;
  this->remove(this->shown_, "new l");  // made by one of them
  for (const bool whole : {false, true}) {
    // The directory itself; and one above it.
    this->rename(whole ? this->shown_ : a, whole ? "a" : "dir", this->hidden_, "away");
    for (const auto& [name, call] : calls) EXPECT_TRUE(call()) << name;
    EXPECT_TRUE(this->reached(this->shown_));
    this->rename(this->hidden_, "away", whole ? this->shown_ : a, whole ? "a" : "dir");
    EXPECT_TRUE(this->reached(dir));
    EXPECT_TRUE(this->reached(file));
  }
  this->expect_consistent();
}

TYPED_TEST(ReachTest, AFileIsWithinReachWhileOneOfItsNamesIs) {
  const FileId file = *this->create(this->shown_, "f");
  EXPECT_TRUE(this->reached(file));
  this->link(file, this->hidden_, "l");
  this->rename(this->shown_, "f", this->hidden_, "g");
  EXPECT_FALSE(this->reached(file));
  this->link(file, this->shown_, "back");
  EXPECT_TRUE(this->reached(file)) << "it counts elsewhere";
  this->remove(this->hidden_, "g");
  EXPECT_TRUE(this->reached(file));
  this->remove(this->shown_, "back");
  EXPECT_FALSE(this->reached(file));
  this->rename(this->hidden_, "l", this->shown_, "l");
  EXPECT_TRUE(this->reached(file));
}

TYPED_TEST(ReachTest, EachRootHasItsOwn) {
  const FileId inner = *this->mkdir(this->shown_, "inner"), file = *this->create(inner, "f");
  OpContext within{};
  within.root = inner;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(this->ns().getattr(within, {.id = file}));
    EXPECT_TRUE(this->reached(file));
    EXPECT_FALSE(this->ns().getattr(within, {.id = this->shown_}));
  }
  this->rename(this->shown_, "inner", this->hidden_, "inner");
  EXPECT_TRUE(this->ns().getattr(within, {.id = file})) << "wherever its root goes";
  EXPECT_FALSE(this->reached(file));
  within.root = kRootId;
  EXPECT_TRUE(this->ns().getattr(within, {.id = file}));
  within.root = kMultipartId;
  EXPECT_FALSE(this->ns().getattr(within, {.id = file}));
}

TYPED_TEST(ReachTest, AnOpenFileWithoutANameIsWhereItWas) {
  const FileId file = *this->create(this->shown_, "f");
  const HolderId holder = this->volume_->state().add_holder(Protocol::kNfs, nullptr);
  ASSERT_TRUE(this->volume_->state().open({.file = file, .holder = holder, .access = kShareRead, .deny = kShareNone}));
  this->remove(this->shown_, "f");
  EXPECT_TRUE(this->reached(file));
  OpContext elsewhere{};
  elsewhere.root = this->hidden_;
  EXPECT_FALSE(this->ns().getattr(elsewhere, {.id = file}));
  this->volume_->state().remove_holder(holder);
}

TYPED_TEST(ReachTest, WhatIsRecycledBelowTheRootStaysWithinReach) {
  // A bin that is not counted is charged to the volume, and lies where it lies.
  for (const bool counted : {true, false}) {
    ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = this->shown_, .counted = counted}));
    ASSERT_TRUE(this->volume_->run_purge(wall_now()));
    const FileId dir = *this->mkdir(this->shown_, "d"), file = *this->create(dir, "f");
    this->remove(dir, "f");
    ASSERT_TRUE(this->ns().rmdir({}, {.parent = this->shown_, .name = "d"}));
    OpContext elsewhere{};
    elsewhere.root = this->hidden_;
    for (const bool reopened : {false, true}) {
      if (reopened) this->reopen();
      EXPECT_TRUE(this->reached(file)) << counted << reopened;
      EXPECT_TRUE(this->reached(dir)) << counted << reopened;
      EXPECT_FALSE(this->ns().getattr(elsewhere, {.id = file}));
    }
  }
}

}  // namespace
}  // namespace stoa::core::test

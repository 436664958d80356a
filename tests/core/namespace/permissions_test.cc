// Permission rules where there is no ACL: POSIX.1-2017 4.5 and the functions named at each test.
#include "tests/core/namespace/user.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

constexpr std::uint32_t kAnn = 10, kBob = 11;

class PermissionsTest : public VolumeTest<MemoryEngine> {
 protected:
  // With this owner, group and mode, in a world-writable directory.
  FileId file(std::string_view name, std::uint32_t mode, std::uint32_t uid = kAnn, std::uint32_t gid = 20) {
    const auto made = ns().create({}, {.parent = dir_, .name = name, .set = {.mode = mode, .uid = uid, .gid = gid}});
    EXPECT_TRUE(made);
    return made->attr.id;
  }
  FileId directory(std::string_view name, std::uint32_t mode, std::uint32_t uid = kAnn, std::uint32_t gid = 20) {
    const auto made = ns().mkdir({}, {dir_, name, {.mode = mode, .uid = uid, .gid = gid}});
    EXPECT_TRUE(made);
    return made->attr.id;
  }
  Errc set(FileId id, const SetAttributes& what, const OpContext& ctx) {
    const auto done = ns().setattr(ctx, {.id = id, .set = what});
    return done ? Errc{} : done.error().code;
  }
  Errc write_as(FileId id, const OpContext& ctx) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span("x", 1))};
    const auto done = ns().write(ctx, {id, 0, pieces});
    return done ? Errc{} : done.error().code;
  }
  Attributes attr(FileId id) { return ns().getattr({}, {id})->attr; }
  std::uint32_t mode(FileId id) { return attr(id).mode; }
  template <class Reply>
  static Errc code(const Result<Reply>& reply) {
    return reply ? Errc{} : reply.error().code;
  }

  const FileId dir_ = *mkdir(kRootId, "dir");
};

// chmod: [EPERM] The effective user ID does not match the owner of the file and the process does not have privileges.
TEST_F(PermissionsTest, OnlyTheOwnerChangesTheMode) {
  const FileId f = file("f", 0666);
  EXPECT_EQ(set(f, {.mode = 0600}, user(kBob, 20)), Errc::kNotOwner);
  EXPECT_EQ(set(f, {.mode = 0600}, user(kAnn, 1)), Errc{});
  EXPECT_EQ(set(f, {.mode = 0640}, {}), Errc{});
}

// chmod: if the group ID of a regular file does not match the caller's, S_ISGID shall be cleared without privileges.
TEST_F(PermissionsTest, ChmodByOneOutsideTheGroupClearsSetGid) {
  const FileId f = file("f", 0644);
  EXPECT_EQ(set(f, {.mode = 02755}, user(kAnn, 1)), Errc{});
  EXPECT_EQ(mode(f), 0755u);
  EXPECT_EQ(set(f, {.mode = 02755}, user(kAnn, 1, {20})), Errc{});
  EXPECT_EQ(mode(f), 02755u);
  EXPECT_EQ(set(f, {.mode = 06755}, {}), Errc{});
  EXPECT_EQ(mode(f), 06755u);
}

// chown with _POSIX_CHOWN_RESTRICTED: the owner gives the file to one of its groups; only the superuser gives it away.
TEST_F(PermissionsTest, ChownIsForTheSuperuserAndChgrpForTheOwner) {
  const FileId f = file("f", 0666);
  EXPECT_EQ(set(f, {.uid = kBob}, user(kAnn, 20)), Errc::kNotOwner);
  EXPECT_EQ(set(f, {.gid = 30}, user(kAnn, 20)), Errc::kNotOwner);
  EXPECT_EQ(set(f, {.gid = 30}, user(kBob, 30)), Errc::kNotOwner);
  EXPECT_EQ(set(f, {.uid = kAnn, .gid = 30}, user(kAnn, 20, {30})), Errc{});
  EXPECT_EQ(attr(f).gid, 30u);
  EXPECT_EQ(set(f, {.uid = kBob, .gid = 7}, {}), Errc{});
  EXPECT_EQ(attr(f).uid, kBob);
}

// chown: S_ISUID and S_ISGID of an executable regular file are cleared.
TEST_F(PermissionsTest, ChownClearsSetId) {
  const FileId f = file("f", 06755);
  EXPECT_EQ(set(f, {.gid = 30}, user(kAnn, 20, {30})), Errc{});
  EXPECT_EQ(mode(f), 0755u);
  // S_ISGID without group execution is no right to run as the group.
  const FileId g = file("g", 02644);
  EXPECT_EQ(set(g, {.gid = 30}, user(kAnn, 20, {30})), Errc{});
  EXPECT_EQ(mode(g), 02644u);
}

// write, ftruncate: S_ISUID and S_ISGID are cleared unless the process has privileges.
TEST_F(PermissionsTest, ChangingBytesClearsSetId) {
  const OpContext bob = user(kBob, 20);
  EXPECT_EQ(write_as(file("w", 06777), bob), Errc{});
  EXPECT_EQ(mode(ns().lookup({}, {dir_, "w"})->attr.id), 0777u);
  const FileId cut = file("t", 06777);
  EXPECT_EQ(set(cut, {.size = 100}, bob), Errc{});
  EXPECT_EQ(mode(cut), 0777u);
  const FileId grown = file("a", 06777);
  EXPECT_TRUE(ns().allocate(bob, {grown, 0, 100}));
  EXPECT_EQ(mode(grown), 0777u);
  const FileId shared = file("c", 06777);
  EXPECT_TRUE(ns().copy_range(bob, {.from = cut, .from_offset = 0, .to = shared, .to_offset = 0, .length = 10}));
  EXPECT_EQ(mode(shared), 0777u);
  const FileId replaced = file("r", 06777);
  EXPECT_TRUE(ns().put_key(bob, {.root = dir_, .key = "r", .bytes = std::as_bytes(std::span("abc", 3))}));
  EXPECT_EQ(mode(replaced), 0777u);
  const FileId by_root = file("s", 06777);
  EXPECT_EQ(write_as(by_root, {}), Errc{});
  EXPECT_EQ(mode(by_root), 06777u);
}

// utimensat: only the owner sets arbitrary times; "now" needs write permission only.
TEST_F(PermissionsTest, TimesAreForTheOwnerAndNowForWriters) {
  const FileId f = file("f", 0664);
  const SetAttributes then{.atime = SetTime{.time = {5}}}, now{.mtime = SetTime{.server_time = true}};
  EXPECT_EQ(set(f, then, user(kAnn, 1)), Errc{});
  EXPECT_EQ(set(f, then, user(kBob, 20)), Errc::kNotOwner);
  EXPECT_EQ(set(f, now, user(kBob, 20)), Errc{});
  EXPECT_EQ(set(f, now, user(kBob, 30)), Errc::kAccess);
  // Even where the mode refuses the owner to write.
  const FileId locked = file("locked", 0);
  EXPECT_EQ(set(locked, now, user(kAnn, 1)), Errc{});
}

// open, mkdir: a directory with S_ISGID gives its group to new children, and S_ISGID to directories (as in Linux and
// BSD).
TEST_F(PermissionsTest, SetGidDirectoriesPassOnTheirGroup) {
  const FileId d = directory("d", 02777, kAnn, 50);
  const auto f = ns().create(user(kBob, 20), {.parent = d, .name = "f", .set = {.mode = 0644}});
  EXPECT_EQ(f->attr.gid, 50u);
  EXPECT_EQ(f->attr.mode, 0644u);
  const auto sub = ns().mkdir(user(kBob, 20), {d, "sub", {.mode = 0755}});
  EXPECT_EQ(sub->attr.gid, 50u);
  EXPECT_EQ(sub->attr.mode, 02755u);
  // No user gets a program that runs as a foreign group.
  const auto program = ns().create(user(kBob, 20), {.parent = d, .name = "p", .set = {.mode = 02755}});
  EXPECT_EQ(program->attr.mode, 0755u);
  const auto elsewhere = ns().create(user(kBob, 20), {.parent = dir_, .name = "f", .set = {.mode = 0644}});
  EXPECT_EQ(elsewhere->attr.gid, 20u);
}

// unlink, rmdir, rename: [EPERM] or [EACCES] The S_ISVTX flag is set on the directory, and the caller owns neither.
TEST_F(PermissionsTest, StickyDirectoriesLeaveNamesToTheirOwners) {
  const FileId d = directory("d", 01777, 1, 1);
  const auto in_d = [&](std::string_view name) {
    return ns().create({}, {.parent = d, .name = name, .set = {.mode = 0666, .uid = kAnn}})->attr.id;
  };
  in_d("f");
  in_d("g");
  ASSERT_TRUE(ns().mkdir(user(kAnn, 20), {d, "sub", {.mode = 0777}}));
  const OpContext bob = user(kBob, 20);
  EXPECT_EQ(code(ns().unlink(bob, {d, "f"})), Errc::kNotOwner);
  EXPECT_EQ(code(ns().rmdir(bob, {d, "sub"})), Errc::kNotOwner);
  EXPECT_EQ(code(ns().rename(bob, {d, "f", dir_, "f"})), Errc::kNotOwner);
  ASSERT_TRUE(ns().create(bob, {.parent = d, .name = "own"}));
  EXPECT_EQ(code(ns().rename(bob, {d, "own", d, "f"})), Errc::kNotOwner);  // it would remove "f"
  EXPECT_EQ(code(ns().remove_key(bob, {d, "f"})), Errc::kNotOwner);
  EXPECT_EQ(code(ns().rename(bob, {d, "own", d, "mine"})), Errc{});
  EXPECT_EQ(code(ns().unlink(user(kAnn, 20), {d, "f"})), Errc{});
  EXPECT_EQ(code(ns().unlink(user(1, 1), {d, "g"})), Errc{});  // the directory's owner
}

// [EACCES] Search permission is denied for a component, or write permission is denied on the directory.
TEST_F(PermissionsTest, NamesNeedSearchAndWritePermission) {
  const FileId look = directory("look", 0755), list = directory("list", 0644), blind = directory("blind", 0733);
  const OpContext bob = user(kBob, 30);
  EXPECT_EQ(code(ns().create(bob, {.parent = look, .name = "f"})), Errc::kAccess);
  EXPECT_EQ(code(ns().lookup(bob, {list, "f"})), Errc::kAccess);
  EXPECT_EQ(code(ns().readdir(bob, {.dir = list})), Errc{});
  EXPECT_EQ(code(ns().create(bob, {.parent = blind, .name = "f"})), Errc{});
  EXPECT_EQ(code(ns().readdir(bob, {.dir = blind})), Errc::kAccess);
  const FileId f = file("f", 0666);
  EXPECT_EQ(code(ns().link(bob, {f, look, "l"})), Errc::kAccess);
  EXPECT_EQ(code(ns().link(bob, {f, blind, "l"})), Errc{});
  EXPECT_EQ(code(ns().unlink(bob, {blind, "l"})), Errc{});
  // rename: the ".." of a directory that moves is written.
  directory("moves", 0555, kAnn);
  EXPECT_EQ(code(ns().rename(bob, {dir_, "moves", blind, "moves"})), Errc::kAccess);
  EXPECT_EQ(code(ns().rename(bob, {dir_, "moves", dir_, "renamed"})), Errc{});
}

// mknod: [EPERM] The invoking process does not have privileges and the file type is not FIFO-special.
TEST_F(PermissionsTest, DevicesAreForTheSuperuser) {
  const OpContext bob = user(kBob, 30);
  EXPECT_EQ(code(ns().mknod(bob, {dir_, "dev", FileType::kCharDevice})), Errc::kNotOwner);
  EXPECT_EQ(code(ns().mknod(bob, {dir_, "fifo", FileType::kFifo})), Errc{});
  EXPECT_EQ(code(ns().mknod({}, {dir_, "dev", FileType::kCharDevice})), Errc{});
}

// [EROFS]: for everybody, and before any check of permission.
TEST_F(PermissionsTest, ReadOnlyExportsRefuseTheSuperuserToo) {
  const FileId f = file("f", 0666);
  OpContext ctx;
  ctx.read_only = true;
  EXPECT_EQ(set(f, {.mode = 0600}, ctx), Errc::kReadOnly);
  EXPECT_EQ(set(f, {.acl = std::make_shared<const Acl>()}, ctx), Errc::kReadOnly);
  EXPECT_EQ(write_as(f, ctx), Errc::kReadOnly);
  EXPECT_EQ(code(ns().unlink(ctx, {dir_, "f"})), Errc::kReadOnly);
  EXPECT_EQ(ns().access(ctx, {f, kAccessModify | kAccessExtend | kAccessRead})->granted, kAccessRead + 0u);
}

}  // namespace
}  // namespace stoa::core::test

// LOOKUP, CREATE, MKDIR, SYMLINK, READLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK: results, errors, and the weak cache
// consistency data of both.
#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class NamesTest : public ExportedTest {
 protected:
  // Expects the wcc_data of a change to the root directory: the state before and after.
  void expect_changed(rpc::XdrReader& in, const WireAttributes& before) {
    const WireWcc wcc = read_wcc(in);
    ASSERT_TRUE(wcc.before);
    EXPECT_EQ(wcc.before->size, before.size);
    EXPECT_EQ(wcc.before->mtime, before.mtime);
    EXPECT_EQ(wcc.before->ctime, before.ctime);
    ASSERT_TRUE(wcc.after);
    EXPECT_GT(wcc.after->mtime, before.mtime);
    EXPECT_EQ(wcc.after->ctime, nfs->attributes(root).ctime);
  }
  void expect_unchanged(rpc::XdrReader& in) {
    const WireWcc wcc = read_wcc(in);
    ASSERT_TRUE(wcc.after) << "a failure shows how the directory is now";
    EXPECT_EQ(wcc.after->mtime, nfs->attributes(root).mtime);
  }
};

TEST_F(NamesTest, LookupGivesHandleAndBothAttributes) {
  const Handle file = nfs->create(root, "f");
  NfsResult result = nfs->named(kLookup, root, "f");
  ASSERT_TRUE(result.ok());
  const auto handle = result.in.opaque(64);
  EXPECT_TRUE(std::ranges::equal(handle, file));
  const auto attr = read_post_op(result.in);
  const auto dir = read_post_op(result.in);
  ASSERT_TRUE(attr && dir);
  EXPECT_EQ(attr->fileid, nfs->attributes(file).fileid);
  EXPECT_EQ(dir->fileid, nfs->attributes(root).fileid);
  EXPECT_EQ(result.in.left(), 0u);
}

TEST_F(NamesTest, LookupFailsInTheRightWords) {
  const Handle file = nfs->create(root, "f");
  NfsResult missing = nfs->named(kLookup, root, "nothing");
  EXPECT_EQ(missing.status, NfsStatus::kNoEnt);
  EXPECT_TRUE(read_post_op(missing.in)) << "the directory's attributes come with the failure";
  EXPECT_EQ(missing.in.left(), 0u);
  EXPECT_EQ(nfs->status_of(kLookup, file, "x"), NfsStatus::kNotDir);
  EXPECT_EQ(nfs->status_of(kLookup, root, std::string(256, 'a')), NfsStatus::kNameTooLong);
  EXPECT_EQ(nfs->status_of(kLookup, root, ""), NfsStatus::kAccess);
  EXPECT_EQ(nfs->status_of(kLookup, root, "a/b"), NfsStatus::kAccess);
  EXPECT_EQ(nfs->status_of(kLookup, root, std::string_view("a\0b", 3)), NfsStatus::kAccess);
  EXPECT_EQ(nfs->status_of(kLookup, file, ""), NfsStatus::kNotDir);
}

TEST_F(NamesTest, DotIsTheDirectoryAndDotDotStopsAtTheExport) {
  const Handle sub = nfs->mkdir(root, "sub");
  const Handle deep = nfs->mkdir(sub, "deep");
  EXPECT_EQ(nfs->lookup(sub, "."), sub);
  EXPECT_EQ(nfs->lookup(deep, ".."), sub);
  EXPECT_EQ(nfs->lookup(sub, ".."), root);
  EXPECT_EQ(nfs->lookup(root, ".."), root);
}

TEST_F(NamesTest, CreateTellsTheNewFileAndTheChangedDirectory) {
  const WireAttributes before = nfs->attributes(root);
  NfsResult result = nfs->create_call(root, "f", 1, {.mode = 0600, .uid = 3, .gid = 4});
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result.in.boolean());
  const auto bytes = result.in.opaque(64);
  const Handle handle(bytes.begin(), bytes.end());
  const auto attr = read_post_op(result.in);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->mode, 0600u);
  EXPECT_EQ(attr->uid, 3u);
  EXPECT_EQ(attr->gid, 4u);
  expect_changed(result.in, before);
  EXPECT_EQ(result.in.left(), 0u);
  EXPECT_EQ(nfs->lookup(root, "f"), handle);
}

TEST_F(NamesTest, GuardedCreateRefusesAndUncheckedTakesWhatIsThere) {
  const Handle file = nfs->create(root, "f");
  ASSERT_EQ(nfs->write(file, 0, "data"), NfsStatus::kOk);
  NfsResult guarded = nfs->create_call(root, "f", 1);
  EXPECT_EQ(guarded.status, NfsStatus::kExist);
  expect_unchanged(guarded.in);
  NfsResult unchecked = nfs->create_call(root, "f", 0);
  EXPECT_TRUE(unchecked.ok());
  EXPECT_EQ(nfs->attributes(file).size, 4u);
  EXPECT_TRUE(nfs->create_call(root, "f", 0, {.size = 0}).ok());
  EXPECT_EQ(nfs->attributes(file).size, 0u);
}

TEST_F(NamesTest, ExclusiveCreateIsRecognisedByItsVerifier) {
  NfsResult first = nfs->create_call(root, "f", 2, {}, 0x1122334455667788);
  ASSERT_TRUE(first.ok());
  // Other transactions, so that only the verifier can tell: as after a restart, when the duplicate cache is empty.
  NfsResult replay = nfs->create_call(root, "f", 2, {}, 0x1122334455667788);
  EXPECT_TRUE(replay.ok());
  EXPECT_TRUE(first.in.boolean());
  EXPECT_TRUE(replay.in.boolean());
  EXPECT_TRUE(std::ranges::equal(first.in.opaque(64), replay.in.opaque(64)));
  EXPECT_EQ(nfs->create_call(root, "f", 2, {}, 0x99).status, NfsStatus::kExist);
  EXPECT_EQ(nfs->create_call(root, "f", 1).status, NfsStatus::kExist);
}

TEST_F(NamesTest, CreateFailsInTheRightWords) {
  const Handle file = nfs->create(root, "f");
  EXPECT_EQ(nfs->create_call(root, ".", 0).status, NfsStatus::kExist);
  EXPECT_EQ(nfs->create_call(root, "..", 0).status, NfsStatus::kExist);
  EXPECT_EQ(nfs->create_call(root, "", 0).status, NfsStatus::kAccess);
  EXPECT_EQ(nfs->create_call(root, "a/b", 0).status, NfsStatus::kAccess);
  EXPECT_EQ(nfs->create_call(root, std::string(256, 'x'), 0).status, NfsStatus::kNameTooLong);
  EXPECT_TRUE(nfs->create_call(root, std::string(255, 'x'), 0).ok());
  EXPECT_EQ(nfs->create_call(file, "x", 0).status, NfsStatus::kNotDir);
  EXPECT_EQ(nfs->create_call(root, "x", 3).reply.accept_status, 4u);
  const Handle gone = nfs->mkdir(root, "gone");
  ASSERT_EQ(nfs->status_of(kRmdir, root, "gone"), NfsStatus::kOk);
  EXPECT_EQ(nfs->create_call(gone, "x", 0).status, NfsStatus::kStale);
  EXPECT_EQ(nfs->create_call(gone, ".", 0).status, NfsStatus::kStale);
  const Handle dir = nfs->mkdir(root, "closed", {.mode = 0755});
  NfsCaller other(port, 5, 5);
  EXPECT_EQ(other.create_call(dir, "x", 0).status, NfsStatus::kAccess);
}

TEST_F(NamesTest, AnyByteButSlashAndNulIsAName) {
  std::string odd;
  for (int c = 1; c < 256; ++c) {
    if (c != '/') odd += static_cast<char>(c);
  }
  odd.resize(254);
  const Handle file = nfs->create(root, odd);
  EXPECT_EQ(nfs->lookup(root, odd), file);
  EXPECT_EQ(nfs->names(root), (std::vector<std::string>{".", "..", odd}));
}

TEST_F(NamesTest, MkdirMakesADirectoryOnce) {
  const WireAttributes before = nfs->attributes(root);
  NfsResult made = nfs->mkdir_call(root, "d", {.mode = 0750});
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made.in.boolean());
  made.in.opaque(64);
  const auto attr = read_post_op(made.in);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->type, 2u);
  EXPECT_EQ(attr->links, 2u);
  expect_changed(made.in, before);
  EXPECT_EQ(nfs->attributes(root).links, before.links + 1);
  EXPECT_EQ(nfs->mkdir_call(root, "d").status, NfsStatus::kExist);
  EXPECT_EQ(nfs->mkdir_call(root, "..").status, NfsStatus::kExist);
}

TEST_F(NamesTest, ASymlinkKeepsItsTargetByteForByte) {
  const std::string target = "../some where/\xff\xfe";
  NfsResult made = nfs->symlink_call(root, "s", target);
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made.in.boolean());
  const auto bytes = made.in.opaque(64);
  const Handle link(bytes.begin(), bytes.end());
  NfsResult read = nfs->call(kReadlink, Xdr().opaque(link));
  ASSERT_TRUE(read.ok());
  const auto attr = read_post_op(read.in);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->type, 5u);
  EXPECT_EQ(attr->size, target.size());
  EXPECT_EQ(read.in.string(4096), target);

  NfsResult wrong = nfs->call(kReadlink, Xdr().opaque(root));
  EXPECT_EQ(wrong.status, NfsStatus::kInval);
  EXPECT_TRUE(read_post_op(wrong.in));
  EXPECT_EQ(nfs->symlink_call(root, "t", "").status, NfsStatus::kInval);
  EXPECT_EQ(nfs->symlink_call(root, "t", std::string(4096, 'a')).status, NfsStatus::kNameTooLong);
  EXPECT_TRUE(nfs->symlink_call(root, "t", std::string(4095, 'a')).ok());
  EXPECT_EQ(nfs->symlink_call(root, "t", "x").status, NfsStatus::kExist);
}

TEST_F(NamesTest, MknodMakesEachKindAndRefusesTheOthers) {
  const auto mknod = [&](std::string_view name, std::uint32_t type) {
    Xdr x;
    x.opaque(root).string(name).u32(type);
    if (type == 3 || type == 4 || type == 6 || type == 7) test::put(x, {.mode = 0600});
    if (type == 3 || type == 4) x.u32(8).u32(17);
    return nfs->call(kMknod, x).status;
  };
  for (const std::uint32_t type : {3u, 4u, 6u, 7u}) {
    const std::string name = "n" + std::to_string(type);
    ASSERT_EQ(mknod(name, type), NfsStatus::kOk);
    const WireAttributes attr = nfs->attributes(*nfs->lookup(root, name));
    EXPECT_EQ(attr.type, type);
    EXPECT_EQ(attr.rdev, type <= 4 ? std::uint64_t{8} << 32 | 17 : 0u);
  }
  for (const std::uint32_t type : {1u, 2u, 5u, 8u, 0u}) EXPECT_EQ(mknod("bad", type), NfsStatus::kBadType);
  EXPECT_EQ(mknod("n3", 7), NfsStatus::kExist);
}

TEST_F(NamesTest, RemoveTakesTheNameAway) {
  nfs->create(root, "f");
  const WireAttributes before = nfs->attributes(root);
  NfsResult removed = nfs->named(kRemove, root, "f");
  ASSERT_TRUE(removed.ok());
  expect_changed(removed.in, before);
  EXPECT_EQ(removed.in.left(), 0u);
  NfsResult again = nfs->named(kRemove, root, "f");
  EXPECT_EQ(again.status, NfsStatus::kNoEnt);
  expect_unchanged(again.in);
  nfs->mkdir(root, "d");
  EXPECT_EQ(nfs->status_of(kRemove, root, "d"), NfsStatus::kIsDir);
  EXPECT_EQ(nfs->status_of(kRemove, root, "."), NfsStatus::kIsDir);
}

TEST_F(NamesTest, RmdirTakesOnlyEmptyDirectories) {
  const Handle dir = nfs->mkdir(root, "d");
  nfs->create(dir, "f");
  EXPECT_EQ(nfs->status_of(kRmdir, root, "d"), NfsStatus::kNotEmpty);
  EXPECT_EQ(nfs->status_of(kRmdir, dir, "f"), NfsStatus::kNotDir);
  EXPECT_EQ(nfs->status_of(kRmdir, root, "."), NfsStatus::kInval);
  EXPECT_EQ(nfs->status_of(kRmdir, root, ".."), NfsStatus::kExist);
  ASSERT_EQ(nfs->status_of(kRemove, dir, "f"), NfsStatus::kOk);
  EXPECT_EQ(nfs->status_of(kRmdir, root, "d"), NfsStatus::kOk);
  EXPECT_EQ(nfs->status_of(kRmdir, root, "d"), NfsStatus::kNoEnt);
}

TEST_F(NamesTest, RenameTellsBothDirectories) {
  const Handle from = nfs->mkdir(root, "from");
  const Handle to = nfs->mkdir(root, "to");
  const Handle file = nfs->create(from, "a");
  NfsResult moved = nfs->rename_call(from, "a", to, "b");
  ASSERT_TRUE(moved.ok());
  const WireWcc first = read_wcc(moved.in);
  const WireWcc second = read_wcc(moved.in);
  ASSERT_TRUE(first.before && first.after && second.before && second.after);
  EXPECT_EQ(first.after->fileid, nfs->attributes(from).fileid);
  EXPECT_EQ(second.after->fileid, nfs->attributes(to).fileid);
  EXPECT_EQ(moved.in.left(), 0u);
  EXPECT_EQ(nfs->lookup(to, "b"), file);
  EXPECT_FALSE(nfs->lookup(from, "a"));
}

TEST_F(NamesTest, RenameFailsInTheRightWords) {
  const Handle dir = nfs->mkdir(root, "dir");
  const Handle full = nfs->mkdir(root, "full");
  nfs->create(full, "x");
  nfs->create(root, "file");
  NfsResult missing = nfs->rename_call(root, "nothing", dir, "y");
  EXPECT_EQ(missing.status, NfsStatus::kNoEnt);
  EXPECT_TRUE(read_wcc(missing.in).after);
  EXPECT_TRUE(read_wcc(missing.in).after);
  EXPECT_EQ(missing.in.left(), 0u);
  EXPECT_EQ(nfs->rename_call(root, "dir", root, "full").status, NfsStatus::kNotEmpty);
  EXPECT_EQ(nfs->rename_call(root, "dir", root, "file").status, NfsStatus::kNotDir);
  EXPECT_EQ(nfs->rename_call(root, "file", root, "dir").status, NfsStatus::kIsDir);
  EXPECT_EQ(nfs->rename_call(root, "dir", dir, "inside").status, NfsStatus::kInval) << "into itself";
  EXPECT_EQ(nfs->rename_call(root, ".", root, "x").status, NfsStatus::kInval);
  EXPECT_EQ(nfs->rename_call(root, "file", root, "..").status, NfsStatus::kInval);
  EXPECT_EQ(nfs->rename_call(root, "file", root, "").status, NfsStatus::kAccess);
  EXPECT_EQ(nfs->rename_call(root, "file", root, std::string(256, 'a')).status, NfsStatus::kNameTooLong);
  EXPECT_EQ(nfs->rename_call(root, "file", Bytes(36), "x").status, NfsStatus::kBadHandle);
  EXPECT_TRUE(nfs->rename_call(root, "file", root, "file").ok()) << "to itself: nothing to do";
}

TEST_F(NamesTest, LinkGivesAFileASecondName) {
  const Handle file = nfs->create(root, "a");
  const Handle dir = nfs->mkdir(root, "d");
  const auto link = [&](const Handle& what, const Handle& to, std::string_view name) {
    return nfs->call(kLink, Xdr().opaque(what).opaque(to).string(name));
  };
  NfsResult linked = link(file, dir, "b");
  ASSERT_TRUE(linked.ok());
  const auto attr = read_post_op(linked.in);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->links, 2u);
  EXPECT_TRUE(read_wcc(linked.in).before);
  EXPECT_EQ(linked.in.left(), 0u);
  EXPECT_EQ(nfs->lookup(dir, "b"), file);

  NfsResult taken = link(file, dir, "b");
  EXPECT_EQ(taken.status, NfsStatus::kExist);
  EXPECT_TRUE(read_post_op(taken.in));
  EXPECT_TRUE(read_wcc(taken.in).after);
  EXPECT_EQ(link(dir, root, "c").status, NfsStatus::kInval);
  EXPECT_EQ(link(file, root, "..").status, NfsStatus::kExist);
  EXPECT_EQ(link(file, file, "x").status, NfsStatus::kNotDir);
  EXPECT_EQ(nfs->status_of(kRemove, root, "a"), NfsStatus::kOk);
  EXPECT_EQ(nfs->attributes(file).links, 1u);
}

TEST_F(NamesTest, EveryProcedureAnswersGarbageAndForgedHandles) {
  for (std::uint32_t procedure = 1; procedure <= 21; ++procedure) {
    EXPECT_EQ(nfs->call(procedure, Xdr()).reply.accept_status, 4u) << procedure;
    EXPECT_EQ(nfs->call(procedure, Xdr().u32(~0u)).reply.accept_status, 4u) << procedure;
  }
  const Bytes forged(36, std::byte{1});
  EXPECT_EQ(nfs->create_call(forged, "x", 0).status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->mkdir_call(forged, "x").status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->symlink_call(forged, "x", "y").status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->status_of(kRemove, forged, "x"), NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->status_of(kRmdir, forged, "x"), NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->status_of(kLookup, forged, "x"), NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->rename_call(forged, "x", root, "y").status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->readdir(forged, 0, 0, 4096).status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->read_call(forged, 0, 10).status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->write(forged, 0, "x"), NfsStatus::kBadHandle);
}

TEST_F(NamesTest, NullDoesNothingForAnyVersionOfCredential) {
  CallSpec none{.xid = 5, .program = 100003, .version = 3, .procedure = 0};
  const auto reply = nfs->wire.call(none);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->accept_status, 0u);
  EXPECT_TRUE(reply->results.empty());
  none.version = 4;
  EXPECT_EQ(nfs->wire.call(none)->accept_status, 0u);
  none.version = 2;
  const auto mismatch = nfs->wire.call(none);
  EXPECT_EQ(mismatch->accept_status, 2u);
  EXPECT_EQ(mismatch->low, 3u);
  EXPECT_EQ(mismatch->high, 4u);
}

}  // namespace
}  // namespace stoa::test

// CREATE, LINK, REMOVE, RENAME, READLINK.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

enum : std::uint32_t { kReg = 1, kDir = 2, kBlk = 3, kLnk = 5, kSock = 6, kFifo = 7, kAttrDir = 8 };

class Nfs4Names : public OperationTest {
 protected:
  Nfs4Names() { EXPECT_EQ(put_root(), Nfs4Status::kOk); }
  Nfs4Status create(std::uint32_t type, std::string_view name, const Bytes& attributes = no_attributes()) {
    return run(nfs4::op_create, Xdr().u32(type).string(name).raw(attributes));
  }
  // change_info4: atomic, with the present change attribute of the directory.
  void expect_change(core::FileId dir) {
    EXPECT_TRUE(in.boolean());
    const std::uint64_t before = in.u64();
    const std::uint64_t after = in.u64();
    EXPECT_LT(before, after);
    EXPECT_EQ(after, attributes(dir).change);
  }
  Nfs4Status rename(std::string_view from, std::string_view to) {
    return run(nfs4::op_rename, Xdr().string(from).string(to));
  }
};

TEST_F(Nfs4Names, ANewDirectoryIsCurrentAndHasItsAttributes) {
  ASSERT_EQ(create(kDir, "d", fattr({Attr::kMode, Attr::kOwner}, Xdr().u32(0710).string("7"))), Nfs4Status::kOk);
  expect_change(root);
  EXPECT_EQ(Bitmap::decode(in), (Bitmap{Attr::kMode, Attr::kOwner}));
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(attributes(c->current->ref.id).mode, 0710u);
  EXPECT_EQ(attributes(c->current->ref.id).uid, 7u);
}

TEST_F(Nfs4Names, TheUmaskIsAppliedToTheModeOfANewObject) {
  ASSERT_EQ(create(kDir, "d", fattr({Attr::kModeUmask}, Xdr().u32(0777).u32(027))), Nfs4Status::kOk);
  EXPECT_EQ(attributes(c->current->ref.id).mode, 0750u);
}

TEST_F(Nfs4Names, EveryTypeButTheRegularFileCanBeMade) {
  ASSERT_EQ(run(nfs4::op_create, Xdr().u32(kLnk).string("target").string("l").raw(no_attributes())), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_readlink), Nfs4Status::kOk);
  EXPECT_EQ(in.string(100), "target");
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_create, Xdr().u32(kBlk).u32(8).u32(1).string("b").raw(no_attributes())), Nfs4Status::kOk);
  EXPECT_EQ(attributes(c->current->ref.id).device, (core::DeviceNumber{8, 1}));
  for (const std::uint32_t type : {kSock, kFifo}) {
    ASSERT_EQ(put_root(), Nfs4Status::kOk);
    ASSERT_EQ(create(type, std::to_string(type)), Nfs4Status::kOk);
  }
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  for (const std::uint32_t type : {0u, std::uint32_t{kReg}, std::uint32_t{kAttrDir}, 9u, 77u}) {
    EXPECT_EQ(create(type, "x"), Nfs4Status::kBadType) << type;
  }
}

TEST_F(Nfs4Names, WhatCannotBeMadeIsRefused) {
  make_file("a");
  EXPECT_EQ(create(kDir, "a"), Nfs4Status::kExist);
  EXPECT_EQ(create(kDir, "."), Nfs4Status::kBadName);
  EXPECT_EQ(create(kDir, ""), Nfs4Status::kInval);
  EXPECT_EQ(create(kDir, std::string_view("a\0b", 3)), Nfs4Status::kBadChar);
  EXPECT_EQ(create(kDir, "d", fattr({Attr::kSize}, Xdr().u64(1))), Nfs4Status::kInval);
  EXPECT_EQ(create(kDir, "d", fattr({Attr::kOwner}, Xdr().string("who"))), Nfs4Status::kBadOwner);
  EXPECT_EQ(create(kDir, "d", fattr({Attr::kMode}, Xdr())), Nfs4Status::kBadXdr);
  EXPECT_EQ(run(nfs4::op_create, Xdr().u32(kLnk).string("").string("l").raw(no_attributes())), Nfs4Status::kInval);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  EXPECT_EQ(create(kDir, "d"), Nfs4Status::kNotDir);
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(create(kDir, "d"), Nfs4Status::kRoFs);
}

TEST_F(Nfs4Names, ReadlinkIsForSymlinks) {
  make_file("a");
  EXPECT_EQ(run(nfs4::op_readlink), Nfs4Status::kWrongType);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_readlink), Nfs4Status::kWrongType);
  c->minor = 0;
  EXPECT_EQ(run(nfs4::op_readlink), Nfs4Status::kInval);
}

TEST_F(Nfs4Names, RemoveTakesFilesAndEmptyDirectories) {
  make_file("a");
  const core::FileId dir = make_directory("d");
  ASSERT_TRUE(volume->ns().create({}, {.parent = dir, .name = "in"}));
  ASSERT_EQ(run(nfs4::op_remove, Xdr().string("a")), Nfs4Status::kOk);
  expect_change(root);
  EXPECT_EQ(run(nfs4::op_remove, Xdr().string("a")), Nfs4Status::kNoEnt);
  EXPECT_EQ(run(nfs4::op_remove, Xdr().string("d")), Nfs4Status::kNotEmpty);
  ASSERT_TRUE(volume->ns().unlink({}, {dir, "in"}));
  ASSERT_EQ(run(nfs4::op_remove, Xdr().string("d")), Nfs4Status::kOk);
  expect_change(root);
  EXPECT_EQ(run(nfs4::op_remove, Xdr().string("..")), Nfs4Status::kBadName);
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_remove, Xdr().string("test")), Nfs4Status::kRoFs);
}

TEST_F(Nfs4Names, LinkGivesTheSavedFileAnotherName) {
  const core::FileId file = make_file("a");
  make_directory("d");
  EXPECT_EQ(run(nfs4::op_link, Xdr().string("b")), Nfs4Status::kNoFileHandle);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  save();
  EXPECT_EQ(run(nfs4::op_link, Xdr().string("b")), Nfs4Status::kNotDir);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_link, Xdr().string("b")), Nfs4Status::kOk);
  expect_change(root);
  EXPECT_EQ(attributes(file).links, 2u);
  EXPECT_EQ(run(nfs4::op_link, Xdr().string("b")), Nfs4Status::kExist);
  ASSERT_EQ(lookup("d"), Nfs4Status::kOk);
  save();
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_link, Xdr().string("c")), Nfs4Status::kIsDir);
}

TEST_F(Nfs4Names, RenameMovesBetweenTheSavedAndTheCurrentDirectory) {
  make_file("a");
  const core::FileId dir = make_directory("d");
  save();
  ASSERT_EQ(lookup("d"), Nfs4Status::kOk);
  ASSERT_EQ(rename("a", "b"), Nfs4Status::kOk);
  expect_change(root);
  expect_change(dir);
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(lookup("b"), Nfs4Status::kOk);
}

TEST_F(Nfs4Names, RenameOverWhatDoesNotGiveWaySaysExist) {
  make_file("a");
  const core::FileId dir = make_directory("d");
  make_directory("e");
  ASSERT_TRUE(volume->ns().create({}, {.parent = dir, .name = "in"}));
  save();
  EXPECT_EQ(rename("a", "d"), Nfs4Status::kExist);
  EXPECT_EQ(rename("d", "a"), Nfs4Status::kExist);
  EXPECT_EQ(rename("e", "d"), Nfs4Status::kExist);
  EXPECT_EQ(rename("nothing", "x"), Nfs4Status::kNoEnt);
  EXPECT_EQ(rename("a", "."), Nfs4Status::kBadName);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  EXPECT_EQ(rename("d", "x"), Nfs4Status::kNotDir);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("d"), Nfs4Status::kOk);
  EXPECT_EQ(rename("d", "x"), Nfs4Status::kInval);  // below itself
}

TEST_F(Nfs4Names, NothingLeavesItsExport) {
  make_file("a");
  publish("other", {anyone()});
  begin();
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  save();
  ASSERT_EQ(put_root("other"), Nfs4Status::kOk);
  EXPECT_EQ(rename("a", "a"), Nfs4Status::kXDev);
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(rename("a", "a"), Nfs4Status::kRoFs);
}

}  // namespace
}  // namespace stoa::test

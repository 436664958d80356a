// The current and the saved filehandle, and the pseudo root above the exports.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

class Nfs4Filehandles : public OperationTest {};

TEST_F(Nfs4Filehandles, WithoutOneEveryOperationSaysSo) {
  EXPECT_EQ(run(nfs4::op_getfh), Nfs4Status::kNoFileHandle);
  EXPECT_EQ(run(nfs4::op_savefh), Nfs4Status::kNoFileHandle);
  EXPECT_EQ(run(nfs4::op_lookupp), Nfs4Status::kNoFileHandle);
  EXPECT_EQ(lookup("test"), Nfs4Status::kNoFileHandle);
  EXPECT_EQ(run(nfs4::op_readlink), Nfs4Status::kNoFileHandle);
  EXPECT_EQ(run(nfs4::op_getattr, encoded({Attr::kType})), Nfs4Status::kNoFileHandle);
  EXPECT_EQ(run(nfs4::op_access, Xdr().u32(1)), Nfs4Status::kNoFileHandle);
}

TEST_F(Nfs4Filehandles, NothingSavedCannotBeRestored) {
  EXPECT_EQ(run(nfs4::op_restorefh), Nfs4Status::kNoFileHandle);
  begin(0);
  EXPECT_EQ(run(nfs4::op_restorefh), Nfs4Status::kRestoreFh);
}

TEST_F(Nfs4Filehandles, AHandleNamesTheSameFileInAnotherCompound) {
  const core::FileId file = make_file("a");
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  const Bytes h = handle();
  begin();
  ASSERT_EQ(putfh(h), Nfs4Status::kOk);
  EXPECT_EQ(number(Attr::kFileId), static_cast<std::uint64_t>(file));
  EXPECT_EQ(handle(), h);
}

TEST_F(Nfs4Filehandles, AForgedOrDamagedHandleIsBad) {
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  Bytes h = handle();
  h.back() ^= std::byte{1};
  EXPECT_EQ(putfh(h), Nfs4Status::kBadHandle);
  EXPECT_EQ(putfh({}), Nfs4Status::kBadHandle);
  EXPECT_EQ(run(nfs4::op_putfh, Xdr().u32(200)), Nfs4Status::kBadXdr);
}

TEST_F(Nfs4Filehandles, TheHandleOfARemovedExportIsStale) {
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  const Bytes h = handle();
  ASSERT_TRUE(volume->registry().remove_export("test"));
  begin();
  EXPECT_EQ(putfh(h), Nfs4Status::kStale);
}

TEST_F(Nfs4Filehandles, SavingAndRestoringCarriesTheStateidAlong) {
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  c->set_current_stateid({.seqid = 7});
  save();
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_FALSE(c->has_current_stateid);
  ASSERT_EQ(run(nfs4::op_restorefh), Nfs4Status::kOk);
  EXPECT_TRUE(c->has_current_stateid);
  EXPECT_EQ(c->current_stateid.seqid, 7u);
  EXPECT_EQ(c->current->ref.id, root);
}

TEST_F(Nfs4Filehandles, ThePseudoRootHasTheExportsOfTheClient) {
  publish("other", {{.network = *core::Network::parse("10.0.0.0/8")}});
  begin();
  EXPECT_EQ(put_root("test"), Nfs4Status::kOk);
  EXPECT_EQ(put_root("other"), Nfs4Status::kAccess);
  EXPECT_EQ(put_root("nothing"), Nfs4Status::kNoEnt);
  EXPECT_EQ(put_root(".."), Nfs4Status::kBadName);
  EXPECT_EQ(put_root(""), Nfs4Status::kInval);
}

TEST_F(Nfs4Filehandles, ThePublicFilehandleIsThatOfTheRoot) {
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  const Bytes h = handle();
  ASSERT_EQ(run(nfs4::op_putpubfh), Nfs4Status::kOk);
  EXPECT_EQ(handle(), h);
  EXPECT_EQ(putfh(h), Nfs4Status::kOk);
  EXPECT_TRUE(c->current->pseudo_root());
}

TEST_F(Nfs4Filehandles, LookuppLeadsThroughTheExportToThePseudoRootAndNoFurther) {
  const core::FileId dir = make_directory("d");
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("d"), Nfs4Status::kOk);
  EXPECT_EQ(c->current->ref.id, dir);
  ASSERT_EQ(run(nfs4::op_lookupp), Nfs4Status::kOk);
  EXPECT_EQ(c->current->ref.id, root);
  ASSERT_EQ(run(nfs4::op_lookupp), Nfs4Status::kOk);
  EXPECT_TRUE(c->current->pseudo_root());
  EXPECT_EQ(run(nfs4::op_lookupp), Nfs4Status::kNoEnt);
}

TEST_F(Nfs4Filehandles, LookupTellsAFileFromASymlink) {
  make_file("file");
  ASSERT_TRUE(volume->ns().symlink({}, {root, "link", "file"}));
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  EXPECT_EQ(lookup("nothing"), Nfs4Status::kNoEnt);
  EXPECT_EQ(lookup("a/b"), Nfs4Status::kBadChar);
  EXPECT_EQ(lookup(std::string(256, 'x')), Nfs4Status::kNameTooLong);
  ASSERT_EQ(lookup("file"), Nfs4Status::kOk);
  EXPECT_EQ(lookup("x"), Nfs4Status::kNotDir);
  EXPECT_EQ(run(nfs4::op_lookupp), Nfs4Status::kNotDir);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("link"), Nfs4Status::kOk);
  EXPECT_EQ(lookup("x"), Nfs4Status::kSymlink);
}

TEST_F(Nfs4Filehandles, SecinfoUsesUpTheFilehandleIn41) {
  make_file("a");
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_secinfo, Xdr().string("b")), Nfs4Status::kNoEnt);
  ASSERT_EQ(run(nfs4::op_secinfo, Xdr().string("a")), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 2u);
  EXPECT_EQ(in.u32(), 1u);
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_EQ(run(nfs4::op_getfh), Nfs4Status::kNoFileHandle);
  begin(0);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_secinfo, Xdr().string("a")), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_getfh), Nfs4Status::kOk);
}

TEST_F(Nfs4Filehandles, SecinfoNoNameOfTheParentNeedsOne) {
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_secinfo_no_name, Xdr().u32(1)), Nfs4Status::kNoEnt);
  EXPECT_EQ(run(nfs4::op_secinfo_no_name, Xdr().u32(2)), Nfs4Status::kBadXdr);
  EXPECT_EQ(run(nfs4::op_secinfo_no_name, Xdr().u32(0)), Nfs4Status::kOk);
  make_file("a");
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("a"), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_secinfo_no_name, Xdr().u32(1)), Nfs4Status::kNotDir);
}

}  // namespace
}  // namespace stoa::test

// GETATTR, SETATTR, VERIFY, NVERIFY, ACCESS.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

class Nfs4Attributes : public OperationTest {
 protected:
  Nfs4Attributes() {
    file = make_file("a", "hello", 0640);
    at_file();
  }
  void at_file() {
    EXPECT_EQ(put_root(), Nfs4Status::kOk);
    EXPECT_EQ(lookup("a"), Nfs4Status::kOk);
  }
  Nfs4Status set(const Bitmap& map, const Xdr& values, const Bytes& stateid = good_stateid()) {
    const Nfs4Status status = run(nfs4::op_setattr, Xdr().raw(stateid).raw(fattr(map, values)));
    EXPECT_TRUE(c->error_body);
    EXPECT_EQ(Bitmap::decode(in), status == Nfs4Status::kOk ? map : Bitmap{});
    EXPECT_TRUE(in.ok() && in.left() == 0);
    return status;
  }
  core::FileId file;
};

TEST_F(Nfs4Attributes, ValuesComeInTheOrderOfTheirNumbers) {
  rpc::XdrReader v = values(
      {Attr::kType, Attr::kSize, Attr::kFsid, Attr::kMode, Attr::kOwner, Attr::kTimeModify, Attr::kMountedOnFileId});
  EXPECT_EQ(v.u32(), 1u);
  EXPECT_EQ(v.u64(), 5u);
  EXPECT_EQ(v.u64(), volume->info().id);
  EXPECT_EQ(v.u64(), 1u);
  EXPECT_EQ(v.u32(), 0640u);
  EXPECT_EQ(v.string(10), "0");
  EXPECT_EQ(v.u64(), static_cast<std::uint64_t>(attributes(file).mtime.seconds()));
  EXPECT_EQ(v.u32(), attributes(file).mtime.nanoseconds());
  EXPECT_EQ(v.u64(), static_cast<std::uint64_t>(file));
  EXPECT_EQ(v.left(), 0u);
}

TEST_F(Nfs4Attributes, EverySupportedAttributeCanBeRead) {
  for (const std::uint32_t minor : {0u, 1u, 2u}) {
    begin(minor);
    at_file();
    const Bitmap readable = nfs4::supported_attributes(minor) - nfs4::kWriteOnly;
    values(readable);
    ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
    values(readable);
    readable.for_each([&](Attr attribute) { values({attribute}); });
  }
}

TEST_F(Nfs4Attributes, TheSupportedOnesGrowWithTheMinorVersion) {
  for (const std::uint32_t minor : {0u, 1u, 2u}) {
    begin(minor);
    at_file();
    rpc::XdrReader v = values({Attr::kSupportedAttrs});
    const Bitmap supported = Bitmap::decode(v);
    EXPECT_EQ(supported.has(Attr::kSuppattrExclcreat), minor >= 1);
    EXPECT_EQ(supported.has(Attr::kXattrSupport), minor >= 2);
    EXPECT_EQ(supported.has(Attr::kOpenArguments), minor >= 1);
    EXPECT_TRUE(supported.has(Attr::kMode));
  }
}

// RFC 9754 4.1: share_access, share_deny, share_access_want, open_claim, createmode.
TEST_F(Nfs4Attributes, WhatOpenTakesIsTold) {
  begin(2);
  at_file();
  rpc::XdrReader v = values({Attr::kOpenArguments});
  for (const std::uint32_t expected : {0b1110u, 0b1111u, 0b111000u, 0b110111u, 0b1111u}) {
    EXPECT_EQ(v.u32(), 1u);
    EXPECT_EQ(v.u32(), expected);
  }
  EXPECT_EQ(v.left(), 0u);
}

TEST_F(Nfs4Attributes, WhatIsUnknownOrUnsupportedIsLeftOut) {
  ASSERT_EQ(run(nfs4::op_getattr, Xdr().u32(5).u32(1 << 4 | 1 << 24).u32(0).u32(0x80000000).u32(~0u).u32(1)),
            Nfs4Status::kOk);
  EXPECT_EQ(Bitmap::decode(in), Bitmap{Attr::kSize});
  EXPECT_EQ(run(nfs4::op_getattr, Xdr().u32(~0u).u32(0)), Nfs4Status::kBadXdr);
}

TEST_F(Nfs4Attributes, WhatIsOnlyForSettingCannotBeRead) {
  for (const Attr attribute : {Attr::kTimeAccessSet, Attr::kTimeModifySet, Attr::kModeSetMasked, Attr::kModeUmask}) {
    EXPECT_EQ(run(nfs4::op_getattr, encoded({attribute})), Nfs4Status::kInval);
  }
}

TEST_F(Nfs4Attributes, FileSystemsAreTheExports) {
  rpc::XdrReader v = values({Attr::kFsid});
  const std::pair in_export(v.u64(), v.u64());
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  rpc::XdrReader p = values({Attr::kFsid, Attr::kFileId, Attr::kMountedOnFileId});
  EXPECT_EQ(p.u64(), 0u);
  EXPECT_EQ(p.u64(), 0u);
  EXPECT_EQ(p.u64(), p.u64());
  publish("second", {anyone()});
  begin();
  ASSERT_EQ(put_root("second"), Nfs4Status::kOk);
  rpc::XdrReader s = values({Attr::kFsid});
  EXPECT_NE(std::pair(s.u64(), s.u64()), in_export);
  EXPECT_NE(number(Attr::kMountedOnFileId), number(Attr::kFileId));
}

TEST_F(Nfs4Attributes, ThePseudoRootChangesWhenAnExportComes) {
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  const std::uint64_t before = number(Attr::kChange);
  EXPECT_EQ(number(Attr::kChange), before);
  publish("second", {anyone()});
  begin();
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_NE(number(Attr::kChange), before);
}

TEST_F(Nfs4Attributes, AllOrNothingIsSet) {
  EXPECT_EQ(
      set({Attr::kSize, Attr::kMode, Attr::kOwner, Attr::kOwnerGroup, Attr::kTimeAccessSet, Attr::kTimeModifySet},
          Xdr().u64(3).u32(0600).string("10").string("20").u32(0).u32(1).u64(static_cast<std::uint64_t>(-2)).u32(7)),
      Nfs4Status::kOk);
  const core::Attributes now = attributes(file);
  EXPECT_EQ(now.size, 3u);
  EXPECT_EQ(now.mode, 0600u);
  EXPECT_EQ(now.uid, 10u);
  EXPECT_EQ(now.gid, 20u);
  EXPECT_EQ(now.mtime, Timestamp::from(-2, 7));
  EXPECT_EQ(set({Attr::kSize, Attr::kOwner}, Xdr().u64(1).string("somebody@example.com")), Nfs4Status::kBadOwner);
  EXPECT_EQ(attributes(file).size, 3u);
}

// RFC 8881 5.8.2.1, 5.8.2.13, 5.8.2.36: archive means that the file was archived since its last
// change.
TEST_F(Nfs4Attributes, ArchiveHiddenAndSystemAreBitsOfTheFile) {
  const auto shown = [&] {
    rpc::XdrReader v = values({Attr::kArchive, Attr::kHidden, Attr::kSystem});
    return std::array{v.boolean(), v.boolean(), v.boolean()};
  };
  EXPECT_EQ(shown(), (std::array{false, false, false}));
  EXPECT_EQ(set({Attr::kArchive, Attr::kHidden}, Xdr().u32(1).u32(1)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(file).dos, core::kDosHidden);
  EXPECT_EQ(shown(), (std::array{true, true, false}));
  EXPECT_EQ(set({Attr::kHidden, Attr::kSystem}, Xdr().u32(0).u32(1)), Nfs4Status::kOk);
  EXPECT_EQ(shown(), (std::array{true, false, true}));
  EXPECT_EQ(set({Attr::kSize}, Xdr().u64(1)), Nfs4Status::kOk);
  EXPECT_EQ(shown(), (std::array{false, false, true}));
}

TEST_F(Nfs4Attributes, TheTimeOfCreationCanBeSet) {
  EXPECT_EQ(set({Attr::kTimeCreate}, Xdr().u64(static_cast<std::uint64_t>(-2)).u32(7)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(file).btime, Timestamp::from(-2, 7));
  rpc::XdrReader v = values({Attr::kTimeCreate});
  EXPECT_EQ(v.u64(), static_cast<std::uint64_t>(-2));
  EXPECT_EQ(v.u32(), 7u);
  EXPECT_EQ(set({Attr::kTimeCreate}, Xdr().u64(1).u32(1'000'000'000)), Nfs4Status::kInval);
  EXPECT_EQ(attributes(file).btime, Timestamp::from(-2, 7));
}

TEST_F(Nfs4Attributes, OwnersAreNumbersOrKnownUsers) {
  ASSERT_TRUE(volume->registry().add_user({.name = "ada", .uid = 1815, .gid = 1815}));
  begin();
  at_file();
  EXPECT_EQ(set({Attr::kOwner}, Xdr().string("ada@localdomain")), Nfs4Status::kOk);
  EXPECT_EQ(attributes(file).uid, 1815u);
  EXPECT_EQ(set({Attr::kOwner}, Xdr().string("4294967295")), Nfs4Status::kOk);
  for (const Attr attribute : {Attr::kOwner, Attr::kOwnerGroup})
    EXPECT_EQ(set({attribute}, Xdr().string("")), Nfs4Status::kInval);
  for (const char* bad : {"ada", "bob@localdomain", "ada@example.com", "01", "-1", "4294967296", "1 ", "@", "1@"}) {
    EXPECT_EQ(set({Attr::kOwner}, Xdr().string(bad)), Nfs4Status::kBadOwner) << bad;
    EXPECT_EQ(set({Attr::kOwnerGroup}, Xdr().string(bad)), Nfs4Status::kBadOwner) << bad;
  }
}

TEST_F(Nfs4Attributes, WhatCannotBeSetIsRefused) {
  EXPECT_EQ(set({Attr::kType}, Xdr().u32(1)), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kFileId}, Xdr().u64(1)), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kModeUmask}, Xdr().u32(0666).u32(022)), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kMode}, Xdr().u32(0100644)), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kMode, Attr::kModeSetMasked}, Xdr().u32(0644).u32(0644).u32(07777)), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kSize}, Xdr().u64(~std::uint64_t{0})), Nfs4Status::kFBig);
  EXPECT_EQ(set({Attr::kTimeModifySet}, Xdr().u32(1).u64(1).u32(1'000'000'000)), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kTimeModifySet}, Xdr().u32(1).u64(1ull << 62).u32(0)), Nfs4Status::kInval);
  EXPECT_EQ(run(nfs4::op_setattr, Xdr().raw(good_stateid()).u32(2).u32(0).u32(1).opaque({})), Nfs4Status::kAttrNotSupp);
  EXPECT_EQ(run(nfs4::op_setattr, Xdr().raw(good_stateid()).u32(4).u32(0).u32(0).u32(0).u32(1).opaque({})),
            Nfs4Status::kAttrNotSupp);
}

TEST_F(Nfs4Attributes, DamagedValuesAreBadXdr) {
  EXPECT_EQ(set({Attr::kMode}, Xdr()), Nfs4Status::kBadXdr);
  EXPECT_EQ(set({Attr::kMode}, Xdr().u32(1).u32(2)), Nfs4Status::kBadXdr);
  EXPECT_EQ(set({Attr::kTimeModifySet}, Xdr().u32(2)), Nfs4Status::kBadXdr);
  EXPECT_EQ(set({Attr::kOwner}, Xdr().u32(100)), Nfs4Status::kBadXdr);
}

TEST_F(Nfs4Attributes, ASizeNeedsAStateid) {
  EXPECT_EQ(set({Attr::kSize}, Xdr().u64(1), bad_stateid()), Nfs4Status::kBadStateId);
  EXPECT_EQ(attributes(file).size, 5u);
  EXPECT_EQ(set({Attr::kMode}, Xdr().u32(0644), bad_stateid()), Nfs4Status::kOk);
}

TEST_F(Nfs4Attributes, OnlyRegularFilesHaveASizeToSet) {
  make_directory("d");
  ASSERT_TRUE(volume->ns().symlink({}, {root, "link", "a"}));
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("d"), Nfs4Status::kOk);
  EXPECT_EQ(set({Attr::kSize}, Xdr().u64(1)), Nfs4Status::kWrongType);
  c->minor = 0;
  EXPECT_EQ(set({Attr::kSize}, Xdr().u64(1)), Nfs4Status::kIsDir);
  begin();
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(lookup("link"), Nfs4Status::kOk);
  EXPECT_EQ(set({Attr::kSize}, Xdr().u64(1)), Nfs4Status::kWrongType);
}

TEST_F(Nfs4Attributes, AMaskedModeLeavesTheOtherBits) {
  EXPECT_EQ(set({Attr::kModeSetMasked}, Xdr().u32(0007).u32(0077)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(file).mode, 0607u);
}

TEST_F(Nfs4Attributes, OnlyTheOwnerSetsTheModeAndNobodyThePseudoRoot) {
  begin(2, 1000);
  at_file();
  EXPECT_EQ(set({Attr::kMode}, Xdr().u32(0777)), Nfs4Status::kPerm);
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(set({Attr::kMode}, Xdr().u32(0777)), Nfs4Status::kRoFs);
  publish("ro", {anyone()}, true);
  begin();
  ASSERT_EQ(put_root("ro"), Nfs4Status::kOk);
  EXPECT_EQ(set({Attr::kMode}, Xdr().u32(0777)), Nfs4Status::kRoFs);
}

TEST_F(Nfs4Attributes, VerifyAndNverifyAreOpposites) {
  const Bytes same = fattr({Attr::kSize, Attr::kMode}, Xdr().u64(5).u32(0640));
  const Bytes other = fattr({Attr::kSize, Attr::kMode}, Xdr().u64(5).u32(0600));
  EXPECT_EQ(run(nfs4::op_verify, same), Nfs4Status::kOk);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(run(nfs4::op_nverify, same), Nfs4Status::kSame);
  EXPECT_EQ(run(nfs4::op_verify, other), Nfs4Status::kNotSame);
  EXPECT_EQ(run(nfs4::op_nverify, other), Nfs4Status::kOk);
  for (const auto operation : {nfs4::op_verify, nfs4::op_nverify}) {
    EXPECT_EQ(run(operation, fattr({Attr::kRdattrError}, Xdr().u32(0))), Nfs4Status::kInval);
    EXPECT_EQ(run(operation, fattr({Attr::kTimeModifySet}, Xdr().u32(0))), Nfs4Status::kInval);
    EXPECT_EQ(run(operation, Xdr().u32(2).u32(0).u32(1).opaque({})), Nfs4Status::kAttrNotSupp);
    EXPECT_EQ(run(operation, fattr({Attr::kSize}, Xdr().u32(0))), Nfs4Status::kBadXdr);
  }
}

TEST_F(Nfs4Attributes, AccessTellsWhatIsKnownForTheTypeAndGranted) {
  begin(2, 1000);
  at_file();
  ASSERT_EQ(run(nfs4::op_access, Xdr().u32(0x1ff)), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 0x1edu);  // a file is not searched, and has no entries to delete
  EXPECT_EQ(in.u32(), 0u);
  begin();
  at_file();
  ASSERT_EQ(run(nfs4::op_access, Xdr().u32(0x1ff)), Nfs4Status::kOk);
  EXPECT_EQ(in.u32(), 0x1edu);
  EXPECT_EQ(in.u32(), 0x1cdu);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_access, Xdr().u32(0x1f)), Nfs4Status::kOk);
  EXPECT_EQ(in.u64(), 0x1f'0000'001full);
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_access, Xdr().u32(0x1f)), Nfs4Status::kOk);
  EXPECT_EQ(in.u64(), 0x1f'0000'0003ull);
}

TEST_F(Nfs4Attributes, AccessKnowsXattrsOnlyIn42) {
  EXPECT_EQ(run(nfs4::op_access, Xdr().u32(0x200)), Nfs4Status::kInval);
  c->minor = 1;
  EXPECT_EQ(run(nfs4::op_access, Xdr().u32(0x40)), Nfs4Status::kInval);
}

TEST_F(Nfs4Attributes, QuotaAndSpaceAreThoseOfTheTightestLimit) {
  const auto expect = [&](std::uint64_t hard, std::uint64_t soft, std::uint64_t used) {
    at_file();
    EXPECT_EQ(number(Attr::kQuotaAvailHard), hard);
    EXPECT_EQ(number(Attr::kQuotaAvailSoft), soft);
    EXPECT_EQ(number(Attr::kQuotaUsed), used);
    EXPECT_EQ(number(Attr::kSpaceAvail), hard);
  };
  at_file();
  const std::uint64_t all = number(Attr::kSpaceAvail);
  EXPECT_EQ(number(Attr::kQuotaAvailHard), all);
  EXPECT_EQ(number(Attr::kQuotaAvailSoft), all);
  ASSERT_TRUE(volume->ns().set_quota({}, {root, {.bytes = 100, .soft_bytes = 60}}));
  expect(95, 55, 5);
  EXPECT_EQ(number(Attr::kSpaceTotal), 100u);
  ASSERT_TRUE(volume->ns().set_quota({}, {root, {.bytes = 100, .soft_bytes = 4, .grace_s = 3600}}));
  expect(95, 0, 5);
  ASSERT_TRUE(volume->ns().set_quota({}, {root, {.bytes = 100, .soft_bytes = 4, .grace_s = 0}}));
  expect(0, 0, 5);
}

}  // namespace
}  // namespace stoa::test

// Attributes acl, aclsupport and dacl; ACCESS of files with an ACL.
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

struct Ace {
  std::uint32_t type = 0, flags = 0, mask = 0;
  std::string who;
  bool operator==(const Ace&) const = default;
};
Xdr encode(const std::vector<Ace>& aces) {
  Xdr xdr;
  xdr.u32(static_cast<std::uint32_t>(aces.size()));
  for (const Ace& ace : aces) xdr.u32(ace.type).u32(ace.flags).u32(ace.mask).string(ace.who);
  return xdr;
}
Xdr encode_dacl(std::uint32_t flags, const std::vector<Ace>& aces) {
  return Xdr().u32(flags).raw(encode(aces).bytes());
}
std::vector<Ace> decode(rpc::XdrReader& in) {
  std::vector<Ace> aces;
  for (std::uint32_t count = in.u32(); count > 0 && in.ok(); --count) {
    Ace ace{.type = in.u32(), .flags = in.u32(), .mask = in.u32()};
    ace.who = in.string(1024);
    aces.push_back(std::move(ace));
  }
  EXPECT_TRUE(in.ok());
  return aces;
}

enum : std::uint32_t { kAllow = 0, kDeny = 1, kAudit = 2, kAlarm = 3 };
enum : std::uint32_t { kFileInherit = 1, kSuccess = 0x10, kGroupFlag = 0x40, kInherited = 0x80 };
enum : std::uint32_t { kRead = 1, kWrite = 2, kAppend = 4, kReadAcl = 0x20000 };

class Nfs4Acl : public OperationTest {
 protected:
  Nfs4Acl() {
    file = make_file("a", "hello", 0640);
    at("a");
  }
  void at(std::string_view name) {
    ASSERT_EQ(put_root(), Nfs4Status::kOk);
    ASSERT_EQ(lookup(name), Nfs4Status::kOk);
  }
  Nfs4Status set(const Bitmap& map, const Xdr& xdr) {
    return run(nfs4::op_setattr, Xdr().raw(good_stateid()).raw(fattr(map, xdr)));
  }
  Nfs4Status set(const std::vector<Ace>& aces) { return set({Attr::kAcl}, encode(aces)); }
  std::vector<Ace> acl() {
    rpc::XdrReader v = values({Attr::kAcl});
    return decode(v);
  }
  std::uint32_t granted(std::uint32_t uid, std::uint32_t wanted, std::string_view name = "a") {
    begin(2, uid);
    at(name);
    EXPECT_EQ(run(nfs4::op_access, Xdr().u32(wanted)), Nfs4Status::kOk);
    in.u32();
    return in.u32();
  }
  core::FileId file;
};

TEST_F(Nfs4Acl, AllowAndDenyAreSupportedAndSaclIsNot) {
  rpc::XdrReader v = values({Attr::kAclSupport});
  EXPECT_EQ(v.u32(), 3u);
  for (const std::uint32_t minor : {0u, 1u, 2u}) {
    EXPECT_TRUE(nfs4::supported_attributes(minor).has(Attr::kAcl));
    EXPECT_EQ(nfs4::supported_attributes(minor).has(Attr::kDacl), minor >= 1);
  }
  // sacl, 59
  ASSERT_EQ(run(nfs4::op_getattr, Xdr().u32(2).u32(0).u32(1u << 27)), Nfs4Status::kOk);
  EXPECT_EQ(Bitmap::decode(in), Bitmap{});
  EXPECT_EQ(run(nfs4::op_setattr, Xdr().raw(good_stateid()).u32(2).u32(0).u32(1u << 27).opaque(encode_dacl(0, {}))),
            Nfs4Status::kAttrNotSupp);
  c->minor = 0;
  EXPECT_EQ(set({Attr::kDacl}, encode_dacl(0, {})), Nfs4Status::kAttrNotSupp);
}

TEST_F(Nfs4Acl, AFileWithoutOneShowsItsMode) {
  EXPECT_EQ(acl(),
            (std::vector<Ace>{
                {kAllow, 0, 0x16019f, "OWNER@"}, {kAllow, 0, 0x120089, "GROUP@"}, {kAllow, 0, 0x120080, "EVERYONE@"}}));
  ASSERT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  EXPECT_EQ(acl(), (std::vector<Ace>{{kAllow, 0, 0x1200a1, "EVERYONE@"}}));
}

TEST_F(Nfs4Acl, WhatIsSetIsShownAndDecides) {
  const std::vector<Ace> aces{{kDeny, 0, kWrite | kAppend, "1000"},
                              {kAllow, kGroupFlag, kRead | kWrite | kAppend, "1000"},
                              {kAllow, 0, kRead, "somebody@example.com"},
                              {kAllow, kGroupFlag, kRead, "S-1-5-32-544"},
                              {kAllow, 0, kRead, "GROUP@"}};
  ASSERT_EQ(set(aces), Nfs4Status::kOk);
  EXPECT_EQ(Bitmap::decode(in), Bitmap{Attr::kAcl});
  EXPECT_EQ(acl(), aces);
  EXPECT_EQ(attributes(file).mode, 0040u);
  EXPECT_EQ(granted(1000, 0x3f), 1u);
  EXPECT_EQ(granted(1001, 0x3f), 0u);
}

TEST_F(Nfs4Acl, SpecialIdentifiersHaveNoGroupFlag) {
  ASSERT_EQ(set({{kAllow, kGroupFlag, kRead, "GROUP@"}, {kAllow, 0, kRead, "7"}}), Nfs4Status::kOk);
  EXPECT_EQ(acl(), (std::vector<Ace>{{kAllow, 0, kRead, "GROUP@"}, {kAllow, 0, kRead, "7"}}));
}

TEST_F(Nfs4Acl, OnlyDaclKnowsWhatIsInheritedAndTheFlags) {
  const std::vector<Ace> aces{{kAllow, kInherited, kRead, "7"}};
  ASSERT_EQ(set({Attr::kDacl}, encode_dacl(3, aces)), Nfs4Status::kOk);
  rpc::XdrReader v = values({Attr::kDacl});
  EXPECT_EQ(v.u32(), 3u);
  EXPECT_EQ(decode(v), aces);
  EXPECT_EQ(acl(), (std::vector<Ace>{{kAllow, 0, kRead, "7"}}));
  ASSERT_EQ(set(aces), Nfs4Status::kOk);  // RFC 8881 6.2.1.4.1: cleared in acl
  v = values({Attr::kDacl});
  EXPECT_EQ(v.u32(), 0u);
  EXPECT_EQ(decode(v), (std::vector<Ace>{{kAllow, 0, kRead, "7"}}));
  EXPECT_EQ(set({Attr::kAcl, Attr::kDacl}, encode({}).raw(encode_dacl(0, {}).bytes())), Nfs4Status::kInval);
}

TEST_F(Nfs4Acl, WhatIsNotOfferedOrMalformedIsRefusedAndChangesNothing) {
  const auto before = acl();
  EXPECT_EQ(set({{kAudit, kSuccess, kRead, "OWNER@"}}), Nfs4Status::kAttrNotSupp);
  EXPECT_EQ(set({{kAlarm, 0, kRead, "OWNER@"}}), Nfs4Status::kAttrNotSupp);
  EXPECT_EQ(set({{4, 0, kRead, "OWNER@"}}), Nfs4Status::kInval);
  EXPECT_EQ(set({{kAllow, kSuccess, kRead, "OWNER@"}}), Nfs4Status::kInval);
  EXPECT_EQ(set({{kAllow, 0x100, kRead, "OWNER@"}}), Nfs4Status::kInval);
  EXPECT_EQ(set({{kAllow, 0, 0x800, "OWNER@"}}), Nfs4Status::kInval);
  EXPECT_EQ(set({{kAllow, kFileInherit, kRead, "OWNER@"}}), Nfs4Status::kInval);  // it is no directory
  for (const char* who : {"", "nobody", "@", "@example.com", "INTERACTIVE@", "AUTHENTICATED@", "owner@", "-1", "01",
                          "S-1-", "a:b@c", "\xff@example.com"}) {
    EXPECT_EQ(set({{kAllow, 0, kRead, who}}), Nfs4Status::kBadOwner) << who;
  }
  EXPECT_EQ(set({{kAllow, 0, kRead, "x@" + std::string(300, 'y')}}), Nfs4Status::kBadOwner);
  EXPECT_EQ(set(std::vector<Ace>(1025, {kAllow, 0, kRead, "7"})), Nfs4Status::kNoSpc);
  EXPECT_EQ(set(std::vector<Ace>(1024, {kAllow, 0, kRead, "x@" + std::string(250, 'y')})), Nfs4Status::kNoSpc);
  EXPECT_EQ(set({Attr::kDacl}, encode_dacl(8, {})), Nfs4Status::kInval);
  EXPECT_EQ(set({Attr::kAcl}, Xdr().u32(1).u32(0).u32(0)), Nfs4Status::kBadXdr);
  EXPECT_EQ(set({Attr::kAcl}, Xdr().u32(0xffffffff)), Nfs4Status::kBadXdr);
  EXPECT_EQ(acl(), before);
  EXPECT_EQ(set(std::vector<Ace>(1024, {kAllow, 0, kRead, "7"})), Nfs4Status::kOk);
}

TEST_F(Nfs4Acl, OnlyWhoMayReadItSeesIt) {
  ASSERT_EQ(set({{kAllow, 0, kReadAcl, "7"}}), Nfs4Status::kOk);
  begin(2, 8);
  at("a");
  EXPECT_EQ(run(nfs4::op_getattr, encoded({Attr::kAcl, Attr::kSize})), Nfs4Status::kAccess);
  EXPECT_EQ(run(nfs4::op_getattr, encoded({Attr::kSize})), Nfs4Status::kOk);
  EXPECT_EQ(set({}), Nfs4Status::kPerm);
  begin(2, 7);
  at("a");
  EXPECT_EQ(acl().size(), 1u);
}

TEST_F(Nfs4Acl, AListingTellsWhichAclsMayNotBeRead) {
  make_file("b", {}, 0644);
  ASSERT_EQ(set({{kAllow, 0, kRead, "7"}}), Nfs4Status::kOk);
  begin(2, 8);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  const auto list = [&](const Bitmap& wanted) {
    return run(nfs4::op_readdir, Xdr().u64(0).u64(0).u32(0).u32(1 << 20).raw(encoded(wanted)));
  };
  EXPECT_EQ(list({Attr::kAcl}), Nfs4Status::kAccess);
  ASSERT_EQ(list({Attr::kRdattrError, Attr::kAcl}), Nfs4Status::kOk);
  in.u64();
  ASSERT_TRUE(in.boolean());
  in.u64();
  EXPECT_EQ(in.string(255), "a");
  EXPECT_EQ(Bitmap::decode(in), Bitmap{Attr::kRdattrError});
  rpc::XdrReader denied(in.opaque(100));
  EXPECT_EQ(denied.u32(), static_cast<std::uint32_t>(Nfs4Status::kAccess));
  ASSERT_TRUE(in.boolean());
  in.u64();
  EXPECT_EQ(in.string(255), "b");
  EXPECT_EQ(Bitmap::decode(in), (Bitmap{Attr::kRdattrError, Attr::kAcl}));
}

TEST_F(Nfs4Acl, VerifyComparesIt) {
  const std::vector<Ace> aces{{kAllow, 0, kRead, "7"}};
  ASSERT_EQ(set(aces), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_verify, fattr({Attr::kAcl}, encode(aces))), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_nverify, fattr({Attr::kAcl}, encode(aces))), Nfs4Status::kSame);
  EXPECT_EQ(run(nfs4::op_verify, fattr({Attr::kAcl}, encode({}))), Nfs4Status::kNotSame);
  EXPECT_EQ(run(nfs4::op_verify, fattr({Attr::kDacl}, encode_dacl(0, aces))), Nfs4Status::kOk);
}

TEST_F(Nfs4Acl, NewObjectsTakeTheOneInTheRequest) {
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  const std::vector<Ace> aces{{kAllow, kFileInherit | 2, kRead | 0x20, "7"}};
  // CREATE of a directory.
  ASSERT_EQ(run(nfs4::op_create, Xdr().u32(2).string("d").raw(fattr({Attr::kAcl}, encode(aces)))), Nfs4Status::kOk);
  EXPECT_EQ(acl(), aces);
  // New children inherit; a mode_umask does not prevent that (RFC 8275).
  ASSERT_EQ(run(nfs4::op_create, Xdr().u32(7).string("fifo").raw(fattr({Attr::kModeUmask}, Xdr().u32(0600).u32(077)))),
            Nfs4Status::kOk);
  rpc::XdrReader v = values({Attr::kDacl});
  v.u32();
  const auto inherited = decode(v);
  EXPECT_EQ(std::ranges::count(inherited, Ace{kAllow, kInherited, kRead | 0x20, "7"}), 1);
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  EXPECT_EQ(run(nfs4::op_create, Xdr().u32(5).string("target").string("s").raw(fattr({Attr::kAcl}, encode(aces)))),
            Nfs4Status::kAttrNotSupp);
}

TEST_F(Nfs4Acl, ChmodAndTheAclFollowEachOther) {
  ASSERT_EQ(set({{kAllow, 0, kRead | kWrite | kAppend, "7"}, {kAllow, 0, kRead, "EVERYONE@"}}), Nfs4Status::kOk);
  ASSERT_EQ(set({Attr::kMode}, Xdr().u32(0600)), Nfs4Status::kOk);
  EXPECT_EQ(attributes(file).mode, 0600u);
  EXPECT_EQ(granted(7, 0x3f), 0xdu);
  EXPECT_EQ(granted(8, 0x3f), 0u);
}

TEST_F(Nfs4Acl, AccessTellsAppendingFromWriting) {
  ASSERT_EQ(set({{kAllow, 0, kAppend, "7"}, {kAllow, 0, 0x10, "8"}, {kAllow, 0, 0x8, "9"}}), Nfs4Status::kOk);
  EXPECT_EQ(granted(7, 0x1ff), 0x8u);
  EXPECT_EQ(granted(8, 0x1ff), 0x80u);
  EXPECT_EQ(granted(9, 0x1ff), 0x140u);
}

}  // namespace
}  // namespace stoa::test

// Identity of a Kerberos caller, the exports that admit it, and NFSv4's names of users and groups.
#include "tests/frontends/nfs/kerberos/kerberos_fixture.h"

namespace stoa::test {
namespace {

using core::SecurityFlavor;
using rpc::GssService;

constexpr std::uint32_t kOwnerBit = 1u << (36 - 32);
constexpr std::uint32_t kOwnerGroupBit = 1u << (37 - 32);

Ops owner_of(const Handle& handle) {
  return Ops().putfh(handle).op(9).u32(2).u32(0).u32(kOwnerBit | kOwnerGroupBit);
}

// "owner:group"
std::string owner_text(CompoundResult result) {
  if (!result.ok()) return "status " + std::to_string(static_cast<int>(result.status));
  result.next(22);
  result.next(9);
  for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
  result.in.u32();
  const std::string owner(result.in.string(1000));
  return owner + ":" + std::string(result.in.string(1000));
}

class KerberosIdentityTest : public KerberosTest {
 protected:
  // The owner, group of a new file.
  std::pair<std::uint32_t, std::uint32_t> owner_of_new_file(const std::string& principal, const std::string& name) {
    Ticket ticket(port, kdc()->login(principal), GssService::kNone);
    Xdr create;
    create.opaque(root_of("test")).string(name).u32(1);
    put(create, {.mode = 0644});
    auto made = ticket.nfs3(kCreate, create);
    EXPECT_TRUE(made.ok()) << static_cast<int>(made.status);
    made.in.boolean();
    made.in.opaque(64);
    const auto attr = read_post_op(made.in);
    return {attr->uid, attr->gid};
  }
  CompoundResult sys(const Ops& ops, std::uint32_t uid = 0) {
    WireClient wire(port);
    CallSpec spec{.xid = ++xid_,
                  .program = 100003,
                  .version = 4,
                  .procedure = 1,
                  .auth_flavor = 1,
                  .auth_body = auth_sys(uid, uid)};
    return CompoundResult(wire.call(spec, Xdr().string("").u32(0).u32(ops.count).raw(ops.body.bytes())));
  }
  static Nfs4Status status_of(const CompoundResult& result) { return result.status; }

 private:
  std::uint32_t xid_ = 0x7000'0000;
};

TEST_F(KerberosIdentityTest, APrincipalIsTheUserWhoHasItOnRecordOrItsName) {
  EXPECT_EQ(owner_of_new_file("ann", "a"), std::pair(1001u, 1001u));
  EXPECT_EQ(owner_of_new_file("robert", "b"), std::pair(1002u, 1002u));
  constexpr std::pair kAnonymous{65534u, 65534u};
  EXPECT_EQ(owner_of_new_file("carol", "c"), kAnonymous) << "nobody here";
  EXPECT_EQ(owner_of_new_file("bob", "d"), kAnonymous) << "bob is robert, not bob";
  EXPECT_EQ(owner_of_new_file("host/client.test", "e"), kAnonymous) << "a machine";
  EXPECT_EQ(owner_of_new_file("ann/admin", "f"), kAnonymous);
  ASSERT_TRUE(volume->registry().add_user(
      {.name = "backup", .uid = 1003, .gid = 1003, .principal = "host/client.test@STOA.TEST"}));
  EXPECT_EQ(owner_of_new_file("host/client.test", "g"), std::pair(1003u, 1003u)) << "unless the record says so";
  // Root of a realm is squashed as every other root.
  ASSERT_TRUE(volume->registry().add_user({.name = "root", .uid = 0, .gid = 0}));
  EXPECT_EQ(owner_of_new_file("root", "h"), kAnonymous);
}

TEST_F(KerberosIdentityTest, GroupsAreThoseOfTheRecord) {
  const auto made = volume->ns().mkdir({}, {.parent = volume->registry().snapshot()->find_export("test")->root,
                                            .name = "ours",
                                            .set = {.mode = 0770, .uid = 0, .gid = 5000}});
  ASSERT_TRUE(made);
  const Handle root = root_of("test");
  const auto lookup_in = [&](const std::string& principal) {
    Ticket ticket(port, kdc()->login(principal), GssService::kPrivacy);
    auto found = ticket.nfs3(kLookup, Xdr().opaque(root).string("ours"));
    EXPECT_TRUE(found.ok());
    const auto bytes = found.in.opaque(64);
    Xdr arguments;
    arguments.opaque({bytes.begin(), bytes.end()}).string("nothing");
    return ticket.nfs3(kLookup, arguments).status;
  };
  EXPECT_EQ(lookup_in("ann"), NfsStatus::kNoEnt);
  EXPECT_EQ(lookup_in("robert"), NfsStatus::kAccess);
}

TEST_F(KerberosIdentityTest, MountTellsWhatAnExportTakes) {
  publish_for("secret", {SecurityFlavor::kKrb5p, SecurityFlavor::kKrb5i});
  publish_for("mixed", {SecurityFlavor::kKrb5, SecurityFlavor::kSys});
  const auto flavors = [&](const std::string& name) {
    NfsCaller caller(port);
    auto result = caller.mount_call(1, Xdr().string("/" + name));
    EXPECT_TRUE(result.ok());
    result.in.opaque(64);
    std::vector<std::uint32_t> list;
    for (std::uint32_t left = result.in.u32(); left > 0 && result.in.ok(); --left) list.push_back(result.in.u32());
    return list;
  };
  EXPECT_EQ(flavors("test"), (std::vector<std::uint32_t>{1, 390003, 390004, 390005, 0}));
  EXPECT_EQ(flavors("secret"), (std::vector<std::uint32_t>{390005, 390004}));
  EXPECT_EQ(flavors("mixed"), (std::vector<std::uint32_t>{390003, 1, 0}));
}

TEST_F(KerberosIdentityTest, AnExportTakesOnlyItsFlavorsInVersion3) {
  publish_for("secret", {SecurityFlavor::kKrb5p});
  const Handle root = root_of("secret");
  NfsCaller sys(port, 1001);
  // Calls while mounting, of the root alone (RFC 2623 2.3.2).
  EXPECT_TRUE(sys.getattr(root).ok());
  EXPECT_TRUE(sys.call(kFsinfo, Xdr().opaque(root)).ok());
  EXPECT_TRUE(sys.call(kFsstat, Xdr().opaque(root)).ok());
  EXPECT_EQ(sys.status_of(kLookup, root, "x"), NfsStatus::kAccess);
  EXPECT_EQ(sys.call(kAccess, Xdr().opaque(root).u32(1)).status, NfsStatus::kAccess);
  const std::string cache = kdc()->login("ann");
  for (const GssService service : {GssService::kNone, GssService::kIntegrity}) {
    Ticket ann(port, cache, service);
    EXPECT_EQ(ann.nfs3(kLookup, Xdr().opaque(root).string("x")).status, NfsStatus::kAccess);
  }
  Ticket ann(port, cache, GssService::kPrivacy);
  EXPECT_EQ(ann.nfs3(kLookup, Xdr().opaque(root).string("x")).status, NfsStatus::kNoEnt);
  const Handle directory = [&] {
    Xdr mkdir;
    mkdir.opaque(root).string("d");
    put(mkdir, {.mode = 0777});
    auto made = ann.nfs3(kMkdir, mkdir);
    EXPECT_TRUE(made.ok());
    made.in.boolean();
    const auto bytes = made.in.opaque(64);
    return Handle(bytes.begin(), bytes.end());
  }();
  EXPECT_EQ(sys.getattr(directory).status, NfsStatus::kAccess) << "not the root";
}

TEST_F(KerberosIdentityTest, Version4SaysWrongSecWhereItMay) {
  publish_for("secret", {SecurityFlavor::kKrb5p});
  const Handle root = root_of("secret");
  using enum Nfs4Status;
  const Ops getattr = Ops().op(9).u32(1).u32(2);
  EXPECT_EQ(status_of(sys(Ops().putrootfh().lookup("secret"))), kWrongSec);
  // RFC 8881 2.6.3.1.1: PUTFH returns it only when the next operation does not.
  EXPECT_EQ(status_of(sys(Ops().putfh(root))), kOk);
  EXPECT_EQ(status_of(sys(Ops().putfh(root).putrootfh())), kOk);
  EXPECT_EQ(status_of(sys(Ops().putfh(root).op(16))), kOk) << "LOOKUPP: the pseudo root takes all";
  EXPECT_EQ(status_of(sys(Ops().putfh(root).op(33).string("x"))), kNoEnt) << "SECINFO is answered";
  {
    const auto result = sys(Ops().putfh(root).more(getattr));
    EXPECT_EQ(result.status, kWrongSec);
    EXPECT_EQ(result.count, 1u) << "by PUTFH";
  }
  {
    const auto result = sys(Ops().putfh(root).op(32));  // SAVEFH
    EXPECT_EQ(result.status, kWrongSec);
    EXPECT_EQ(result.count, 1u);
  }
  {
    const auto result = sys(Ops().putfh(root).lookup("x"));
    EXPECT_EQ(result.status, kWrongSec);
    EXPECT_EQ(result.count, 2u) << "by LOOKUP";
  }
  const std::string cache = kdc()->login("ann");
  Ticket weak(port, cache, GssService::kIntegrity);
  EXPECT_EQ(status_of(weak.compound(Ops().putrootfh().lookup("secret"))), kWrongSec);
  Ticket ann(port, cache, GssService::kPrivacy);
  EXPECT_EQ(status_of(ann.compound(Ops().putrootfh().lookup("secret").more(getattr))), kOk);
  EXPECT_EQ(status_of(ann.compound(Ops().putfh(root).more(getattr))), kOk);
  // READDIR of the pseudo root shows it to everybody.
  EXPECT_EQ(status_of(sys(Ops().putrootfh().op(26).u64(0).u64(0).u32(8000).u32(8000).u32(1).u32(1u << 20))), kOk);
}

TEST_F(KerberosIdentityTest, SecinfoTellsWhatAnExportTakes) {
  publish_for("secret", {SecurityFlavor::kKrb5p, SecurityFlavor::kKrb5});
  const auto services = [&](const Ops& ops) {
    auto result = sys(ops);
    EXPECT_TRUE(result.ok()) << static_cast<int>(result.status);
    result.next(24);
    result.next(33);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;  // flavor, service
    for (std::uint32_t left = result.in.u32(); left > 0 && result.in.ok(); --left) {
      const std::uint32_t flavor = result.in.u32();
      std::uint32_t service = 0;
      if (flavor == 6) {
        constexpr unsigned char kOid[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02};
        EXPECT_TRUE(std::ranges::equal(result.in.opaque(100), std::as_bytes(std::span(kOid))));
        EXPECT_EQ(result.in.u32(), 0u) << "qop";
        service = result.in.u32();
      }
      list.emplace_back(flavor, service);
    }
    EXPECT_TRUE(result.in.ok());
    return list;
  };
  using List = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(services(Ops().putrootfh().op(33).string("secret")), (List{{6, 3}, {6, 1}}));
  EXPECT_EQ(services(Ops().putrootfh().op(33).string("test")), (List{{1, 0}, {6, 1}, {6, 2}, {6, 3}, {0, 0}}));
}

TEST_F(KerberosIdentityTest, KerberosCallersSeeNamesAndOthersNumbers) {
  const auto made = volume->ns().create({}, {.parent = volume->registry().snapshot()->find_export("test")->root,
                                             .name = "file",
                                             .set = {.mode = 0666, .uid = 1001, .gid = 5000}});
  ASSERT_TRUE(made);
  NfsCaller caller(port);
  const Handle file = *caller.lookup(root_of("test"), "file");
  Ticket ann(port, kdc()->login("ann"), GssService::kIntegrity);
  EXPECT_EQ(owner_text(ann.compound(owner_of(file))), "ann@example.org:staff@example.org");
  EXPECT_EQ(owner_text(sys(owner_of(file))), "1001:5000");
  ASSERT_TRUE(volume->ns().setattr({}, {.id = made->attr.id, .set = {.uid = 4321, .gid = 4322}}));
  EXPECT_EQ(owner_text(ann.compound(owner_of(file))), "4321:4322") << "who has no name here";
}

TEST_F(KerberosIdentityTest, OwnersAreTakenAsNumbersAndAsNamesOfOurDomain) {
  publish("free", {anyone(core::Squash::kNone)});
  NfsCaller caller(port);
  const Handle file = caller.create(root_of("free"), "file");
  const auto set = [&](std::string_view owner, std::string_view group) {
    Xdr values;
    values.string(owner).string(group);
    return status_of(
        sys(Ops().putfh(file).op(34).stateid({}).u32(2).u32(0).u32(kOwnerBit | kOwnerGroupBit).opaque(values.bytes())));
  };
  using enum Nfs4Status;
  EXPECT_EQ(set("ann@example.org", "staff@example.org"), kOk);
  EXPECT_EQ(owner_text(sys(owner_of(file))), "1001:5000");
  EXPECT_EQ(set("bob@EXAMPLE.ORG", "77"), kOk) << "domains have no case";
  EXPECT_EQ(owner_text(sys(owner_of(file))), "1002:77");
  EXPECT_EQ(set("4294967295", "0"), kOk);
  for (const char* bad : {"zoe@example.org", "ann@elsewhere.org", "ann", "@example.org", "007", "-1", "4294967296",
                          "1 ", "staff@example.org"}) {
    EXPECT_EQ(set(bad, "0"), kBadOwner) << bad;
  }
  EXPECT_EQ(set("", "0"), kInval) << "no name at all";
  EXPECT_EQ(set("0", ""), kInval);
  EXPECT_EQ(set("0", "ann@example.org"), kBadOwner) << "a user is no group";
  EXPECT_EQ(owner_text(sys(owner_of(file))), "4294967295:0") << "nothing has changed";
}

TEST_F(KerberosIdentityTest, AClientRecordBelongsToThePrincipalThatMadeIt) {
  Ticket ann(port, kdc()->login("ann"), GssService::kIntegrity);
  Ticket bob(port, kdc()->login("robert"), GssService::kIntegrity);
  const Ops exchange = Ops().op(42).u64(7).string("a client").u32(0).u32(0).u32(0);
  auto first = ann.compound(exchange, 1);
  ASSERT_TRUE(first.ok());
  first.next(42);
  const std::uint64_t client = first.in.u64();
  const std::uint32_t sequence = first.in.u32();
  Ops create;
  create.op(43).u64(client).u32(sequence).u32(0);
  for (int channel = 0; channel < 2; ++channel) create.u32(0).u32(1 << 20).u32(1 << 20).u32(4096).u32(16).u32(8).u32(0);
  create.u32(0x4000'0000).u32(1).u32(0);
  using enum Nfs4Status;
  EXPECT_EQ(status_of(bob.compound(create, 1)), kClidInUse);
  ASSERT_EQ(status_of(ann.compound(create, 1)), kOk);
  EXPECT_EQ(status_of(bob.compound(exchange, 1)), kClidInUse);
  EXPECT_EQ(status_of(ann.compound(exchange, 1)), kOk);
  // 18.35.4 case 9
  EXPECT_EQ(status_of(bob.compound(Ops().op(42).u64(7).string("a client").u32(0x4000'0000).u32(0).u32(0), 1)), kPerm);
}

}  // namespace
}  // namespace stoa::test

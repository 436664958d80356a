#include "tests/frontends/nfs/kerberos/kerberos_fixture.h"

#include <atomic>

#include "frontends/nfs/mount/program.h"
#include "frontends/nfs/v3/program.h"

namespace stoa::test {
namespace {

std::atomic<std::uint32_t> g_xid{0x4000'0000};

CallSpec spec_of(std::uint32_t program, std::uint32_t version, std::uint32_t procedure, std::uint32_t xid) {
  return {.xid = xid, .program = program, .version = version, .procedure = procedure};
}

}  // namespace

Ticket::Ticket(std::uint16_t port, const std::string& cache, rpc::GssService service, const std::string& target)
    : wire(port),
      context(cache, target),
      caller(wire, context, service, spec_of(nfs3::kNfsProgram, 3, 0, 1)),
      xid(g_xid.fetch_add(0x1000)) {
  const auto token = context.step();
  if (!token) return;
  made = caller.init(*token);
  if (made && made->major == 0) context.step(made->token);
}

NfsResult Ticket::nfs3(std::uint32_t procedure, const Xdr& arguments, const GssFaults& faults) {
  return NfsResult(caller.call(spec_of(nfs3::kNfsProgram, 3, procedure, ++xid), arguments, faults));
}

NfsResult Ticket::mount(std::string_view path) {
  return NfsResult(caller.call(spec_of(mount3::kMountProgram, 3, 1, ++xid), Xdr().string(path)));
}

CompoundResult Ticket::compound(const Ops& ops, std::uint32_t minor) {
  return CompoundResult(caller.call(spec_of(nfs3::kNfsProgram, 4, 1, ++xid),
                                    Xdr().string("").u32(minor).u32(ops.count).raw(ops.body.bytes())));
}

KerberosTest::KerberosTest() : ProtocolTest(Store::kMemory) {
  if (kdc() == nullptr) return;
  options.keytab = kdc()->keytab();
  options.id_domain = "example.org";
  publish("test", {anyone(core::Squash::kRoot)});
  core::Registry& registry = volume->registry();
  EXPECT_TRUE(registry.add_group({.name = "staff", .gid = 5000}));
  EXPECT_TRUE(registry.add_user({.name = "ann", .uid = 1001, .gid = 1001, .groups = {5000}}));
  EXPECT_TRUE(registry.add_user({.name = "bob", .uid = 1002, .gid = 1002, .principal = "robert@STOA.TEST"}));
  start_protocol();
}

void KerberosTest::SetUp() {
  if (kdc() == nullptr)
    GTEST_SKIP() << "no program " << Kdc::missing() << " (Debian: krb5-kdc, krb5-admin-server, krb5-user)";
}

Kdc* KerberosTest::kdc() {
  static const std::unique_ptr<Kdc> kdc = [] {
    auto started = Kdc::missing().empty() ? std::make_unique<Kdc>() : nullptr;
    if (started) started->add_service("nfs/localhost");
    return started;
  }();
  return kdc.get();
}

void KerberosTest::publish_for(const std::string& name, std::vector<core::SecurityFlavor> security) {
  publish(name, {anyone(core::Squash::kRoot)});
  core::Export changed = *volume->registry().snapshot()->find_export(name);
  changed.security = std::move(security);
  ASSERT_TRUE(volume->registry().change_export(changed));
}

Handle KerberosTest::root_of(const std::string& name) {
  NfsCaller sys(port);
  return sys.mount("/" + name).value_or(Handle{});
}

}  // namespace stoa::test

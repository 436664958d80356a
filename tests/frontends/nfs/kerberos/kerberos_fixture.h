// An NFS server with a keytab, a KDC, and clients with tickets.
#pragma once

#include "tests/frontends/kerberos/kdc.h"
#include "tests/frontends/nfs/gss_caller.h"
#include "tests/frontends/nfs/kerberos/initiator.h"
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {

// One user over one connection, with one service, for all programs.
struct Ticket {
  Ticket(std::uint16_t port, const std::string& cache, rpc::GssService service,
         const std::string& target = "nfs@localhost");
  // NFSv3, MOUNT and COMPOUND of minor version 0 or 1.
  NfsResult nfs3(std::uint32_t procedure, const Xdr& arguments, const GssFaults& faults = {});
  NfsResult mount(std::string_view path);
  CompoundResult compound(const Ops& ops, std::uint32_t minor = 0);

  WireClient wire;
  Initiator context;
  GssCaller caller;
  std::optional<GssInitResult> made;
  std::uint32_t xid;
};

// Users ann (1001, of group staff) and bob (1002, with principal robert@STOA.TEST); the export "/test", open to all
// flavors.
class KerberosTest : public ProtocolTest {
 protected:
  KerberosTest();
  void SetUp() override;
  // The KDC of all tests of this process; null: a program is missing.
  static Kdc* kdc();
  // Publishes "/name" for these flavours only.
  void publish_for(const std::string& name, std::vector<core::SecurityFlavor> security);
  Handle root_of(const std::string& name);
};

}  // namespace stoa::test

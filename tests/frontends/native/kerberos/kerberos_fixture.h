// A native server with a keytab, a KDC, and clients with tickets.
#pragma once

#include "tests/frontends/kerberos/kdc.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {

// Users ann (1000) and bob (1002, with principal robert@STOA.TEST); the export "/test", open to all flavors. The realm
// knows the server as nfs/localhost and as stoa/127.0.0.1, and its keytab has both.
class NativeKerberosTest : public NativeTest {
 protected:
  NativeKerberosTest();
  void SetUp() override;
  // The KDC of all tests of this process; null: a program is missing.
  static Kdc* kdc();

  // A client with the tickets of this process.
  Result<std::unique_ptr<Client>> connect(const std::string& host = "localhost", const std::string& name = "test",
                                          const ClientOptions& more = {}, std::uint16_t at = 0);
  // What a client is told that is refused.
  Error refused(const std::string& host = "localhost", const std::string& name = "test",
                const ClientOptions& more = {});
  // The owner of a new directory; ~0: it could not be made.
  static std::uint32_t owner_made_by(Client& client, const std::string& name);
  void set_security(std::vector<core::SecurityFlavor> security);
  // With a certificate: TLS is offered.
  void serve_tls();
  // Of refused log-ins and calls that audit was told of: "who: request: reason".
  void audit_denials();
  std::vector<std::string> refusals();

  static constexpr ClientKey kTicket() { return {.kind = KeyKind::kKerberos}; }
};

}  // namespace stoa::test

#include "tests/frontends/native/kerberos/kerberos_fixture.h"

#include "core/journal/journal.h"
#include "tests/frontends/tls/certificates.h"

namespace stoa::test {

NativeKerberosTest::NativeKerberosTest() {
  if (kdc() == nullptr) return;
  stop_server();
  options.keytab = kdc()->keytab();
  start_server();
  EXPECT_TRUE(volume->registry().add_user({.name = "bob", .uid = 1002, .gid = 1002, .principal = "robert@STOA.TEST"}));
}

void NativeKerberosTest::SetUp() {
  if (kdc() == nullptr)
    GTEST_SKIP() << "no program " << Kdc::missing() << " (Debian: krb5-kdc, krb5-admin-server, krb5-user)";
  kdc()->hold(kdc()->login("ann"));
}

Kdc* NativeKerberosTest::kdc() {
  static const std::unique_ptr<Kdc> kdc = [] {
    auto started = Kdc::missing().empty() ? std::make_unique<Kdc>() : nullptr;
    if (started) {
      started->add_service("nfs/localhost");
      started->add_service("stoa/127.0.0.1");
    }
    return started;
  }();
  return kdc.get();
}

Result<std::unique_ptr<Client>> NativeKerberosTest::connect(const std::string& host, const std::string& name,
                                                            const ClientOptions& more, std::uint16_t at) {
  ClientOptions wanted = more;
  wanted.url = "stoa://" + host + ":" + std::to_string(at == 0 ? port : at) + "/" + name;
  wanted.kerberos = true;
  return Client::connect(wanted);
}

Error NativeKerberosTest::refused(const std::string& host, const std::string& name, const ClientOptions& more) {
  const auto client = connect(host, name, more);
  EXPECT_FALSE(client);
  return client ? Error{} : client.error();
}

std::uint32_t NativeKerberosTest::owner_made_by(Client& client, const std::string& name) {
  Batch batch;
  batch.add<operations::mkdir>({.parent = File{client.facts().root}, .name = name});
  const auto replies = client.call(batch);
  EXPECT_TRUE(replies) << (replies ? "" : describe(replies.error()));
  if (!replies) return ~0u;
  const auto made = replies->get<operations::mkdir>(0);
  EXPECT_TRUE(made) << (made ? "" : describe(made.error()));
  return made ? made->attr.uid : ~0u;
}

void NativeKerberosTest::set_security(std::vector<core::SecurityFlavor> security) {
  core::Export changed = *volume->registry().snapshot()->find_export("test");
  changed.security = std::move(security);
  ASSERT_TRUE(volume->registry().change_export(changed));
}

void NativeKerberosTest::serve_tls() {
  const TestCertificate shown = TestAuthority().issue("DNS:localhost");
  stop_server();
  options.tls = *tls::Context::server(shown.chain, shown.key);
  start_server();
}

void NativeKerberosTest::audit_denials() {
  ASSERT_TRUE(volume->registry().set_audit_policy({core::kRootId, core::bit(core::AuditClass::kDenied)}));
}

std::vector<std::string> NativeKerberosTest::refusals() {
  std::vector<std::string> found;
  const auto page = volume->journal().read(0, 10'000);
  EXPECT_TRUE(page);
  for (const core::JournalRecord& record : page->records) {
    if (record.kind != core::ChangeKind::kRefused) continue;
    EXPECT_EQ(record.protocol, core::Protocol::kNative);
    found.push_back(record.to_name + ": " + record.name);
  }
  return found;
}

}  // namespace stoa::test

// Log-ins by Kerberos with tickets of a real KDC: who gets in as whom, and what the others are told.
#include <cstdlib>

#include "frontends/native/lib/stoa.h"
#include "frontends/native/protocol/login.h"
#include "tests/frontends/native/kerberos/kerberos_fixture.h"
#include "tests/frontends/tls/certificates.h"

namespace stoa::test {
namespace {

using core::SecurityFlavor;

class NativeKerberosLogin : public NativeKerberosTest {
 protected:
  static void expect_says(const Error& error, Errc code, std::initializer_list<std::string_view> words) {
    EXPECT_EQ(error.code, code) << error.detail;
    for (const std::string_view word : words) EXPECT_NE(error.detail.find(word), std::string::npos) << error.detail;
  }
};

TEST_F(NativeKerberosLogin, ActsAsTheUserOfThePrincipalAsOverNfs) {
  const auto ann = connect();
  ASSERT_TRUE(ann) << describe(ann.error());
  EXPECT_EQ(owner_made_by(**ann, "a"), 1000u);
  kdc()->hold(kdc()->login("robert"));
  const auto bob = connect();
  ASSERT_TRUE(bob) << describe(bob.error());
  EXPECT_EQ(owner_made_by(**bob, "b"), 1002u);
  std::vector<std::string> names;
  for (const NativeClientStatus& client : server->clients()) names.push_back(client.name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"principal ann@STOA.TEST", "principal robert@STOA.TEST"}));
}

TEST_F(NativeKerberosLogin, EitherServiceNameWillDo) {
  EXPECT_TRUE(connect("localhost")) << "nfs/localhost";
  EXPECT_TRUE(connect("127.0.0.1")) << "stoa/127.0.0.1";
}

TEST_F(NativeKerberosLogin, MayNotSayForWhomItAsks) {
  const auto client = connect();
  ASSERT_TRUE(client);
  Batch batch;
  batch.add<operations::getattr>({File{(*client)->facts().root}});
  const auto replies = (*client)->call(batch, root());
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code, Errc::kAccess);
}

TEST_F(NativeKerberosLogin, IsSquashedByTheRuleOfTheExport) {
  publish("squashed", anyone(core::Squash::kAll));
  const auto client = connect("localhost", "squashed");
  ASSERT_TRUE(client) << describe(client.error());
  EXPECT_EQ(owner_made_by(**client, "d"), 65534u);
}

TEST_F(NativeKerberosLogin, APrincipalWithoutAUserIsToldSo) {
  audit_denials();
  kdc()->hold(kdc()->login("stranger"));
  expect_says(refused(), Errc::kAccess, {"no user", "stoa user create"});
  // One with another principal on record is not known by its name, and names of services are users only by record.
  kdc()->hold(kdc()->login("bob"));
  expect_says(refused(), Errc::kAccess, {"no user"});
  kdc()->hold(kdc()->login("ann/admin"));
  expect_says(refused(), Errc::kAccess, {"no user"});
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 0u) << "they have proven who they are";
  const std::string why = "@STOA.TEST: log-in to /test: no user has this principal";
  EXPECT_EQ(refusals(),
            (std::vector<std::string>{"principal stranger" + why, "principal bob" + why, "principal ann/admin" + why}));
}

TEST_F(NativeKerberosLogin, AUserThatIsTakenAwayAsksNothingMore) {
  const auto client = connect();
  ASSERT_TRUE(client);
  EXPECT_EQ(owner_made_by(**client, "d"), 1000u);
  ASSERT_TRUE(volume->registry().remove_user("ann"));
  Batch batch;
  batch.add<operations::getattr>({File{(*client)->facts().root}});
  const auto replies = (*client)->call(batch);
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code, Errc::kAccess);
}

TEST_F(NativeKerberosLogin, WithoutAKeytabThereIsNoKerberos) {
  stop_server();
  options.keytab.clear();
  start_server();
  expect_says(refused(), Errc::kNotSupported, {"no keytab", "nfs.keytab"});
  options.keytab = "/nonexistent/keytab";
  const auto started =
      NativeServer::start(options, volume->ns(), volume->state(), volume->registry(), host_keys, metrics);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::kInvalid);
  EXPECT_NE(started.error().detail.find("/nonexistent/keytab"), std::string::npos);
}

TEST_F(NativeKerberosLogin, AKeytabOfAnotherRealmOpensNoTicket) {
  const std::string keytab = kdc()->keytab() + ".other";
  const std::string command =
      "printf 'addent -password -p nfs/localhost@OTHER.TEST -k 1 -e aes256-cts\\nsecret\\nwkt " + keytab +
      "\\nq\\n' | ktutil > /dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  audit_denials();
  stop_server();
  options.keytab = keytab;
  start_server();
  expect_says(refused(), Errc::kAccess, {"no key", "keytab", "nfs/localhost"});
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
  EXPECT_EQ(refusals(),
            std::vector<std::string>{"a Kerberos ticket: log-in to /test: the keytab has no key for the ticket"});
}

TEST_F(NativeKerberosLogin, APrincipalOfAnotherRealmIsNobodyByItsName) {
  // On record ann is of another realm, so that the one of this realm is somebody else.
  core::User ann = *volume->registry().snapshot()->find_user("ann");
  ann.principal = "ann@OTHER.TEST";
  ASSERT_TRUE(volume->registry().change_user(ann));
  expect_says(refused(), Errc::kAccess, {"no user"});
}

TEST_F(NativeKerberosLogin, NoTicketAndAnUnknownServerAreSaidByTheClient) {
  kdc()->hold("");
  expect_says(refused(), Errc::kAccess, {"no Kerberos ticket", "kinit"});
  kdc()->hold(kdc()->login("ann"));
  stop_server();
  options.address = "0.0.0.0";
  start_server();
  expect_says(refused("127.0.0.2"), Errc::kNotFound, {"stoa/127.0.0.2", "nfs/127.0.0.2", "keytab"});
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 0u);
}

TEST_F(NativeKerberosLogin, TheExportDecidesWhetherAndHow) {
  audit_denials();
  set_security({SecurityFlavor::kSys});
  expect_says(refused(), Errc::kAccess, {"takes no Kerberos", "--sec"});
  set_security({SecurityFlavor::kKrb5});
  EXPECT_TRUE(connect());
  for (const SecurityFlavor sealed : {SecurityFlavor::kKrb5i, SecurityFlavor::kKrb5p}) {
    set_security({SecurityFlavor::kSys, sealed});
    expect_says(refused(), Errc::kAccess, {"TLS", "native.tls_certificate"});
  }
  EXPECT_EQ(refusals(), (std::vector<std::string>{
                            "principal ann@STOA.TEST: log-in to /test: the export takes no Kerberos",
                            "principal ann@STOA.TEST: log-in to /test: the export takes Kerberos over TLS only",
                            "principal ann@STOA.TEST: log-in to /test: the export takes Kerberos over TLS only"}));
  serve_tls();
  EXPECT_TRUE(connect());
  expect_says(refused("localhost", "test", {.tls = TlsWish::kOff}), Errc::kAccess, {"TLS"});
}

TEST_F(NativeKerberosLogin, AnExportThatComesToWantMoreRefusesWhoIsHere) {
  const auto plain = connect("localhost", "test", {.tls = TlsWish::kOff});
  ASSERT_TRUE(plain);
  const auto asked = [&] {
    Batch batch;
    batch.add<operations::getattr>({File{(*plain)->facts().root}});
    const auto replies = (*plain)->call(batch);
    return replies ? Errc{} : replies.error().code;
  };
  EXPECT_EQ(asked(), Errc{});
  set_security({SecurityFlavor::kKrb5p});
  EXPECT_EQ(asked(), Errc::kAccess);
  set_security({SecurityFlavor::kSys});
  EXPECT_EQ(asked(), Errc::kAccess);
  set_security({});
  EXPECT_EQ(asked(), Errc{});
}

TEST_F(NativeKerberosLogin, AClientThatMayUseTlsComesAgainWithIt) {
  const auto client = connect();
  ASSERT_TRUE(client);
  serve_tls();
  // It is back over TLS, or hears of it now: what it asks is done once either way.
  set_security({SecurityFlavor::kKrb5p});
  EXPECT_EQ(owner_made_by(**client, "once"), 1000u);
}

TEST_F(NativeKerberosLogin, NothingButATokenIsTakenForOne) {
  auto connection = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
  ASSERT_TRUE(connection);
  const Nonce nonce = make_nonce();
  const auto hello = [&](std::string_view key) {
    return encode_single(MessageKind::kHello, Hello{.oldest_version = kVersion,
                                                    .newest_version = kVersion,
                                                    .key_kind = static_cast<U32>(KeyKind::kKerberos),
                                                    .nonce = as_text(nonce),
                                                    .key = key,
                                                    .export_name = "test",
                                                    .client_id = "0123456789abcdef"});
  };
  const auto answer_to = [&](const std::string& token) {
    auto fresh = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
    EXPECT_TRUE(fresh && (*fresh)->send(hello("")) && (*fresh)->receive(std::chrono::seconds(10)));
    EXPECT_TRUE((*fresh)->send(encode_single(MessageKind::kProof, TicketProof{.token = token})));
    MessageView view;
    const auto body = (*fresh)->receive(std::chrono::seconds(10));
    EXPECT_TRUE(body && cut_message(**body, view) == Cut::kWhole);
    return WireStatus{view.header.status};
  };
  EXPECT_EQ(answer_to(""), WireStatus::ticket_refused);
  EXPECT_EQ(answer_to("x"), WireStatus::ticket_refused);
  EXPECT_EQ(answer_to(std::string(1000, '\x60')), WireStatus::ticket_refused);
  EXPECT_EQ(answer_to(std::string(kTokenBytesMax + 1, '\x60')), WireStatus::ticket_refused);
  // No key is named with it.
  ASSERT_TRUE((*connection)->send(hello("HOSTKEY")));
  EXPECT_EQ((*connection)->receive(std::chrono::seconds(10)).error().code, Errc::kIo);
}

TEST_F(NativeKerberosLogin, FailuresAreSlowed) {
  stop_server();
  options.keytab = kdc()->keytab() + ".empty";
  const std::string command = "printf 'addent -password -p nfs/nobody@STOA.TEST -k 1 -e aes256-cts\\nsecret\\nwkt " +
                              options.keytab + "\\nq\\n' | ktutil > /dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  start_server();
  int tries = 0;
  while (refused().code != Errc::kBusy) {
    ASSERT_LT(++tries, 20);
  }
  EXPECT_GT(tries, 4);
  EXPECT_GE(metric("stoa_native_logins_slowed_total"), 1u);
}

TEST_F(NativeKerberosLogin, OfTheLibraryIsAsked) {
  const std::string address = "stoa://localhost:" + std::to_string(port) + "/test";
  char why[256] = {};
  stoa_options wanted{};
  wanted.size = sizeof wanted;
  wanted.url = address.c_str();
  wanted.security = STOA_KERBEROS;
  wanted.why = why;
  wanted.why_bytes = sizeof why;
  stoa_fs* fs = nullptr;
  ASSERT_EQ(stoa_connect(&wanted, &fs), 0) << why;
  EXPECT_EQ(stoa_mkdir(fs, nullptr, "d", 0755), 0);
  stoa_attributes found{};
  EXPECT_EQ(stoa_stat(fs, nullptr, "d", 0, &found), 0);
  EXPECT_EQ(found.uid, 1000u);
  EXPECT_EQ(stoa_disconnect(fs), 0);

  wanted.key_file = "/nowhere";
  EXPECT_EQ(stoa_connect(&wanted, &fs), -EINVAL) << "one or the other";
  wanted.key_file = nullptr;
  wanted.security = 2;
  EXPECT_EQ(stoa_connect(&wanted, &fs), -EINVAL);
  wanted.security = STOA_KERBEROS;
  wanted.spare2 = 1;
  EXPECT_EQ(stoa_connect(&wanted, &fs), -EINVAL);
  wanted.spare2 = 0;
  kdc()->hold("");
  EXPECT_EQ(stoa_connect(&wanted, &fs), -EACCES);
  EXPECT_NE(std::string(why).find("kinit"), std::string::npos) << why;
}

}  // namespace
}  // namespace stoa::test

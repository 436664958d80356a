// The native protocol over TLS: who gets in how, and that nobody in between can do anything.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/frontends/native/meddler.h"
#include "tests/frontends/native/native_fixture.h"
#include "tests/frontends/tls/certificates.h"

namespace stoa::test {
namespace {

const ClientKey kHostKey{KeyKind::kHost, "HOSTKEY", "host-secret"};
constexpr std::chrono::seconds kPatience{10};

class NativeTls : public NativeTest {
 protected:
  NativeTls() { serve(false); }

  void serve(bool required, const std::string& name = "IP:127.0.0.1") {
    stop_server();
    const TestCertificate shown = authority.issue(name);
    options.tls = *tls::Context::server(shown.chain, shown.key);
    options.tls_required = required;
    start_server();
  }
  void serve_plain() {
    stop_server();
    options.tls = nullptr;
    options.tls_required = false;
    start_server();
  }
  Result<std::unique_ptr<Client>> connect(TlsWish wish, const std::string& ca = {}, const std::string& scheme = "stoa",
                                          std::uint16_t to = 0) {
    const std::string at = std::to_string(to == 0 ? port : to);
    return Client::connect({.url = scheme + "://127.0.0.1:" + at + "/test",
                            .key_file = key_file("host HOSTKEY host-secret\n"),
                            .tls = wish,
                            .ca_file = ca});
  }
  std::string ca_file() { return key_file(authority.pem(), 0644); }
  Errc refused(TlsWish wish, const std::string& ca = {}, const std::string& scheme = "stoa") {
    const auto client = connect(wish, ca, scheme);
    EXPECT_FALSE(client);
    if (client) return Errc{};
    EXPECT_FALSE(client.error().detail.empty());
    return client.error().code;
  }
  std::uint64_t tls_connections() const { return metric("stoa_native_connections_tls_total"); }
  std::uint64_t failed_handshakes() const {
    return metric("stoa_native_connections_closed_total{reason=\"tls_handshake\"}");
  }
  int plain_socket() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  RawChannel raw_tls(const std::string& client_id = "0123456789abcdef") {
    const auto any = *tls::Context::client(false, "");
    return RawChannel(port, kHostKey, {"test", client_id}, any.get());
  }
  void require_for_export() {
    auto entry = *volume->registry().snapshot()->find_export("test");
    entry.native_tls_required = true;
    ASSERT_TRUE(volume->registry().change_export(entry));
  }
  static Result<Replies> getattr(Client& client) {
    Batch batch;
    batch.add<operations::getattr>({File{client.facts().root}});
    return client.call(batch, root());
  }

  const TestAuthority authority;
};

TEST_F(NativeTls, WhatIsOfferedIsUsed) {
  const auto client = connect(TlsWish::kOffered);
  ASSERT_TRUE(client) << describe(client.error());
  EXPECT_EQ(tls_connections(), 1u);
  EXPECT_TRUE(getattr(**client));
  (*client)->break_connections();
  EXPECT_TRUE(getattr(**client));
  EXPECT_EQ(tls_connections(), 2u);
}

TEST_F(NativeTls, OffIsPlain) {
  const auto client = connect(TlsWish::kOff);
  ASSERT_TRUE(client);
  EXPECT_EQ(tls_connections(), 0u);
}

TEST_F(NativeTls, RequiredNeedsACertificateThatIsTrusted) {
  EXPECT_TRUE(connect(TlsWish::kRequired, ca_file()));
  EXPECT_TRUE(connect(TlsWish::kOffered, "", "stoa"));
  EXPECT_TRUE(connect(TlsWish::kOffered, ca_file(), "stoas"));
  EXPECT_EQ(refused(TlsWish::kRequired), Errc::kAccess) << "the system trusts no such authority";
  EXPECT_EQ(refused(TlsWish::kOffered, "", "stoas"), Errc::kAccess);
  EXPECT_EQ(refused(TlsWish::kRequired, "/dev/null"), Errc::kInvalid);
  const TestAuthority other;
  EXPECT_EQ(refused(TlsWish::kRequired, key_file(other.pem(), 0644)), Errc::kAccess);
  serve(false, "DNS:other.example");
  const auto named = connect(TlsWish::kRequired, ca_file());
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, Errc::kAccess);
  EXPECT_NE(named.error().detail.find("another name"), std::string::npos) << named.error().detail;
}

TEST_F(NativeTls, AServerWithoutACertificateOffersNothing) {
  serve_plain();
  EXPECT_TRUE(connect(TlsWish::kOffered));
  const auto required = connect(TlsWish::kRequired, ca_file());
  ASSERT_FALSE(required);
  EXPECT_EQ(required.error().code, Errc::kNotSupported);
  EXPECT_NE(required.error().detail.find("speaks no TLS"), std::string::npos) << required.error().detail;
}

TEST_F(NativeTls, AServerThatRequiresItTakesNobodyWithout) {
  serve(true);
  EXPECT_EQ(refused(TlsWish::kOff), Errc::kAccess);
  EXPECT_TRUE(connect(TlsWish::kOffered));
  EXPECT_TRUE(connect(TlsWish::kRequired, ca_file()));
}

TEST_F(NativeTls, AnExportThatRequiresItTakesNobodyWithout) {
  publish("open", anyone());
  require_for_export();
  EXPECT_EQ(refused(TlsWish::kOff), Errc::kAccess);
  EXPECT_TRUE(connect(TlsWish::kOffered));
  EXPECT_TRUE(
      Client::connect({.url = url("open"), .key_file = key_file("host HOSTKEY host-secret\n"), .tls = TlsWish::kOff}));
}

TEST_F(NativeTls, AnExportThatComesToRequireItRefusesPlainCalls) {
  serve_plain();
  const auto client = connect(TlsWish::kOffered);
  ASSERT_TRUE(client);
  serve(false);  // the client is back in its session, and hears of TLS
  require_for_export();
  auto late = raw("0000000000000001");
  EXPECT_FALSE(late.welcome);
  EXPECT_TRUE(getattr(**client));
  EXPECT_GE(tls_connections(), 1u);
}

TEST_F(NativeTls, APlainChannelIsRefusedOnceItIsRequired) {
  const auto off = connect(TlsWish::kOff);
  auto plain = raw();
  ASSERT_TRUE(off && plain.welcome);
  const Bytes record = record_of<operations::getattr>({File{static_cast<U64>(exported)}});
  EXPECT_EQ(first_status(plain.call({}, record)), WireStatus::ok);
  require_for_export();
  EXPECT_EQ(first_status(plain.call({.sequence = 2}, record)), WireStatus::tls_required);
  const auto replies = getattr(**off);
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code, Errc::kAccess);
}

TEST_F(NativeTls, ARenewedCertificateIsShownToWhoComes) {
  const auto before = connect(TlsWish::kRequired, ca_file());
  ASSERT_TRUE(before);
  const TestAuthority other;
  const TestCertificate fresh = other.issue("IP:127.0.0.1");
  server->renew(*tls::Context::server(fresh.chain, fresh.key));
  EXPECT_TRUE(getattr(**before)) << "who is here stays";
  EXPECT_EQ(refused(TlsWish::kRequired, ca_file()), Errc::kAccess);
  EXPECT_TRUE(connect(TlsWish::kRequired, key_file(other.pem(), 0644)));
}

TEST_F(NativeTls, CarriesWritesAndReadsOfAllSizes) {
  const auto client = connect(TlsWish::kOffered);
  ASSERT_TRUE(client);
  const auto made = must<operations::create>(**client, {.parent = File{(*client)->facts().root}, .name = "f"});
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4095}, std::size_t{16384}, kPayloadBytesMax - 1, kPayloadBytesMax}) {
    std::string data(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 31 + i / 4096);
    Batch batch;
    batch.add_write({.file = File{made.attr.id}, .stable = 1}, NativeTest::bytes(data));
    const auto written = (*client)->call(batch, root());
    ASSERT_TRUE(written) << describe(written.error());
    ASSERT_EQ(written->status(0), WireStatus::ok);
    Batch reads;
    reads.add<operations::read>({.file = File{made.attr.id}, .length = static_cast<U32>(bytes)});
    const auto read = (*client)->call(reads, root());
    ASSERT_TRUE(read);
    EXPECT_EQ(NativeTest::text(read->data(0)), data);
  }
}

TEST_F(NativeTls, ManyCallsInOneSendAreAllAnswered) {
  auto channel = raw_tls();
  ASSERT_TRUE(channel.welcome);
  const Bytes record = record_of<operations::getattr>({File{static_cast<U64>(exported)}});
  const U32 slots = channel.welcome->slots;
  for (U32 sequence = 1; sequence <= 40; ++sequence) {
    Bytes all;
    for (U32 slot = 0; slot < slots; ++slot) {
      const Bytes one = channel.frame({.slot = slot, .sequence = sequence}, record);
      all.insert(all.end(), one.begin(), one.end());
    }
    channel.send(all);
    for (U32 slot = 0; slot < slots; ++slot) ASSERT_EQ(first_status(channel.receive()), WireStatus::ok);
  }
}

TEST_F(NativeTls, ThreadsShareAChannel) {
  const auto client = connect(TlsWish::kOffered);
  ASSERT_TRUE(client);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) good += getattr(**client) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 200);
}

// --- hostile

TEST_F(NativeTls, GarbageAfterTheFirstByteClosesItsConnectionOnly) {
  const int fd = plain_socket();
  const std::string garbage = "\x16" + std::string(4000, '\x03');
  ASSERT_EQ(send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL), static_cast<ssize_t>(garbage.size()));
  char room[256];
  while (recv(fd, room, sizeof room, 0) > 0) {
  }
  close(fd);
  EXPECT_EQ(failed_handshakes(), 1u);
  EXPECT_EQ(tls_connections(), 1u);
  EXPECT_TRUE(connect(TlsWish::kOffered));
}

TEST_F(NativeTls, HalfAHandshakeIsEndedAfterTheTimeOfARecord) {
  stop_server();
  options.limits.record_timeout = std::chrono::seconds(1);
  start_server();
  const int fd = plain_socket();
  ASSERT_EQ(send(fd, "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
  char byte = 0;
  EXPECT_LE(recv(fd, &byte, 1, 0), 0);
  close(fd);
}

TEST_F(NativeTls, HalfHandshakesGiveWay) {
  stop_server();
  options.limits.connections_per_address_max = 8;
  options.limits.half_sent_patience = std::chrono::seconds(0);
  start_server();
  std::vector<int> fds;
  for (int i = 0; i < 40; ++i) {
    fds.push_back(plain_socket());
    ASSERT_EQ(send(fds.back(), "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
  }
  const auto client = connect(TlsWish::kOffered);
  ASSERT_TRUE(client) << describe(client.error());
  EXPECT_TRUE(getattr(**client));
  for (const int fd : fds) close(fd);
}

TEST_F(NativeTls, NothingIsRunBeforeTheLogInWithTlsEither) {
  auto connection = ClientConnection::open("127.0.0.1", port, kPatience);
  ASSERT_TRUE(connection);
  const auto any = *tls::Context::client(false, "");
  ASSERT_TRUE((*connection)->start_tls(*any, "127.0.0.1", kPatience));
  const Bytes record = record_of<operations::getattr>({File{static_cast<U64>(exported)}});
  ASSERT_TRUE(
      (*connection)
          ->send(encode_message({.version = 1, .kind = static_cast<U16>(MessageKind::kCall), .operation_count = 1}, {},
                                record, {})));
  EXPECT_EQ((*connection)->receive(kPatience).error().code, Errc::kIo);
}

// --- in between

TEST_F(NativeTls, WhoTakesTheOfferAwayIsFound) {
  Meddler meddler(port, authority.issue("IP:127.0.0.1"), {.change = take_offer_away});
  const auto client = connect(TlsWish::kOffered, "", "stoa", meddler.port);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::kAccess);
  EXPECT_EQ(meddler.challenges, 1) << "it went as far as the proof";
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
  EXPECT_EQ(metric("stoa_native_logins_total"), 0u);
}

TEST_F(NativeTls, WhoSpeaksTlsToBothIsFoundWithoutAnyCertificate) {
  Meddler meddler(port, authority.issue("IP:127.0.0.1"), {.speaks_tls = true});
  const auto any = *tls::Context::client(false, "");
  auto connection = ClientConnection::open("127.0.0.1", meddler.port, kPatience);
  ASSERT_TRUE(connection);
  ASSERT_TRUE((*connection)->start_tls(*any, "127.0.0.1", kPatience));
  std::chrono::milliseconds wait{};
  const auto welcome = log_in(**connection, kHostKey, {"test", "0123456789abcdef"}, wait);
  ASSERT_FALSE(welcome);
  EXPECT_EQ(welcome.error().code, Errc::kAccess);
  EXPECT_EQ(meddler.challenges, 1);
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
}

TEST_F(NativeTls, WhoBreaksTlsGetsNoPlainLogIn) {
  // It lets the challenge through as it is, and refuses TLS: the client stays outside.
  Meddler meddler(port, authority.issue("IP:127.0.0.1"), {.change = take_offer_away});
  EXPECT_FALSE(connect(TlsWish::kRequired, ca_file(), "stoa", meddler.port));
  EXPECT_EQ(meddler.challenges, 0);
}

}  // namespace
}  // namespace stoa::test

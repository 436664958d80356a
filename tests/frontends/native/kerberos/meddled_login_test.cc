// Log-ins by Kerberos with somebody on the way: what was changed, heard before, or passed on is of no use.
#include "frontends/kerberos/initiator.h"
#include "frontends/native/protocol/login.h"
#include "tests/frontends/native/kerberos/kerberos_fixture.h"
#include "tests/frontends/native/meddler.h"

namespace stoa::test {
namespace {

constexpr std::chrono::seconds kWait{10};

class NativeMeddledLogin : public NativeKerberosTest {
 protected:
  Result<Welcome> log_in_at(std::uint16_t at, const tls::Context* tls = nullptr) {
    auto connection = ClientConnection::open("127.0.0.1", at, kWait);
    EXPECT_TRUE(connection);
    if (tls != nullptr) {
      EXPECT_TRUE((*connection)->start_tls(*tls, "localhost", kWait));
    }
    std::chrono::milliseconds wait{};
    return log_in(**connection, kTicket(),
                  {.export_name = "test", .client_id = "0123456789abcdef", .host = "localhost"}, wait);
  }
  const TestCertificate own_ = TestAuthority().issue("DNS:localhost");
};

// Whether nobody reads this byte: the code of the record that proves the server, and the zeros behind it. All others
// are in what is signed.
bool is_of_no_use(const MessageView& message, std::size_t at) {
  if (message.header.kind != static_cast<U16>(MessageKind::kWelcome)) return false;
  std::span<const std::byte> rest = message.operations;
  (void)next_record(rest);
  const std::size_t begin = message.operations.size() - rest.size();
  TicketProof proof;
  if (!read_record(*next_record(rest), proof)) return false;
  const std::size_t end = begin + kRecordHeadBytes + fixed_bytes<TicketProof>() + proof.token.size() + proof.mic.size();
  return at == begin + 6 || at == begin + 7 || at >= end;
}

TEST_F(NativeMeddledLogin, NoByteOfWhatIsSaidCanBeChanged) {
  // Which message, and which byte of its records.
  struct Target {
    std::atomic<MessageKind> kind{};
    std::atomic<std::size_t> at{0}, bytes{0};  // `bytes`: that it had
    std::atomic<bool> flipped{false};
  } target;
  const auto flip = [&target](const MessageView& message, Bytes& frame) {
    if (message.header.kind != static_cast<U16>(target.kind.load())) return;
    Bytes records(message.operations.begin(), message.operations.end());
    target.bytes = records.size();
    target.flipped = target.at < records.size() && !is_of_no_use(message, target.at);
    if (!target.flipped) return;
    records[target.at] ^= std::byte{1};
    frame = encode_message({.version = kVersion,
                            .kind = message.header.kind,
                            .session = message.header.session,
                            .operation_count = message.header.operation_count},
                           {}, records, {});
  };
  Meddler meddler(port, own_, {.change = flip});
  for (const MessageKind kind :
       {MessageKind::kHello, MessageKind::kChallenge, MessageKind::kProof, MessageKind::kWelcome}) {
    target.kind = kind;
    target.bytes = 1;
    for (target.at = 0; target.at < target.bytes; ++target.at) {
      const auto welcome = log_in_at(meddler.port);
      ASSERT_EQ(welcome.has_value(), !target.flipped) << "message " << static_cast<int>(kind) << ", byte " << target.at;
      // Who fails five times in a row waits; one that succeeds is forgotten about.
      if (target.at % 4 == 3) {
        ASSERT_TRUE(log_in_at(port));
      }
    }
    EXPECT_GT(target.bytes, 30u);
  }
  target.at = 1u << 20;
  EXPECT_TRUE(log_in_at(meddler.port)) << "unchanged it is a log-in";
}

TEST_F(NativeMeddledLogin, WhatWasHeardOnceIsOfNoUseAgain) {
  Bytes hello, proof;
  const auto listen = [&](const MessageView& message, Bytes& frame) {
    if (message.header.kind == static_cast<U16>(MessageKind::kHello)) hello = frame;
    if (message.header.kind == static_cast<U16>(MessageKind::kProof)) proof = frame;
  };
  Meddler meddler(port, own_, {.change = listen});
  ASSERT_TRUE(log_in_at(meddler.port));
  auto again = ClientConnection::open("127.0.0.1", port, kWait);
  ASSERT_TRUE(again && (*again)->send(hello) && (*again)->receive(kWait) && (*again)->send(proof));
  const auto body = (*again)->receive(kWait);
  ASSERT_TRUE(body);
  MessageView view;
  ASSERT_EQ(cut_message(**body, view), Cut::kWhole);
  EXPECT_EQ(WireStatus{view.header.status}, WireStatus::ticket_refused);
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
}

TEST_F(NativeMeddledLogin, ATokenThatIsBoundToNothingIsRefused) {
  // As one that was made for another protocol, and is passed on.
  const auto replace = [](const MessageView& message, Bytes& frame) {
    if (message.header.kind != static_cast<U16>(MessageKind::kProof)) return;
    kerberos::Initiator elsewhere;
    const auto token = elsewhere.begin("nfs", "localhost", {});
    ASSERT_TRUE(token);
    frame = encode_single(MessageKind::kProof, TicketProof{.token = as_text(*token)});
  };
  audit_denials();
  Meddler meddler(port, own_, {.change = replace});
  const auto welcome = log_in_at(meddler.port);
  ASSERT_FALSE(welcome);
  EXPECT_EQ(welcome.error().code, Errc::kAccess);
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
  EXPECT_EQ(refusals(), std::vector<std::string>{"a Kerberos ticket: log-in to /test: wrong ticket"});
}

TEST_F(NativeMeddledLogin, WhoTakesTheOfferOfTlsAwayIsFound) {
  serve_tls();
  Meddler meddler(port, own_, {.change = take_offer_away});
  const auto client = connect("localhost", "test", {}, meddler.port);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::kAccess);
  EXPECT_EQ(meddler.challenges, 1) << "it went as far as the ticket";
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
  EXPECT_EQ(metric("stoa_native_logins_total"), 0u);
}

TEST_F(NativeMeddledLogin, WhoSpeaksTlsToBothIsFoundWithoutAnyCertificate) {
  serve_tls();
  Meddler meddler(port, own_, {.speaks_tls = true});
  const auto any = *tls::Context::client(false, "");
  const auto welcome = log_in_at(meddler.port, any.get());
  ASSERT_FALSE(welcome);
  EXPECT_EQ(welcome.error().code, Errc::kAccess);
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 1u);
  EXPECT_TRUE(log_in_at(port, any.get()));
}

TEST_F(NativeMeddledLogin, EachRefusalIsASentenceWithACure) {
  WireStatus says{};
  const auto refuse = [&says](const MessageView& message, Bytes& frame) {
    if (message.header.kind == static_cast<U16>(MessageKind::kChallenge))
      frame = encode_single(MessageKind::kRefused, Refused{}, says);
  };
  Meddler meddler(port, own_, {.change = refuse});
  const std::pair<WireStatus, std::string_view> told[] = {{WireStatus::no_kerberos, "nfs.keytab"},
                                                          {WireStatus::kerberos_refused, "--sec sys,krb5"},
                                                          {WireStatus::kerberos_needs_tls, "mount with TLS"},
                                                          {WireStatus::ticket_refused, "changed on the way"},
                                                          {WireStatus::ticket_expired, "kinit"},
                                                          {WireStatus::clock_skew, "clocks"},
                                                          {WireStatus::no_key_for_ticket, "nfs/localhost"},
                                                          {WireStatus::no_user, "--principal"}};
  for (const auto& [status, words] : told) {
    says = status;
    const auto welcome = log_in_at(meddler.port);
    ASSERT_FALSE(welcome);
    EXPECT_EQ(welcome.error().code, to_errc(status));
    EXPECT_NE(welcome.error().detail.find(words), std::string::npos) << welcome.error().detail;
  }
}

}  // namespace
}  // namespace stoa::test

// The end of a ticket: its channel brings no calls any more, and the client takes a fresh one.
#include <thread>

#include "tests/frontends/native/kerberos/kerberos_fixture.h"

namespace stoa::test {
namespace {

using Clock = std::chrono::steady_clock;

class NativeTicketEnd : public NativeKerberosTest {};

Result<Replies> getattr(Client& client, const CallOptions& options = {}) {
  Batch batch;
  batch.add<operations::getattr>({File{client.facts().root}});
  return client.call(batch, options);
}

TEST_F(NativeTicketEnd, AnExpiredOneIsToldByTheClient) {
  kdc()->hold(kdc()->login("ann", "1s"));
  const auto until = Clock::now() + std::chrono::seconds(60);
  for (;;) {
    const auto client = connect();
    if (!client) {
      EXPECT_EQ(client.error().code, Errc::kAccess);
      EXPECT_NE(client.error().detail.find("has expired"), std::string::npos) << client.error().detail;
      EXPECT_NE(client.error().detail.find("kinit"), std::string::npos) << client.error().detail;
      return;
    }
    ASSERT_LT(Clock::now(), until) << "it lives on";
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// One test of three channels, as each would wait for the end of its own ticket.
TEST_F(NativeTicketEnd, ItsChannelBringsNoCallsAndTheSessionGoesOnWithAFreshOne) {
  const std::string lasting = kdc()->login("ann");
  kdc()->hold(kdc()->login("ann", "4s"));
  const auto client = connect("localhost", "test", {.channels = 2});
  ASSERT_TRUE(client) << describe(client.error());
  EXPECT_EQ(owner_made_by(**client, "before"), 1000u);
  const LoginWish wish{.export_name = "test", .client_id = "0123456789abcdef", .host = "localhost"};
  RawChannel channel(port, kTicket(), wish);
  ASSERT_TRUE(channel.welcome) << describe(channel.welcome.error());

  // The server refuses calls and pings.
  const Bytes late = record_of<operations::mkdir>({.parent = File{channel.welcome->root}, .name = "late"});
  const Bytes look = record_of<operations::getattr>({File{channel.welcome->root}});
  const auto until = Clock::now() + std::chrono::seconds(60);
  U32 sequence = 1;
  while (first_status(channel.call({.slot = 1, .sequence = sequence}, look)) != WireStatus::ticket_expired) {
    ASSERT_LT(Clock::now(), until) << "it lives on";
    ++sequence;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(first_status(channel.call({}, late)), WireStatus::ticket_expired);
  const MessageView pong = channel.call({.kind = static_cast<U16>(MessageKind::kPing)}, {});
  EXPECT_EQ(WireStatus{pong.header.status}, WireStatus::ticket_expired);

  // The client waits, and says what for.
  for (;;) {
    const auto replies = getattr(**client, {.deadline = Deadline(Clock::now() + std::chrono::milliseconds(500))});
    if (!replies && replies.error().detail.find("has expired; get another one with kinit") != std::string::npos) break;
    ASSERT_LT(Clock::now(), until) << "it lives on";
  }
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 0u) << "it does not come with what is over";

  // A change that is asked for meanwhile is made when there is a ticket, once, in the same session.
  std::thread asks([&] { EXPECT_EQ(owner_made_by(**client, "after"), 1000u); });
  kdc()->hold(lasting);
  asks.join();
  EXPECT_EQ((*client)->counts().sessions, 1u);
  // No slot has counted what was refused.
  LoginWish again = wish;
  again.session = channel.welcome->session;
  RawChannel fresh(port, kTicket(), again);
  ASSERT_TRUE(fresh.welcome) << describe(fresh.welcome.error());
  EXPECT_EQ(fresh.welcome->resumed, 1u);
  EXPECT_EQ(first_status(fresh.call({}, late)), WireStatus::ok);
  EXPECT_EQ(first_status(fresh.call({}, late)), WireStatus::ok) << "the same once more is the same";
  EXPECT_EQ(server->clients().size(), 2u);
}

}  // namespace
}  // namespace stoa::test

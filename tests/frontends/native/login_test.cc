// Log-ins: who gets in, and what the others are told.
#include "frontends/native/protocol/login.h"
#include "frontends/native/server/login_throttle.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeLogin : public NativeTest {
 protected:
  Errc refused(const ClientKey& key, const std::string& name = "test") {
    RawChannel channel(port, key, {name, "0123456789abcdef", 0});
    EXPECT_FALSE(channel.welcome);
    return channel.welcome ? Errc{} : channel.welcome.error().code;
  }
};

TEST_F(NativeLogin, AUserActsAsThatUser) {
  const auto client = user_client();
  ASSERT_TRUE(client);
  Batch batch;
  batch.add<operations::mkdir>(
      {.parent = File{client->facts().root}, .set = {.which = kSetMode, .mode = 0750}, .name = "d"});
  const auto replies = client->call(batch);
  ASSERT_TRUE(replies);
  const auto made = replies->get<operations::mkdir>(0);
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_EQ(made->attr.uid, 1000u);
  EXPECT_EQ(made->attr.mode, 0750u);
}

TEST_F(NativeLogin, AUserMayNotSayForWhomItAsks) {
  const auto client = user_client();
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  const auto replies = client->call(batch, root());
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code, Errc::kAccess);
}

TEST_F(NativeLogin, AHostMustSayForWhomItAsks) {
  const auto client = host_client();
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  EXPECT_FALSE(client->call(batch));
}

TEST_F(NativeLogin, AHostIsSquashedByTheRuleOfTheExport) {
  publish("squashed", anyone(core::Squash::kRoot));
  const auto client = host_client("squashed");
  const auto made = must<operations::mkdir>(*client, {.parent = File{client->facts().root}, .name = "d"});
  EXPECT_EQ(made.attr.uid, 65534u);
}

TEST_F(NativeLogin, WrongKeysAreRefusedAlike) {
  EXPECT_EQ(refused({KeyKind::kHost, "HOSTKEY", "wrong"}), Errc::kAccess);
  EXPECT_EQ(refused({KeyKind::kHost, "NOKEY", "host-secret"}), Errc::kAccess);
  EXPECT_EQ(refused({KeyKind::kUser, "HOSTKEY", "host-secret"}), Errc::kAccess);
  EXPECT_EQ(refused({KeyKind::kUser, ann_key.access_key, "wrong"}), Errc::kAccess);
  EXPECT_EQ(metric("stoa_native_logins_failed_total"), 4u);
}

TEST_F(NativeLogin, FailuresAreSlowed) {
  // Each failure doubles the wait, so that a slow machine meets it, too.
  int tries = 0;
  while (refused({KeyKind::kHost, "HOSTKEY", "wrong"}) != Errc::kBusy) {
    ASSERT_LT(++tries, 20);
  }
  EXPECT_GT(tries, static_cast<int>(LoginThrottle::kFreeFailures));
  EXPECT_GE(metric("stoa_native_logins_slowed_total"), 1u);
}

TEST(NativeLoginThrottle, WaitsGrowAndEnd) {
  LoginThrottle throttle;
  const LoginThrottle::Address host{1};
  LoginThrottle::Time now{std::chrono::hours(1)};
  for (std::uint32_t i = 0; i < LoginThrottle::kFreeFailures; ++i) throttle.failed(host, now);
  EXPECT_EQ(throttle.wait(host, now).count(), 0);
  throttle.failed(host, now);
  EXPECT_EQ(throttle.wait(host, now), LoginThrottle::kDelayFirst);
  EXPECT_EQ(throttle.wait(LoginThrottle::Address{2}, now).count(), 0);
  for (int i = 0; i < 100; ++i) throttle.failed(host, now);
  EXPECT_EQ(throttle.wait(host, now), LoginThrottle::kDelayMax);
  now += LoginThrottle::kForgotten + std::chrono::seconds(1);
  throttle.failed(host, now);
  EXPECT_EQ(throttle.wait(host, now).count(), 0);
  throttle.succeeded(host);
  EXPECT_EQ(throttle.wait(host, now).count(), 0);
}

TEST_F(NativeLogin, ExportsWithoutARuleAndOthersAreRefused) {
  publish("closed", {.network = *core::Network::parse("10.0.0.0/8")});
  EXPECT_EQ(refused({KeyKind::kHost, "HOSTKEY", "host-secret"}, "closed"), Errc::kAccess);
  EXPECT_EQ(refused({KeyKind::kHost, "HOSTKEY", "host-secret"}, "nowhere"), Errc::kNotFound);
}

TEST_F(NativeLogin, ARuleThatIsTakenAwayRefusesTheNextCall) {
  const auto client = host_client();
  auto entry = *volume->registry().snapshot()->find_export("test");
  entry.clients = {{.network = *core::Network::parse("10.0.0.0/8")}};
  ASSERT_TRUE(volume->registry().change_export(entry));
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  const auto replies = client->call(batch, root());
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code, Errc::kAccess);
}

TEST_F(NativeLogin, AKeyThatIsTakenAwayOpensNothingMore) {
  const auto client = host_client();
  host_keys.clear();
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  EXPECT_FALSE(client->call(batch, root()));
}

TEST_F(NativeLogin, NoCommonVersionIsSaid) {
  auto connection = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
  ASSERT_TRUE(connection);
  const Nonce nonce = make_nonce();
  ASSERT_TRUE((*connection)
                  ->send(encode_single(MessageKind::kHello, Hello{.oldest_version = kVersion + 1,
                                                                  .newest_version = kVersion + 9,
                                                                  .key_kind = 2,
                                                                  .nonce = as_text(nonce),
                                                                  .key = "HOSTKEY",
                                                                  .export_name = "test",
                                                                  .client_id = "0123456789abcdef"})));
  const auto body = (*connection)->receive(std::chrono::seconds(10));
  ASSERT_TRUE(body);
  MessageView view;
  ASSERT_EQ(cut_message(**body, view), Cut::kWhole);
  EXPECT_EQ(WireStatus{view.header.status}, WireStatus::no_common_version);
}

TEST_F(NativeLogin, AReplayedProofIsRefused) {
  // What a listener has heard: a hello and the proof that was right for the challenge then.
  auto once = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
  auto twice = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
  ASSERT_TRUE(once && twice);
  const Nonce nonce = make_nonce();
  const Hello hello{.oldest_version = kVersion,
                    .newest_version = kVersion,
                    .key_kind = 2,
                    .nonce = as_text(nonce),
                    .key = "HOSTKEY",
                    .export_name = "test",
                    .client_id = "0123456789abcdef"};
  Bytes said;
  append_record(said, 0, hello);
  ASSERT_TRUE((*once)->send(encode_single(MessageKind::kHello, hello)));
  const auto challenged = (*once)->receive(std::chrono::seconds(10));
  ASSERT_TRUE(challenged);
  MessageView view;
  ASSERT_EQ(cut_message(**challenged, view), Cut::kWhole);
  const Mac mac = prove(ProofOf::kClient, "host-secret", {said, view.operations});
  ASSERT_TRUE((*twice)->send(encode_single(MessageKind::kHello, hello)));
  ASSERT_TRUE((*twice)->receive(std::chrono::seconds(10)));
  ASSERT_TRUE((*twice)->send(encode_single(MessageKind::kProof, Proof{as_text(mac)})));
  const auto answer = (*twice)->receive(std::chrono::seconds(10));
  ASSERT_TRUE(answer);
  ASSERT_EQ(cut_message(**answer, view), Cut::kWhole);
  EXPECT_EQ(WireStatus{view.header.status}, WireStatus::wrong_key);
}

TEST_F(NativeLogin, AnEvictedClientGetsANewSession) {
  const auto client = host_client();
  const auto clients = server->clients();
  ASSERT_EQ(clients.size(), 1u);
  EXPECT_EQ(clients[0].name, "host node1");
  ASSERT_TRUE(server->evict(clients[0].id));
  EXPECT_EQ(server->evict(clients[0].id).error().code, Errc::kNotFound);
  must<operations::getattr>(*client, {File{client->facts().root}});
  EXPECT_EQ(client->counts().sessions, 2u);
}

}  // namespace
}  // namespace stoa::test

// The client library: many calls at once, connections that break, servers that start anew.
#include <atomic>
#include <thread>

#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeClient : public NativeTest {};

TEST_F(NativeClient, ManyThreadsMakeFilesOverBreakingConnections) {
  const auto client = host_client("test", 3);
  constexpr int kThreads = 4, kFiles = 40;
  std::atomic<int> failures{0}, made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kFiles; ++i) {
        Batch batch;
        batch.add<operations::create>({.parent = File{client->facts().root},
                                       .mode = kCreateGuarded,
                                       .name = std::to_string(t) + "." + std::to_string(i)});
        const auto replies = client->call(batch, root());
        if (!replies || !replies->ok()) ++failures;
        if (++made % 20 == 0) client->break_connections();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(client->counts().sessions, 1u);
  EXPECT_GT(client->counts().reconnects, 0u);
}

TEST_F(NativeClient, CallsGoOnWhenTheServerHasStartedAnew) {
  const auto client = host_client();
  must<operations::mkdir>(*client, {.parent = File{client->facts().root}, .name = "before"});
  const auto old = client->facts().boot_verifier;
  restart();
  must<operations::mkdir>(*client, {.parent = File{client->facts().root}, .name = "after"});
  EXPECT_NE(client->facts().boot_verifier, old);
  EXPECT_EQ(client->counts().sessions, 2u);
}

TEST_F(NativeClient, UnstableWritesAreSentAgainToANewServer) {
  const auto client = host_client();
  const auto made = must<operations::create>(*client, {.parent = File{client->facts().root}, .name = "f"});
  Batch write;
  write.add_write({.file = File{made.attr.id}, .offset = 0}, bytes("first "));
  write.add_write({.file = File{made.attr.id}, .offset = 6}, bytes("second"));
  ASSERT_TRUE(client->call(write, root())->ok());
  restart();
  Batch commit;
  commit.add<operations::commit>({.file = File{made.attr.id}});
  const auto done = client->call(commit, root());
  ASSERT_TRUE(done) << describe(done.error());
  EXPECT_TRUE(done->ok());
  EXPECT_EQ(client->counts().rewritten, 2u);
  Batch read;
  read.add<operations::read>({.file = File{made.attr.id}, .length = 100});
  const auto replies = client->call(read, root());
  EXPECT_EQ(text(replies->data(0)), "first second");
}

TEST_F(NativeClient, ACommitCoversWhatWasWrittenBefore) {
  const auto client = host_client();
  const auto made = must<operations::create>(*client, {.parent = File{client->facts().root}, .name = "f"});
  Batch batch;
  batch.add_write({.file = File{made.attr.id}}, bytes("x"));
  batch.add<operations::commit>({.file = File{made.attr.id}});
  ASSERT_TRUE(client->call(batch, root())->ok());
  ASSERT_TRUE(client->call(batch, root())->ok());
  restart();
  must<operations::getattr>(*client, {File{made.attr.id}});
  EXPECT_EQ(client->counts().rewritten, 0u);
}

TEST_F(NativeClient, SoftCallsEndWithoutAServer) {
  const std::string keys = key_file("host HOSTKEY host-secret\n");
  auto client = Client::connect({.url = url("test"), .key_file = keys, .soft = std::chrono::milliseconds(50)});
  ASSERT_TRUE(client);
  stop_server();
  Batch batch;
  batch.add<operations::getattr>({File{(*client)->facts().root}});
  EXPECT_EQ((*client)->call(batch, root()).error().code, Errc::kTimeout);
  start_server();
  CallOptions patient = root();
  const auto replies = [&] {
    for (;;) {
      auto tried = (*client)->call(batch, patient);
      if (tried || tried.error().code != Errc::kTimeout) return tried;
    }
  }();
  EXPECT_TRUE(replies && replies->ok());
}

TEST_F(NativeClient, WhatKeepsAClientOutIsSaidInASentence) {
  const std::string keys = key_file("host HOSTKEY host-secret\n");
  const auto refused = [&](const ClientOptions& options) {
    const auto client = Client::connect(options);
    EXPECT_FALSE(client);
    return client ? std::string() : client.error().detail;
  };
  EXPECT_NE(refused({.url = url("none"), .key_file = keys}).find("no export none"), std::string::npos);
  EXPECT_NE(refused({.url = url("test/none"), .key_file = keys}).find("no directory none"), std::string::npos);
  EXPECT_NE(refused({.url = url("test"), .key_file = key_file("host HOSTKEY wrong\n")}).find("key"), std::string::npos);
  EXPECT_NE(refused({.url = "stoa://127.0.0.1:1/test", .key_file = keys}).find("no server"), std::string::npos);
  EXPECT_NE(refused({.url = url("test"), .key_file = keys, .channels = 17}).find("channels"), std::string::npos);
}

TEST_F(NativeClient, APathOfTheUrlIsTheRoot) {
  const auto client = host_client();
  const auto dir = must<operations::mkdir>(
      *client, {.parent = File{client->facts().root}, .set = {.which = kSetMode, .mode = 0755}, .name = "a"});
  const auto below = must<operations::mkdir>(
      *client, {.parent = File{dir.attr.id}, .set = {.which = kSetMode, .mode = 0755}, .name = "b"});
  EXPECT_EQ(host_client("test/a//b/")->facts().root, below.attr.id);
}

TEST_F(NativeClient, AnEndedClientLeavesNothing) {
  {
    const auto client = host_client();
    const auto made = must<operations::create>(*client, {.parent = File{client->facts().root}, .name = "f"});
    must<operations::open>(*client, {.file = File{made.attr.id}, .open = client->new_open(), .access = kOpenRead});
    EXPECT_EQ(server->clients().size(), 1u);
  }
  // The goodbye is read before a later log-in of the same server's one connection.
  const auto other = host_client();
  for (int i = 0; i < 1000 && server->clients().size() != 1; ++i)
    must<operations::getattr>(*other, {File{other->facts().root}});
  EXPECT_EQ(server->clients().size(), 1u);
}

}  // namespace
}  // namespace stoa::test

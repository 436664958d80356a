// The client library: many calls at once, connections that break, servers that start anew.
#include <atomic>
#include <map>
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

TEST_F(NativeClient, WritesBeforeAFailureInTheSameMessageAreKeptToo) {
  const auto client = host_client();
  const File top{client->facts().root};
  const File file{must<operations::create>(*client, {.parent = top, .name = "f"}).attr.id};
  Batch batch;
  batch.add_write({.file = file}, bytes("x"));
  batch.add<operations::lookup>({.parent = top, .name = "none"});
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies);
  EXPECT_EQ(replies->size(), 2u);
  restart();
  must<operations::getattr>(*client, {file});
  EXPECT_EQ(client->counts().rewritten, 1u);
}

TEST_F(NativeClient, AppendsKeepTheirPlacesOverARestart) {
  const auto one = host_client(), two = host_client();
  const auto made = must<operations::create>(*one, {.parent = File{one->facts().root}, .name = "f"});
  const File file{made.attr.id};
  std::map<Client*, std::uint64_t> opens;
  for (Client* client : {one.get(), two.get()}) {
    opens[client] = client->new_open();
    must<operations::open>(*client, {.file = file, .open = opens[client], .access = kOpenWrite});
  }
  const auto append = [&](const std::unique_ptr<Client>& client, std::string_view text) {
    Batch batch;
    batch.add_with<operations::append>({.file = file, .open = opens[client.get()]}, bytes(text));
    const auto replies = client->call(batch, root());
    EXPECT_TRUE(replies && replies->ok());
  };
  append(one, "one,");
  append(two, "two,");
  restart();
  append(one, "three,");
  append(two, "four");
  Batch read;
  read.add<operations::read>({.file = file, .length = 100});
  EXPECT_EQ(text(one->call(read, root())->data(0)), "one,two,three,four");
  EXPECT_EQ(one->counts().rewritten + two->counts().rewritten, 2u);
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

TEST_F(NativeClient, AnInterruptedCallEndsWithoutAServerAndKeepsNothing) {
  const auto client = host_client(), other = host_client();
  const File top{client->facts().root};
  const File file{must<operations::create>(*client, {.parent = top, .name = "f"}).attr.id};
  stop_server();
  Batch batch;
  batch.add<operations::open>({.file = file, .open = client->new_open(), .access = kOpenRead, .deny = kOpenWrite});
  batch.add<operations::lock>({.file = result_of(0), .owner = 1, .length = kLockToEnd, .exclusive = 1});
  batch.add<operations::mkdir>({.parent = top, .name = "ran"});
  int asked = 0;
  CallOptions options = root();
  options.interrupted = [&] { return ++asked == 2; };
  EXPECT_EQ(client->call(batch, options).error().code, Errc::kTimeout);
  start_server();
  // The message is run all the same.
  while (status<operations::lookup>(*other, {.parent = top, .name = "ran"}) != WireStatus::ok) {
  }
  EXPECT_EQ(
      status<operations::lock>(*other, {.file = file, .owner = 2, .length = kLockToEnd, .exclusive = 1, .waits = 1}),
      WireStatus::ok);
  OpenArgs writes{.file = file, .access = kOpenWrite};
  do {
    writes.open = other->new_open();
  } while (status<operations::open>(*other, writes) == WireStatus::share_conflict);
  EXPECT_EQ(status<operations::close>(*other, {writes.open}), WireStatus::ok);
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

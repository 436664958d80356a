// A server that knows the key and says what no server should.
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "frontends/native/client/client.h"
#include "tests/frontends/native/fake_server.h"
#include "tests/frontends/native/key_files.h"

namespace stoa::test {
namespace {

class NativeStrangeServer : public testing::Test {
 protected:
  NativeStrangeServer()
      : server_([this](FakeServer::Peer& peer, const MessageView& message) { answer(peer, message); }) {}

  Result<std::unique_ptr<Client>> connect() {
    return Client::connect(
        {.url = "stoa://127.0.0.1:" + std::to_string(server_.port()) + "/test", .key_file = keys_.path()});
  }
  void answer(FakeServer::Peer& peer, const MessageView& message) {
    const std::lock_guard lock(mutex_);
    if (message.header.kind != static_cast<U16>(MessageKind::kCall)) return;
    if (message.header.session == 1) {
      peer.reply(message.header, answer_of(OpenReply{.attr = {.id = 5, .type = kRegularFile}}));
    } else {
      ++retries_;
      changed_.notify_all();
      peer.reply(message.header, {}, 0, WireStatus::false_retry);
    }
  }

  TestKeyFile keys_{"host HOSTKEY host-secret\n"};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  int retries_ = 0;
  FakeServer server_;
};

TEST_F(NativeStrangeServer, SlotsWithoutNumberTakeNoMemory) {
  server_.next_welcome([](Welcome& welcome) { welcome.slots = ~U32{0}; });
  const auto client = connect();
  ASSERT_TRUE(client) << describe(client.error());
  EXPECT_EQ((*client)->facts().slots, 1023u);
}

TEST_F(NativeStrangeServer, ASessionThatLastsNoTimeIsRefused) {
  server_.next_welcome([](Welcome& welcome) { welcome.lease_seconds = 0; });
  const auto client = connect();
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Errc::kCorrupt);
}

TEST_F(NativeStrangeServer, AClientEndsThoughItIsNeverToldWhatBecameOfItsOpens) {
  auto client = connect();
  ASSERT_TRUE(client) << describe(client.error());
  Batch batch;
  batch.add<operations::open>({.file = File{5}, .open = (*client)->new_open()});
  ASSERT_TRUE((*client)->call(batch, {.as = Identity{.uid = 0, .gid = 0}}));
  server_.next_session(2, 2, true);
  server_.break_connections();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return retries_ > 3; });
  }
  client->reset();
}

}  // namespace
}  // namespace stoa::test

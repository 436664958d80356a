// Calls that no thread waits for, calls whose caller has gone, and the threads of the library.
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <thread>

#include "tests/frontends/native/fake_server.h"
#include "tests/frontends/native/key_files.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

// What a submitted call has come to.
class Outcome {
 public:
  std::function<void(Result<Replies>)> done() {
    return [promise = promise_](Result<Replies> replies) { promise->set_value(std::move(replies)); };
  }
  Result<Replies> get() { return future_.get(); }
  bool is_there() const { return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

 private:
  std::shared_ptr<std::promise<Result<Replies>>> promise_ = std::make_shared<std::promise<Result<Replies>>>();
  std::future<Result<Replies>> future_ = promise_->get_future();
};

class NativeSubmit : public NativeTest {};

TEST_F(NativeSubmit, MoreCallsThanSlotsAreAllDoneOnce) {
  const auto client = host_client("test", 2);
  constexpr int kCalls = 500;
  std::atomic<int> good{0}, told{0};
  std::mutex mutex;
  std::condition_variable changed;
  for (int i = 0; i < kCalls; ++i) {
    Batch batch;
    batch.add<operations::create>(
        {.parent = File{client->facts().root}, .mode = kCreateGuarded, .name = std::to_string(i)});
    client->submit(batch, root(), [&](const Result<Replies>& replies) {
      if (replies && replies->ok()) ++good;
      const std::lock_guard lock(mutex);
      ++told;
      changed.notify_all();
    });
    if (i == 250) client->break_connections();
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return told == kCalls; });
  EXPECT_EQ(good, kCalls);
}

TEST_F(NativeSubmit, WritesAreKeptOverARestartAndCommitted) {
  const auto client = host_client();
  const File file{must<operations::create>(*client, {.parent = File{client->facts().root}, .name = "f"}).attr.id};
  std::vector<Outcome> writes(20);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    Batch batch;
    batch.add_write({.file = file, .offset = i * 2}, bytes("ab"));
    client->submit(batch, root(), writes[i].done());
  }
  for (Outcome& write : writes) ASSERT_TRUE(write.get()->ok());
  restart();
  Batch commit;
  commit.add<operations::commit>({.file = file});
  Outcome committed;
  client->submit(commit, root(), committed.done());
  ASSERT_TRUE(committed.get()->ok());
  // Truncating commits what is kept first: that is done by a thread that may wait.
  Batch again;
  again.add_write({.file = file, .offset = 40}, bytes("cd"));
  Outcome written, cut;
  client->submit(again, root(), written.done());
  ASSERT_TRUE(written.get()->ok());
  Batch shorter;
  shorter.add<operations::setattr>({.file = file, .set = {.which = kSetSize, .size = 41}});
  client->submit(shorter, root(), cut.done());
  const auto replies = cut.get();
  ASSERT_TRUE(replies && replies->ok());
  EXPECT_EQ(replies->read<operations::setattr>(0).attr.size, 41u);
}

TEST_F(NativeSubmit, DoneMaySubmitTheNextOne) {
  const auto client = host_client();
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  std::promise<int> end;
  std::function<void(int)> next = [&](int left) {
    if (left == 0) return end.set_value(0);
    client->submit(batch, root(), [&, left](const Result<Replies>& replies) {
      EXPECT_TRUE(replies && replies->ok());
      next(left - 1);
    });
  };
  next(300);
  EXPECT_EQ(end.get_future().get(), 0);
}

TEST_F(NativeSubmit, WhatIsEmptyOrTooLargeIsSaidAtOnce) {
  const auto client = host_client();
  Outcome empty, large;
  client->submit(Batch{}, root(), empty.done());
  EXPECT_EQ(empty.get()->size(), 0u);
  const std::vector<std::byte> data(kPayloadBytesMax + 1);
  Batch batch;
  batch.add_write({.file = File{client->facts().root}}, data);
  client->submit(batch, root(), large.done());
  EXPECT_EQ(large.get().error().code, Errc::kTooLarge);
}

TEST_F(NativeSubmit, TheEndOfTheClientEndsThem) {
  auto client = host_client();
  stop_server();
  std::vector<Outcome> calls(4);
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  for (Outcome& call : calls) client->submit(batch, root(), call.done());
  client.reset();
  for (Outcome& call : calls) EXPECT_EQ(call.get().error().code, Errc::kShutdown);
}

TEST_F(NativeSubmit, ADeadlineEndsThem) {
  const auto client = host_client();
  stop_server();
  Batch batch;
  batch.add<operations::getattr>({File{client->facts().root}});
  Outcome late, interrupted;
  CallOptions short_one = root();
  short_one.deadline = Deadline::in(std::chrono::milliseconds(30));
  client->submit(batch, short_one, late.done());
  CallOptions asked = root();
  asked.interrupted = [] { return true; };
  client->submit(batch, asked, interrupted.done());
  EXPECT_EQ(late.get().error().code, Errc::kTimeout);
  EXPECT_EQ(interrupted.get().error().code, Errc::kTimeout);
  start_server();
}

TEST_F(NativeSubmit, TheSecondHostIsTakenWhereTheFirstIsNotThere) {
  const auto client = Client::connect({.url = "stoa://127.0.0.1:1,127.0.0.1:" + std::to_string(port) + "/test",
                                       .key_file = key_file("host HOSTKEY host-secret\n")});
  ASSERT_TRUE(client) << describe(client.error());
  must<operations::getattr>(**client, {File{(*client)->facts().root}});
  restart();
  must<operations::getattr>(**client, {File{(*client)->facts().root}});
}

TEST_F(NativeSubmit, NoThreadOfTheLibraryTakesASignal) {
  const auto threads = [] {
    std::map<std::string, std::uint64_t> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream status(entry.path() / "status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigBlk:")) all[entry.path().filename()] = std::stoull(line.substr(7), nullptr, 16);
      }
    }
    return all;
  };
  const auto before = threads();
  const auto client = host_client("test", 2);
  must<operations::getattr>(*client, {File{client->facts().root}});
  int more = 0;
  for (const auto& [thread, blocked] : threads()) {
    if (before.contains(thread)) continue;
    ++more;
    // Signals 1 to 31 without SIGKILL and SIGSTOP. Those of the C library are blocked while a thread begins or ends.
    EXPECT_EQ(blocked & 0x7fff'ffffU, 0x7ffb'feffU);
  }
  EXPECT_GE(more, 3);
}

// --- with a server that does not answer all

class NativeAbandoned : public testing::Test {
 protected:
  NativeAbandoned() : server_([this](FakeServer::Peer& peer, const MessageView& message) { answer(peer, message); }) {}

  std::unique_ptr<Client> connect(std::chrono::milliseconds soft) {
    auto client = Client::connect({.url = "stoa://127.0.0.1:" + std::to_string(server_.port()) + "/test",
                                   .key_file = keys_.path(),
                                   .soft = soft});
    EXPECT_TRUE(client) << describe(client.error());
    return client ? std::move(*client) : nullptr;
  }
  static CallOptions root() { return {.as = Identity{.uid = 0, .gid = 0}}; }
  static Result<Replies> write(Client& client, U64 file) {
    Batch batch;
    batch.add_write({.file = File{file}, .stable = 1}, std::as_bytes(std::span("data", 4)));
    return client.call(batch, root());
  }
  void answer(FakeServer::Peer& peer, const MessageView& message) {
    const std::lock_guard lock(mutex_);
    WriteArgs write;
    FileArgs file;
    if (is_only<operations::write>(message, write)) {
      const auto id = static_cast<U64>(write.file);
      writes_.push_back(id);
      if (holds_ == id) {
        held_.push_back([&peer, header = message.header] { peer.reply(header, answer_of(WriteReply{.length = 4})); });
      } else {
        peer.reply(message.header, answer_of(WriteReply{.length = 4}));
      }
    } else if (is_only<operations::getattr>(message, file)) {
      const bool later = pending_ > 0;
      if (later) --pending_;
      peer.reply(message.header,
                 later ? answer_of(Nothing{}, WireStatus::recall_pending) : answer_of(AttributesReply{}));
    }
  }

  TestKeyFile keys_{"host HOSTKEY host-secret\n"};
  std::mutex mutex_;  // guards what follows
  U64 holds_ = 0;     // writes to this file are not answered
  int pending_ = 0;
  std::vector<U64> writes_;
  std::vector<std::function<void()>> held_;
  FakeServer server_;
};

TEST_F(NativeAbandoned, LaterWritesToTheFileWaitForTheOneThatNobodyWaitsFor) {
  const auto client = connect(std::chrono::milliseconds(50));
  {
    const std::lock_guard lock(mutex_);
    holds_ = 5;
  }
  EXPECT_EQ(write(*client, 5).error().code, Errc::kTimeout);
  EXPECT_EQ(write(*client, 5).error().code, Errc::kTimeout);  // is not sent
  EXPECT_TRUE(write(*client, 6));
  {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(writes_, (std::vector<U64>{5, 6}));
    holds_ = 0;
    for (const auto& reply : held_) reply();
  }
  Result<Replies> done = write(*client, 5);
  while (!done && done.error().code == Errc::kTimeout) done = write(*client, 5);
  EXPECT_TRUE(done);
}

TEST_F(NativeAbandoned, ARecallThatIsPendingIsAskedForAgainWithoutAThread) {
  const auto client = connect(std::chrono::milliseconds(0));
  {
    const std::lock_guard lock(mutex_);
    pending_ = 3;
  }
  Batch batch;
  batch.add<operations::getattr>({File{5}});
  Outcome waited, once;
  client->submit(batch, root(), waited.done());
  const auto replies = waited.get();
  ASSERT_TRUE(replies);
  EXPECT_TRUE(replies->ok());
  EXPECT_EQ(replies->size(), 1u);
  {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(pending_, 0);
    pending_ = 1;
  }
  CallOptions options = root();
  options.asks_once = true;
  client->submit(batch, options, once.done());
  EXPECT_EQ(once.get()->status(0), WireStatus::recall_pending);
}

}  // namespace
}  // namespace stoa::test

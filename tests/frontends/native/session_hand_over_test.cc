// A session that goes on in another client, as in another process.
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeHandOver : public NativeTest {
 protected:
  NativeHandOver() : one(host_client()), other(host_client()) {
    file = File{must<operations::create>(*one, {.parent = File{one->facts().root}, .name = "f"}).attr.id};
    open = one->new_open();
    must<operations::open>(*one, {.file = file, .open = open, .access = core::kShareBoth});
    must<operations::lock>(*one, {.file = file, .owner = 1, .offset = 5, .length = 5, .exclusive = 1});
  }
  Result<std::unique_ptr<Client>> resume(const SessionState& state,
                                         const std::string& key = "host HOSTKEY host-secret\n") {
    return Client::connect(
        {.url = url("test"), .key_file = key_file(key), .resumes = std::make_shared<SessionState>(state)});
  }
  WireStatus write(Client& client, std::string_view data) {
    Batch batch;
    batch.add_write({.file = file, .open = open}, bytes(data));
    const auto replies = client.call(batch, root());
    return replies ? replies->status(0) : WireStatus::io;
  }
  bool is_locked() {
    return status<operations::test_lock>(*other, {.file = file, .owner = 2, .offset = 5, .length = 1}) ==
           WireStatus::locked;
  }
  static Deadline soon() { return Deadline(Deadline::Clock::now() + std::chrono::seconds(5)); }

  std::unique_ptr<Client> one, other;
  File file{};
  U64 open = 0;
};

TEST_F(NativeHandOver, OpensLocksAndSlotsGoOn) {
  for (const std::string_view word : {"first", "other", "third"}) {
    ASSERT_EQ(write(*one, word), WireStatus::ok);
    const auto state = one->hand_over(soon());
    ASSERT_TRUE(state) << describe(state.error());
    auto next = resume(*state);
    ASSERT_TRUE(next) << describe(next.error());
    one->leave_session();
    one = std::move(*next);
    one->take_session();
    EXPECT_GT(one->new_open(), open);
    EXPECT_TRUE(is_locked());
  }
  ASSERT_EQ(write(*one, "again"), WireStatus::ok);
  // The server starts anew: what the first client has made is asked back by the last, and its write is made again.
  restart();
  EXPECT_EQ(status<operations::commit>(*one, {.file = file}), WireStatus::ok);
  EXPECT_TRUE(is_locked());
  EXPECT_FALSE(one->lost(open));
  EXPECT_GE(one->counts().reclaimed, 2u);
  EXPECT_EQ(status<operations::close>(*one, {.open = open}), WireStatus::ok);
  one.reset();
  // Nobody waits for the answer to a goodbye.
  while (is_locked()) std::this_thread::yield();
}

TEST_F(NativeHandOver, WhoDoesNotTakeItLeavesItToTheFirst) {
  const auto state = one->hand_over(soon());
  ASSERT_TRUE(state);
  {
    const auto next = resume(*state);
    ASSERT_TRUE(next);
  }
  one->take_back();
  EXPECT_TRUE(is_locked());
  EXPECT_EQ(write(*one, "on"), WireStatus::ok);
}

TEST_F(NativeHandOver, OnlyTheSameSessionGoesOn) {
  auto state = one->hand_over(soon());
  ASSERT_TRUE(state);
  const auto by_another_key = resume(*state, "user " + ann_key.access_key + " " + ann_key.secret_key + "\n");
  ASSERT_FALSE(by_another_key);
  EXPECT_EQ(by_another_key.error().code, Errc::kStale);
  // The server starts anew in between: the first client asks its state back.
  restart();
  const auto late = resume(*state);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kStale);
  one->take_back();
  EXPECT_EQ(write(*one, "on"), WireStatus::ok);
  EXPECT_TRUE(is_locked());
  EXPECT_FALSE(one->lost(open));
}

TEST_F(NativeHandOver, CallsWaitUntilItIsTakenBack) {
  ASSERT_TRUE(one->hand_over(soon()));
  CallOptions briefly = root();
  briefly.deadline = Deadline(Deadline::Clock::now() + std::chrono::milliseconds(20));
  Batch batch;
  batch.add<operations::getattr>({.file = file});
  EXPECT_EQ(one->call(batch, briefly).error().code, Errc::kTimeout);
  one->take_back();
  EXPECT_TRUE(one->call(batch, root()));
}

TEST_F(NativeHandOver, WithoutAServerNothingIsHandedOver) {
  ASSERT_EQ(write(*one, "kept"), WireStatus::ok);
  stop_server();
  const auto state = one->hand_over(Deadline(Deadline::Clock::now() + std::chrono::milliseconds(50)));
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Errc::kTimeout);
  start_server();
  EXPECT_EQ(status<operations::commit>(*one, {.file = file}), WireStatus::ok);
  EXPECT_TRUE(one->hand_over(soon()));
}

}  // namespace
}  // namespace stoa::test

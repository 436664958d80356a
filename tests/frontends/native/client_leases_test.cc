// Leases in the client library: what the server says of them, and how long they are believed.
#include <condition_variable>
#include <deque>

#include "frontends/native/client/client.h"
#include "frontends/native/client/trust_clock.h"
#include "tests/frontends/native/fake_server.h"
#include "tests/frontends/native/key_files.h"

namespace stoa::test {
namespace {

constexpr U64 kFile = 77;

// What a program is told, in words.
class Told final : public LeaseEvents {
 public:
  void lease_recalled(const LeaseRecalled& recall) override {
    say("recalled " + std::to_string(recall.lease) + " keeps " + std::to_string(recall.keeps));
  }
  void lease_lost(U64 lease) override { say("lost " + std::to_string(lease)); }
  void say(const std::string& what) {
    const std::lock_guard lock(mutex_);
    said_.push_back(what);
    changed_.notify_all();
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return !said_.empty(); })) return "nothing";
    const std::string first = said_.front();
    said_.pop_front();
    return first;
  }
  bool silent() {
    const std::lock_guard lock(mutex_);
    return said_.empty();
  }

 private:
  std::mutex mutex_;  // guards said_
  std::condition_variable changed_;
  std::deque<std::string> said_;
};

// A server that grants all leases, and keeps writes until it starts anew.
class NativeClientLeases : public testing::Test {
 protected:
  NativeClientLeases()
      : server_([this](FakeServer::Peer& peer, const MessageView& message) { answer(peer, message); }) {}

  std::unique_ptr<Client> connect() {
    auto client = Client::connect({.url = "stoa://127.0.0.1:" + std::to_string(server_.port()) + "/test",
                                   .key_file = keys_.path(),
                                   .leases = &told_});
    EXPECT_TRUE(client) << describe(client.error());
    return client ? std::move(*client) : nullptr;
  }
  static CallOptions root() { return {.as = Identity{.uid = 0, .gid = 0}}; }
  template <class Operation>
  static Result<typename Operation::Reply> run(Client& client, const typename Operation::Arguments& arguments) {
    Batch batch;
    batch.add<Operation>(arguments);
    STOA_TRY(replies, client.call(batch, root()));
    return replies.template get<Operation>(0);
  }
  U64 lease(Client& client, U32 bits = core::kAllCaching) {
    const U64 number = client.new_lease();
    const auto given = run<operations::lease>(client, {.file = File{kFile}, .lease = number, .lease_bits = bits});
    EXPECT_TRUE(given);
    return number;
  }
  Status write(Client& client, U64 under) {
    Batch batch;
    batch.add_write({.file = File{kFile}, .lease = under}, std::as_bytes(std::span("data", 4)));
    STOA_TRY(replies, client.call(batch, root()));
    STOA_TRY(written, replies.get<operations::write>(0));
    return {};
  }

  void answer(FakeServer::Peer& peer, const MessageView& message) {
    U32 flags = 0;
    {
      const std::lock_guard lock(mutex_);
      flags = flags_;
    }
    if (message.header.kind == static_cast<U16>(MessageKind::kPing)) return peer.reply(message.header, {}, flags);
    LeaseArgs lease;
    AcknowledgeArgs acknowledge;
    WriteArgs write;
    Nothing nothing;
    RangeArgs range;
    const std::lock_guard lock(mutex_);
    if (is_only<operations::lease>(message, lease)) {
      if (lease.reclaim != 0) asked_back_.push_back(lease.lease);
      if (recall_first_) {
        peer.recall({.lease = lease.lease + 1000, .file = kFile, .keeps = 1});
        peer.recall({.lease = lease.lease, .file = kFile, .keeps = 1});
      }
      const U32 bits = lease.reclaim != 0 && lease.lease == refused_ ? 0 : lease.lease_bits;
      peer.reply(message.header, answer_of(LeaseReply{.lease_bits = bits}), flags);
    } else if (is_only<operations::acknowledge>(message, acknowledge)) {
      peer.reply(message.header,
                 answer_of(nothing, acknowledge.lease == taken_ ? WireStatus::lease_lost : WireStatus::ok), flags);
    } else if (is_only<operations::write>(message, write)) {
      ++writes_;
      if (write.lease != 0 && write.lease == taken_)
        return peer.reply(message.header, answer_of(WriteReply{}, WireStatus::lease_lost), flags);
      peer.reply(message.header,
                 answer_of(WriteReply{.length = 4, .verifier = verifier_, .attr = {.id = kFile, .type = kRegularFile}}),
                 flags);
    } else if (is_only<operations::commit>(message, range)) {
      peer.reply(message.header, answer_of(CommitReply{.verifier = verifier_, .attr = {.id = kFile}}), flags);
    } else if (is_only<operations::lost_leases>(message, nothing)) {
      flags_ = 0;
      Bytes numbers;
      if (taken_ != 0) append_record(numbers, 0, LostLease{taken_});
      const Text text(reinterpret_cast<const char*>(numbers.data()), numbers.size());
      peer.reply(message.header, answer_of(LostLeasesReply{.count = taken_ != 0, .leases = text}));
    } else if (is_only<operations::reclaim_done>(message, nothing)) {
      asked_back_.push_back(0);
      peer.reply(message.header, answer_of(nothing), flags, done_status_);
    } else {
      peer.reply(message.header, answer_of(AttributesReply{.attr = {.id = kFile}}), flags);
    }
  }
  void start_anew(bool may_reclaim) {
    {
      const std::lock_guard lock(mutex_);
      ++verifier_;
    }
    server_.next_session(++session_, verifier_, may_reclaim);
    server_.break_connections();
  }
  void say(U32 flags, U64 taken) {
    const std::lock_guard lock(mutex_);
    flags_ = flags;
    taken_ = taken;
  }
  void until_trusted(const Client& client) {
    while (client.trusted_until_ns() == 0) std::this_thread::yield();
  }

  Told told_;
  TestKeyFile keys_{"host HOSTKEY host-secret\n"};
  std::mutex mutex_;  // guards what follows
  U32 flags_ = 0;
  bool recall_first_ = false;
  U64 refused_ = 0, taken_ = 0, verifier_ = 1;
  WireStatus done_status_ = WireStatus::ok;
  std::vector<U64> asked_back_;  // leases by number; 0: all is done
  int writes_ = 0;
  U64 session_ = 1;
  FakeServer server_;
};

TEST_F(NativeClientLeases, ARecallBeforeTheGrantIsToldBehindItAndUnknownOnesNotAtAll) {
  const auto client = connect();
  {
    const std::lock_guard lock(mutex_);
    recall_first_ = true;
  }
  const U64 number = lease(*client);
  EXPECT_EQ(told_.next(), "recalled " + std::to_string(number) + " keeps 1");
  EXPECT_TRUE(told_.silent());
}

TEST_F(NativeClientLeases, LostLeasesAreToldBeforeAnythingIsBelievedAgain) {
  const auto client = connect();
  const U64 first = lease(*client), second = lease(*client);
  EXPECT_GT(client->trusted_until_ns(), boot_now_ns() + 10'000'000'000);
  say(kLeasesWereLost, first);
  ASSERT_TRUE(run<operations::getattr>(*client, {File{kFile}}));
  EXPECT_EQ(told_.next(), "lost " + std::to_string(first));
  until_trusted(*client);
  EXPECT_GT(client->trusted_until_ns(), boot_now_ns() + 10'000'000'000);
  // It is told once, whoever says it.
  EXPECT_FALSE(run<operations::acknowledge>(*client, {.lease = first}));
  say(0, second);
  EXPECT_EQ(run<operations::acknowledge>(*client, {.lease = second}).error().code, Errc::kLeaseLost);
  EXPECT_EQ(told_.next(), "lost " + std::to_string(second));
  EXPECT_TRUE(told_.silent());
}

TEST_F(NativeClientLeases, UnansweredRecallsAddNoTrust) {
  const auto client = connect();
  lease(*client);
  say(kRecallsUnanswered, 0);
  ASSERT_TRUE(run<operations::getattr>(*client, {File{kFile}}));
  const std::int64_t before = client->trusted_until_ns();
  ASSERT_TRUE(run<operations::getattr>(*client, {File{kFile}}));
  EXPECT_EQ(client->trusted_until_ns(), before);
  say(0, 0);
  ASSERT_TRUE(run<operations::getattr>(*client, {File{kFile}}));
  EXPECT_GT(client->trusted_until_ns(), before);
}

TEST_F(NativeClientLeases, LeasesAreAskedBackBeforeReclaimIsDone) {
  const auto client = connect();
  const U64 kept = lease(*client), gone = lease(*client);
  const U64 given_back = lease(*client);
  ASSERT_TRUE(run<operations::acknowledge>(*client, {.lease = given_back}));
  {
    const std::lock_guard lock(mutex_);
    refused_ = gone;
  }
  start_anew(true);
  EXPECT_EQ(told_.next(), "lost " + std::to_string(gone));
  ASSERT_TRUE(run<operations::getattr>(*client, {File{kFile}}));
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(asked_back_, (std::vector<U64>{kept, gone, 0}));
  EXPECT_TRUE(told_.silent());
}

TEST_F(NativeClientLeases, AServerThatWasThereAllTheTimeGivesNoneBack) {
  const auto client = connect();
  const U64 number = lease(*client);
  start_anew(false);
  EXPECT_EQ(told_.next(), "lost " + std::to_string(number));
}

TEST_F(NativeClientLeases, ARefusedClientHasLostNothingYet) {
  const auto client = connect();
  const U64 number = lease(*client);
  {
    const std::lock_guard lock(mutex_);
    done_status_ = WireStatus::no_rule;
  }
  start_anew(true);
  for (bool asked = false; !asked; std::this_thread::yield()) {
    const std::lock_guard lock(mutex_);
    asked = std::ranges::count(asked_back_, number) >= 2;  // it comes again
    if (asked) done_status_ = WireStatus::ok;
  }
  ASSERT_TRUE(run<operations::getattr>(*client, {File{kFile}}));
  EXPECT_TRUE(told_.silent());
}

TEST_F(NativeClientLeases, AKeptWriteGoesWithTheLeaseThatItWasWrittenUnder) {
  const auto client = connect();
  const U64 number = lease(*client);
  ASSERT_TRUE(write(*client, number));
  {
    const std::lock_guard lock(mutex_);
    refused_ = number;
  }
  start_anew(true);
  EXPECT_EQ(told_.next(), "lost " + std::to_string(number));
  Batch commit;
  commit.add<operations::commit>({.file = File{kFile}});
  const auto told = client->call(commit, root());
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Errc::kIo);
  EXPECT_TRUE(client->call(commit, root()));
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(writes_, 1);
}

TEST_F(NativeClientLeases, AKeptWriteIsSentAgainWithItsLeaseOrWithoutOne) {
  const auto client = connect();
  const U64 number = lease(*client);
  ASSERT_TRUE(write(*client, number));
  ASSERT_TRUE(write(*client, 0));
  start_anew(true);
  ASSERT_TRUE(run<operations::commit>(*client, {.file = File{kFile}}));
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(writes_, 4);
}

TEST_F(NativeClientLeases, AWriteUnderALostLeaseSaysSo) {
  const auto client = connect();
  const U64 number = lease(*client);
  say(0, number);
  EXPECT_EQ(write(*client, number).error().code, Errc::kLeaseLost);
  EXPECT_EQ(told_.next(), "lost " + std::to_string(number));
}

TEST(NativeTrustClock, TheChannelThatWasSilentLongestCounts) {
  TrustClock clock(2);
  EXPECT_EQ(clock.until_ns(), 0);
  clock.answered(0, 100);
  EXPECT_EQ(clock.until_ns(), 0);
  clock.answered(1, 50);
  EXPECT_EQ(clock.until_ns(), 50 + TrustClock::kTrustNs);
  clock.answered(1, 40);
  EXPECT_EQ(clock.newest(1), 50);
  EXPECT_FALSE(clock.ran_out(1, 49 + TrustClock::kTrustNs));
  EXPECT_TRUE(clock.ran_out(1, 50 + TrustClock::kTrustNs));
  const auto first = clock.doubt();
  EXPECT_EQ(clock.until_ns(), 0);
  const auto second = clock.doubt();
  EXPECT_FALSE(clock.settle(first));
  EXPECT_EQ(clock.until_ns(), 0);
  EXPECT_TRUE(clock.settle(second));
  EXPECT_EQ(clock.until_ns(), 50 + TrustClock::kTrustNs);
}

}  // namespace
}  // namespace stoa::test

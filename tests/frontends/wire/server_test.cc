// The server with a toy protocol: records are cut, run and answered, and limits hurt the one that reached them.
#include "tests/frontends/wire/toy_server.h"

#include <thread>

namespace stoa::wire {
namespace {

TEST_F(WireServerTest, ARecordThatComesByteByByteIsAnsweredOnce) {
  start();
  ToyClient client(port_);
  for (const std::byte byte : toy_request(7, "echo slowly")) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(client.receive(), (ToyReply{7, "slowly"}));
  EXPECT_EQ(client.call(8, "echo again"), (ToyReply{8, "again"}));
}

TEST_F(WireServerTest, HalfARecordHoldsUpNoOtherConnection) {
  start();
  ToyClient half(port_), whole(port_);
  const Bytes request = toy_request(1, "echo both halves");
  ASSERT_TRUE(half.send(std::span(request).first(9)));
  EXPECT_EQ(whole.call(2, "echo x"), (ToyReply{2, "x"}));
  ASSERT_TRUE(half.send(std::span(request).subspan(9)));
  EXPECT_EQ(half.receive(), (ToyReply{1, "both halves"}));
}

TEST_F(WireServerTest, ManyRecordsOfOneReceiveAreAnsweredAndWaitForDurabilityTogether) {
  start();
  ToyClient client(port_);
  constexpr std::uint32_t kRequests = 300;
  Bytes stream;
  for (std::uint32_t id = 0; id < kRequests; ++id)
    stream = joined({stream, toy_request(id, id % 3 == 0 ? "change" : id % 3 == 1 ? "echo x" : "hello")});
  client.send(stream);
  std::vector<bool> seen(kRequests);
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    ASSERT_FALSE(seen.at(reply->id));
    seen[reply->id] = true;
    if (reply->id % 3 == 1) {
      EXPECT_EQ(reply->words, "x");
    }
  }
  EXPECT_EQ(toy_.count, kRequests / 3);
  EXPECT_LT(toy_.synced, static_cast<int>(kRequests / 3));
}

TEST_F(WireServerTest, AChangeThatIsNotDurableFailsAlone) {
  start();
  toy_.sick_file = core::FileId{2};
  ToyClient client(port_);
  client.send(joined({toy_request(1, "change"), toy_request(2, "change"), toy_request(3, "change")}));
  EXPECT_EQ(client.receive(), (ToyReply{1, "1"}));
  EXPECT_EQ(client.receive(), (ToyReply{2, "not durable"}));
  EXPECT_EQ(client.receive(), (ToyReply{3, "3"}));
}

TEST_F(WireServerTest, ARecordOverTheLimitClosesItsConnectionOnly) {
  start();
  ToyClient other(port_), client(port_);
  client.send(be32(0x7fff'ffff));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(metric("stoa_toy_connections_closed_total{reason=\"record_too_large\"}"), 1u);
  EXPECT_EQ(other.call(1, "echo x"), (ToyReply{1, "x"}));
}

TEST_F(WireServerTest, ARecordThatTheProtocolDoesNotKnowClosesItsConnection) {
  start();
  ToyClient client(port_);
  client.send(joined({toy_request(1, "echo x"), be32(1), {std::byte{0}}}));
  while (client.receive()) {
  }
  EXPECT_EQ(metric("stoa_toy_connections_closed_total{reason=\"protocol_error\"}"), 1u);
}

TEST_F(WireServerTest, ASlowSenderIsClosedAndItsMemoryGivenBack) {
  start({.record_timeout = std::chrono::seconds(1)});
  ToyClient slow(port_);
  // So much that it is received into memory of the pool.
  slow.send(joined({be32(200'000), Bytes(1000)}));
  EXPECT_TRUE(slow.closed_by_server());
  EXPECT_EQ(metric("stoa_toy_connections_closed_total{reason=\"record_timeout\"}"), 1u);
  while (metric("stoa_toy_record_memory_bytes") != 0) std::this_thread::yield();
}

TEST_F(WireServerTest, AClientMayDisconnectWithRequestsInFlight) {
  start();
  constexpr int kRequests = 4;
  {
    ToyClient client(port_);
    for (std::uint32_t id = 0; id < kRequests; ++id) client.send(toy_request(id, "gate"));
    toy_.wait_for_waiting(kRequests);
    client.disconnect();
  }
  EXPECT_EQ(ToyClient(port_).call(9, "echo x"), (ToyReply{9, "x"}));
  toy_.open_gate();
  toy_.wait_for_passed(kRequests);
  // Both connections go, each told its session once.
  while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
  server_->stop();
  EXPECT_EQ(Toy::Session::sessions_closed, 2);
}

TEST_F(WireServerTest, StopDropsRequestsThatWaitForRoom) {
  start({.in_flight_per_connection_max = 2});
  ToyClient client(port_);
  Bytes stream;
  for (std::uint32_t id = 0; id < 20; ++id) stream = joined({stream, toy_request(id, "gate")});
  client.send(stream);
  toy_.wait_for_waiting(1);
  client.disconnect();
  toy_.open_gate();
  server_->stop();
  EXPECT_EQ(Toy::Session::sessions_closed, 1);
  EXPECT_EQ(metric("stoa_toy_connections"), 0u);
}

TEST_F(WireServerTest, OfExclusiveRequestsOneRunsAtATime) {
  start();
  ToyClient client(port_);
  Bytes stream;
  for (std::uint32_t id = 0; id < 5; ++id) stream = joined({stream, toy_request(id, "lone")});
  client.send(stream);
  toy_.wait_for_waiting(1);
  EXPECT_EQ(client.call(9, "echo meanwhile"), (ToyReply{9, "meanwhile"}));
  toy_.open_gate();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.receive()->words, "passed");
  EXPECT_EQ(toy_.most_waiting, 1);
}

TEST_F(WireServerTest, HeavyRequestsRunSideBySideAndSlicesLeaveInOnePiece) {
  start();
  ToyClient client(port_);
  client.send(joined({toy_request(1, "gate"), toy_request(2, "gate"), toy_request(3, "bulk"), toy_request(4, "bulk")}));
  toy_.wait_for_waiting(2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive()->words, std::string(100'000, 'b') + ".");
  toy_.open_gate();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive()->words, "passed");
}

class WireQosClassesTest : public WireServerTest {
 protected:
  WireQosClassesTest() {
    toy_.limited = std::make_shared<qos::QosClass>();
    set_limit(1);
  }
  // A byte a second: what does not go at once waits for ever.
  void set_limit(std::optional<std::uint64_t> rate) {
    qos::Limits limits;
    limits.limit[qos::Resource::kWriteBytes] = rate;
    const std::pair<qos::QosClass*, qos::Limits> change{toy_.limited.get(), limits};
    toy_.qos_classes.change({&change, 1});
  }
  // The first request makes the debt, the second one waits.
  void pay_twice(ToyClient& client) {
    ASSERT_EQ(client.call(1, "pay"), (ToyReply{1, "pay"}));
    client.send(toy_request(2, "pay"));
    while (toy_.qos_classes.parked() != 1) std::this_thread::yield();
  }
};

TEST_F(WireQosClassesTest, ARequestThatWaitsForItsQosClassHoldsUpNoOther) {
  start();
  ToyClient client(port_);
  pay_twice(client);
  EXPECT_EQ(client.call(3, "echo x"), (ToyReply{3, "x"}));
  set_limit(std::nullopt);
  EXPECT_EQ(client.receive(), (ToyReply{2, "pay"}));
}

TEST_F(WireQosClassesTest, ARequestOfAClientThatHasGoneWaitsNoMore) {
  start();
  ToyClient client(port_);
  pay_twice(client);
  client.disconnect();
  while (toy_.qos_classes.parked() != 0) std::this_thread::yield();
  while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
  EXPECT_EQ(metric("stoa_toy_calls_parked_total"), 1u);
}

}  // namespace
}  // namespace stoa::wire

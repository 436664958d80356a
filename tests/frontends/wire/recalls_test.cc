// Requests that wait for a recall in a server: others go on, and whatever ends first answers or drops them.
#include <thread>

#include "tests/frontends/wire/toy_server.h"

namespace stoa::wire {
namespace {

class WireRecallsTest : public WireServerTest {
 protected:
  WireRecallsTest() { toy_.leases.under_way = true; }
  void give_back() {
    toy_.leases.under_way = false;
    toy_.leases.answer();
  }
};

TEST_F(WireRecallsTest, ARequestThatWaitsForALeaseHoldsUpNoOther) {
  start();
  ToyClient client(port_);
  client.send(joined({toy_request(1, "lease"), toy_request(2, "change"), toy_request(3, "heavy lease")}));
  EXPECT_EQ(client.receive(), (ToyReply{2, "1"}));
  toy_.leases.wait_for_waiting(2);
  EXPECT_EQ(client.call(4, "echo x"), (ToyReply{4, "x"}));
  EXPECT_EQ(toy_.lease_runs, 2);
  give_back();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive()->words, "done");
  EXPECT_EQ(toy_.lease_runs, 4);
  EXPECT_EQ(metric("stoa_toy_recall_waits_total"), 2u);
  // All is as before: the connection is read, and closed when its peer goes.
  EXPECT_EQ(client.call(5, "echo x"), (ToyReply{5, "x"}));
  client.disconnect();
  while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
  EXPECT_EQ(Toy::Mark::alive, 0);
}

TEST_F(WireRecallsTest, ALeaseThatCameBackMeanwhileHoldsUpNobody) {
  start();
  ToyClient client(port_);
  toy_.leases.answered_meanwhile = true;
  // It meets leases again and again, and is answered in the end.
  EXPECT_EQ(client.call(1, "lease"), (ToyReply{1, "later"}));
  EXPECT_GT(toy_.lease_runs, 2);
  EXPECT_EQ(metric("stoa_toy_recall_waits_total"), 0u);
}

TEST_F(WireRecallsTest, ItIsAnsweredWhenItsTimeIsOver) {
  start({.recall_patience = std::chrono::milliseconds(1)});
  ToyClient client(port_);
  EXPECT_EQ(client.call(1, "lease"), (ToyReply{1, "later"}));
  EXPECT_EQ(client.call(2, "heavy lease"), (ToyReply{2, "later"}));
  EXPECT_EQ(toy_.lease_runs, 4);
  toy_.leases.wait_until_none_waits();
}

TEST_F(WireRecallsTest, BeyondTheLimitItIsAnsweredAtOnce) {
  start({.waiting_per_connection_max = 1});
  ToyClient client(port_);
  client.send(joined({toy_request(1, "lease"), toy_request(2, "lease")}));
  EXPECT_EQ(client.receive(), (ToyReply{2, "later"}));
  EXPECT_EQ(metric("stoa_toy_recall_waits_refused_total"), 1u);
  give_back();
  EXPECT_EQ(client.receive(), (ToyReply{1, "done"}));
}

TEST_F(WireRecallsTest, AClientThatHasGoneLeavesNothingBehind) {
  start();
  for (const bool answered : {false, true}) {
    ToyClient client(port_);
    client.send(joined({toy_request(1, "lease"), toy_request(2, "heavy lease")}));
    toy_.leases.wait_for_waiting(2);
    client.disconnect();
    if (answered) toy_.leases.answer();
    while (metric("stoa_toy_connections") != 0) std::this_thread::yield();
    while (Toy::Mark::alive != 0) std::this_thread::yield();
  }
  toy_.leases.wait_until_none_waits();
}

TEST_F(WireRecallsTest, ADrainAnswersThemAndAStopDropsThem) {
  start();
  ToyClient client(port_), other(port_);
  client.send(toy_request(1, "lease"));
  toy_.leases.wait_for_waiting(1);
  EXPECT_TRUE(server_->drain(std::chrono::seconds(30)));
  EXPECT_EQ(client.receive(), (ToyReply{1, "later"}));
  server_->stop();
  server_.reset();
  start();
  ToyClient late(port_);
  late.send(toy_request(2, "lease"));
  toy_.leases.wait_for_waiting(1);
  server_->stop();
  EXPECT_EQ(Toy::Mark::alive, 0);
  toy_.leases.wait_until_none_waits();
}

}  // namespace
}  // namespace stoa::wire

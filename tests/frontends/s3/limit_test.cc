// The limits of the server: how many connections and requests, how slow, how long.
#include <chrono>

#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

class LimitTest : public MemoryProtocolTest {
 protected:
  // With other limits.
  void start_again() {
    client_.reset();
    server_.reset();
    start();
  }
  // Silent connections, or with no more than `bytes`. The server has seen them when it answers another one.
  std::vector<std::unique_ptr<RawClient>> connect(std::size_t count, std::string_view bytes = {}) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<RawClient>(server_->port()));
      if (!bytes.empty()) {
        EXPECT_TRUE(clients.back()->send(bytes));
      }
    }
    return clients;
  }
  std::string status_of(RawClient& raw, std::string_view method, std::string_view target) {
    if (!raw.send(head(method, target))) return "";
    return raw.read_until("\r\n\r\n").substr(0, 12);
  }
};

TEST_F(LimitTest, ASlowHeaderIsCutOff) {
  options_.limits.header_timeout_s = 1;
  options_.limits.idle_timeout_s = 1;
  start_again();
  RawClient raw(server_->port());
  ASSERT_TRUE(raw.send("GET / HTTP/1.1\r\nHost: h\r\n"));
  EXPECT_EQ(raw.read_all(), "");
}

TEST_F(LimitTest, ASlowBodyIsCutOffAndLeavesNothing) {
  options_.limits.body_timeout_s = 1;
  start_again();
  RawClient raw(server_->port());
  ASSERT_TRUE(raw.send(head("PUT", "/bucket/k", {{"content-length", "100000"}})));
  ASSERT_TRUE(raw.send("xxxx"));
  EXPECT_EQ(raw.read_all(), "");
  EXPECT_FALSE(ns().lookup_key({}, {root_, "k"}));
}

TEST_F(LimitTest, TooManyRequestsAreToldToSlowDown) {
  options_.limits.requests_max = 1;
  start_again();
  RawClient first(server_->port());
  ASSERT_TRUE(first.send(head("PUT", "/bucket/k", {{"content-length", "10"}, {"expect", "100-continue"}})));
  ASSERT_NE(first.read_until("100 Continue\r\n\r\n"), "");
  const auto second = client_->list();
  EXPECT_EQ(second.reply.status, 503);
  EXPECT_EQ(second.reply.element("Code"), "SlowDown");
  ASSERT_TRUE(first.send("0123456789"));
  EXPECT_NE(first.read_until("\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST_F(LimitTest, TooManyUploadsAreToldToSlowDown) {
  options_.limits.uploads_max = 1;
  start_again();
  RawClient first(server_->port());
  ASSERT_TRUE(first.send(head("PUT", "/bucket/k", {{"content-length", "10"}, {"expect", "100-continue"}})));
  ASSERT_NE(first.read_until("100 Continue\r\n\r\n"), "");
  EXPECT_EQ(client_->put("l", "x").element("Code"), "SlowDown");
  EXPECT_TRUE(client_->list().reply.ok());
}

TEST_F(LimitTest, BodiesBeyondTheirLimitsAreRefused) {
  options_.limits.object_bytes_max = 1000;
  options_.limits.xml_bytes_max = 1000;
  start_again();
  EXPECT_EQ(client_->put("k", std::string(1001, 'x')).element("Code"), "EntityTooLarge");
  EXPECT_TRUE(client_->put("k", std::string(1000, 'x')).ok());
  EXPECT_EQ(client_->request("POST", "", {{"delete", ""}}, std::string(1001, 'x')).element("Code"),
            "MaxMessageLengthExceeded");
  EXPECT_EQ(client_->get("k", {{"x-long", std::string(50'000, 'h')}}).element("Code"), "RequestHeaderSectionTooLarge");
  EXPECT_EQ(client_->get("k", {{"x-long", std::string(80'000, 'h')}}).status, 431);
}

TEST_F(LimitTest, DrainingAnswersWhatIsAtHandAndTakesNoMore) {
  RawClient raw(server_->port());
  ASSERT_TRUE(raw.send(head("PUT", "/bucket/k", {{"content-length", "5"}, {"expect", "100-continue"}})));
  ASSERT_NE(raw.read_until("100 Continue\r\n\r\n"), "");
  EXPECT_FALSE(server_->drain(std::chrono::milliseconds(1)));
  ASSERT_TRUE(raw.send("hello"));
  EXPECT_TRUE(server_->drain(std::chrono::seconds(20)));
  EXPECT_NE(raw.read_all().find("200 OK"), std::string::npos);
}

TEST_F(LimitTest, BytesThatDripDoNotKeepAConnectionOpen) {
  options_.limits.header_timeout_s = 1;
  options_.limits.idle_timeout_s = 2;
  options_.limits.body_timeout_s = 1;
  start_again();
  for (const std::string& begun :
       {std::string("G"), std::string("GET / HTTP/1.1\r\nHost: h\r\nX: "), std::string("GET /bucket/"),
        head("PUT", "/bucket/k", {{"content-length", "100000"}}),
        "PUT /bucket/k HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + std::string()}) {
    RawClient raw(server_->port());
    ASSERT_TRUE(raw.send(begun));
    EXPECT_TRUE(raw.drip_until_closed("a")) << begun.substr(0, 40);
  }
  EXPECT_FALSE(ns().lookup_key({}, {root_, "k"}));
}

// A refused body is read only to be able to answer: however fast it comes, it has no more time than that.
TEST_F(LimitTest, ARefusedBodyHasOneDeadline) {
  options_.limits.body_timeout_s = 1;
  options_.limits.body_bytes_min = 1;
  start_again();
  RawClient raw(server_->port());
  ASSERT_TRUE(raw.send("PUT /bucket/k HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"));
  EXPECT_TRUE(raw.drip_until_closed("aaaa"));
}

TEST_F(LimitTest, IdleConnectionsGiveWayWhenTheTableIsFull) {
  options_.limits.connections_max = 4;
  start_again();
  client_.reset();
  for (const char* said : {"", "GET", "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: "}) {
    const auto idle = connect(4, said);
    for (int round = 0; round < 6; ++round) {
      RawClient raw(server_->port());
      EXPECT_EQ(status_of(raw, "HEAD", "/bucket"), "HTTP/1.1 200") << said << round;
      EXPECT_EQ(status_of(raw, "HEAD", "/bucket"), "HTTP/1.1 200") << said << round;
    }
  }
  EXPECT_NE(metrics_.render().find("stoa_s3_connections_gave_way_total"), std::string::npos);
}

TEST_F(LimitTest, AnAddressThatHasItsShareClosesItsOwn) {
  options_.limits.connections_per_address_max = 2;
  start_again();
  client_.reset();
  const auto idle = connect(2);
  RawClient raw(server_->port());
  EXPECT_EQ(status_of(raw, "HEAD", "/bucket"), "HTTP/1.1 200");
  EXPECT_EQ(idle[0]->read_all(), "");  // the one idle for longest
  EXPECT_EQ(status_of(*idle[1], "HEAD", "/bucket"), "HTTP/1.1 200");
}

TEST_F(LimitTest, WhatIsServedDoesNotGiveWay) {
  options_.limits.connections_max = 2;
  start_again();
  client_.reset();
  const auto busy = connect(2, head("PUT", "/bucket/k", {{"content-length", "5"}, {"expect", "100-continue"}}));
  for (const auto& one : busy) ASSERT_NE(one->read_until("100 Continue\r\n\r\n"), "");
  RawClient refused(server_->port());
  EXPECT_EQ(status_of(refused, "HEAD", "/bucket"), "");
  for (const auto& one : busy) {
    ASSERT_TRUE(one->send("hello"));
    EXPECT_TRUE(one->read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  }
  // A client may have its answer before the server is done with the request.
  std::string status;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (status.empty() && std::chrono::steady_clock::now() < end) {
    RawClient served(server_->port());
    status = status_of(served, "HEAD", "/bucket");
  }
  EXPECT_EQ(status, "HTTP/1.1 200");
}

}  // namespace
}  // namespace stoa::s3::test

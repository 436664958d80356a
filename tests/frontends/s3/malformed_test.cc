// HTTP that is none: each attempt ends in one refusal or a closed connection, changes nothing, and the server serves
// on.
#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

using namespace std::string_literals;

class MalformedTest : public MemoryProtocolTest {
 protected:
  // Sends `bytes` and a good request behind them, which must not be answered: its begin is unknown.
  void expect_refused(const std::string& what, const std::string& bytes) {
    SCOPED_TRACE(what);
    RawClient raw(server_->port());
    (void)raw.send(bytes);  // the server may close before it has everything
    expect_error(raw.read_until("\r\n\r\n"));
    expect_serving();
  }
  // The same with an unclear end of the request: nothing behind it is taken for another one.
  void expect_refused_and_closed(const std::string& what, const std::string& bytes) {
    SCOPED_TRACE(what);
    RawClient raw(server_->port());
    if (raw.send(bytes)) (void)raw.send("\r\n\r\n" + head("PUT", "/bucket/smuggled", {{"content-length", "1"}}) + "x");
    raw.finish_sending();
    const std::string reply = raw.read_all();
    expect_error(reply);
    EXPECT_EQ(reply.find("HTTP/1.", 1), std::string::npos) << reply;
    expect_serving();
  }
  static void expect_error(const std::string& reply) {
    if (reply.empty()) return;  // hung up
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 4") || reply.starts_with("HTTP/1.1 5") || reply.starts_with("HTTP/1.0 4"))
        << reply;
  }
  void expect_serving() {
    EXPECT_EQ(client_->get("kept").body, "content");
    EXPECT_EQ(client_->list_all().keys, std::vector<std::string>{"kept"});
  }
  void SetUp() override {
    MemoryProtocolTest::SetUp();
    ASSERT_TRUE(client_->put("kept", "content").ok());
  }
  std::string put(std::vector<std::pair<std::string, std::string>> headers) {
    return head("PUT", "/bucket/k", std::move(headers));
  }
};

TEST_F(MalformedTest, LinesAndHeadersThatAreTooLong) {
  expect_refused("request line", "GET /bucket/" + std::string(200'000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n");
  expect_refused("query", "GET /bucket?prefix=" + std::string(200'000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n");
  expect_refused("method", std::string(200'000, 'G') + " / HTTP/1.1\r\nHost: h\r\n\r\n");
  expect_refused("one header", "GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + std::string(200'000, 'a') + "\r\n\r\n");
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 20'000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  expect_refused("many headers", many + "\r\n");
  expect_refused("a header that never ends", "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(2'000'000, 'a'));
}

TEST_F(MalformedTest, RequestLinesThatAreNone) {
  expect_refused("garbage", "\x01\x02\x03 garbage\r\n\r\n");
  expect_refused("a TLS hello",
                 "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s + std::string(512, '\x5a') + "\r\n\r\n");
  expect_refused("no target", "GET\r\n\r\n");
  expect_refused("no version", "GET /\r\n\r\n");
  expect_refused("another protocol", "GET / RTSP/1.0\r\nHost: h\r\n\r\n");
  expect_refused("a version to come", "GET / HTTP/9.9\r\nHost: h\r\n\r\n");
  expect_refused("no host", "GET / HTTP/1.1\r\n\r\n");
}

TEST_F(MalformedTest, HeadersThatAreNone) {
  expect_refused("no colon", "GET / HTTP/1.1\r\nHost: h\r\nnonsense\r\n\r\n");
  expect_refused("no name", "GET / HTTP/1.1\r\nHost: h\r\n: value\r\n\r\n");
  expect_refused("a space in the name", "GET / HTTP/1.1\r\nHost: h\r\nX Y: z\r\n\r\n");
}

TEST_F(MalformedTest, LengthsThatAreNone) {
  for (const char* length : {"-1", "+5", "abc", "", "5 5", "5,5", "0x10", "1e3", "18446744073709551615",
                             "18446744073709551616", "99999999999999999999999999", "9223372036854775808"}) {
    expect_refused("Content-Length: "s + length, put({{"content-length", length}}) + "hello");
  }
  const std::string signed_put = put({{"content-length", "5"}});
  const std::string twice = signed_put.substr(0, signed_put.size() - 2) + "Content-Length: 6\r\n\r\n";
  expect_refused("two lengths", twice + "hello!");
}

TEST_F(MalformedTest, TwoWaysToTellTheLength) {
  expect_refused_and_closed("chunked and a length",
                            put({{"content-length", "5"}, {"transfer-encoding", "chunked"}}) + "0\r\n\r\nhello");
  expect_refused_and_closed("a length and chunked", put({{"content-length", "100"}, {"transfer-encoding", "chunked"}}) +
                                                        "5\r\nhello\r\n0\r\n\r\n");
  for (const char* coding :
       {"gzip", "gzip, chunked", "chunked, gzip", "xchunked", "chunked, chunked", "identity", ""}) {
    expect_refused_and_closed("Transfer-Encoding: "s + coding,
                              put({{"transfer-encoding", coding}}) + "5\r\nhello\r\n0\r\n\r\n");
  }
}

TEST_F(MalformedTest, ChunksThatAreNone) {
  for (const char* chunks : {"zz\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n",
                             "fffffffffffffffff\r\nhello\r\n0\r\n\r\n", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
                             "5\r\nhelloXX0\r\n\r\n", "5 5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n"}) {
    expect_refused_and_closed(chunks, put({{"transfer-encoding", "chunked"}}) + chunks);
  }
}

TEST_F(MalformedTest, TheSameLengthTwice) {
  const std::string once = put({{"content-length", "5"}});
  expect_refused_and_closed("twice", once.substr(0, once.size() - 2) + "Content-Length: 5\r\n\r\nhello");
  expect_refused_and_closed("differing", once.substr(0, once.size() - 2) + "Content-Length: 50\r\n\r\nhello");
}

TEST_F(MalformedTest, NamesAndHostsThatOthersReadInAnotherWay) {
  const std::string one = head("DELETE", "/bucket/kept");
  const std::string start = one.substr(0, one.size() - 2);
  expect_refused_and_closed("a space before the colon", start + "Content-Length : 5\r\n\r\nhello");
  expect_refused_and_closed("a tab before the colon", start + "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n");
  expect_refused_and_closed("two hosts", start + "Host: other\r\n\r\n");
}

// RFC 9112 6.1: a possible attempt to smuggle a request gets 400, and nothing behind it is read.
TEST_F(MalformedTest, TwoLengthsAreABadRequestInXml) {
  RawClient raw(server_->port());
  ASSERT_TRUE(raw.send(put({{"content-length", "5"}, {"transfer-encoding", "chunked"}}) + "0\r\n\r\n" +
                       head("DELETE", "/bucket/kept")));
  const std::string reply = raw.read_all();
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 400")) << reply;
  EXPECT_NE(reply.find("Connection: close"), std::string::npos) << reply;
  EXPECT_NE(reply.find("<Code>BadRequest</Code>"), std::string::npos) << reply;
  EXPECT_EQ(reply.find("HTTP/1.", 1), std::string::npos) << reply;
  expect_serving();
}

// A header that is joined, cut or taken for another line is not the signed one.
TEST_F(MalformedTest, HeadersThatAreReadInTwoWays) {
  const std::string good = head("DELETE", "/bucket/kept");
  const std::string start = good.substr(0, good.size() - 2);
  for (const std::string& more :
       {"X-Amz-Folded: a\r\n b\r\n"s, "x-amz-nul: a\0b\r\n"s, "x-amz-cr: a\rb\r\n"s, "x-amz-lf: a\nx-amz-b: c\r\n"s})
    expect_refused(more, start + more + "\r\n");
  expect_refused("a NUL in a name", start + "X\0Y: z\r\n\r\n"s);
  expect_refused("a NUL in the target", "DELETE /bucket/kept\0x HTTP/1.1\r\nHost: h\r\n\r\n"s);
}

TEST_F(MalformedTest, GarbageBehindAGoodRequest) {
  RawClient raw(server_->port());
  ASSERT_TRUE(raw.send(head("HEAD", "/bucket/kept") + "\x01\x02 nonsense\r\n\r\n" + head("DELETE", "/bucket/kept")));
  raw.finish_sending();
  const std::string reply = raw.read_all();
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << reply;
  const std::size_t second = reply.find("HTTP/1.1", 1);
  if (second != std::string::npos) {
    EXPECT_TRUE(reply.substr(second).starts_with("HTTP/1.1 4")) << reply;
    EXPECT_EQ(reply.find("HTTP/1.1", second + 1), std::string::npos) << reply;
  }
  expect_serving();
}

}  // namespace
}  // namespace stoa::s3::test

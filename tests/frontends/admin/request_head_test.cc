#include "frontends/admin/request_head.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace stoa::admin {
namespace {

RequestHead head_of(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  RequestHead head;
  for (const auto& [name, value] : fields) head.add(name, value);
  return head;
}

TEST(RequestHeadTest, ARequestHasOneLengthAndOneHost) {
  EXPECT_FALSE(head_of({{"Host", "x"}}).problem("HTTP/1.1"));
  EXPECT_FALSE(head_of({{"host", "x"}, {"content-length", "12"}}).problem("HTTP/1.1"));
  EXPECT_FALSE(head_of({{"Host", "x"}, {"Transfer-Encoding", "Chunked"}}).problem("HTTP/1.1"));
  EXPECT_FALSE(head_of({}).problem("HTTP/1.0"));
  EXPECT_TRUE(head_of({}).problem("HTTP/1.1"));
  EXPECT_TRUE(head_of({{"Host", "x"}, {"HOST", "y"}}).problem("HTTP/1.1"));
  EXPECT_TRUE(head_of({{"Host", "x"}, {"Content-Length", "5"}, {"TRANSFER-ENCODING", "chunked"}}).problem("HTTP/1.1"));
  EXPECT_TRUE(head_of({{"Host", "x"}, {"Content-Length", "5"}, {"Content-Length", "5"}}).problem("HTTP/1.1"));
  EXPECT_TRUE(
      head_of({{"Host", "x"}, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}).problem("HTTP/1.1"));
  for (const char* const length : {"", "-1", "+5", "5, 5", "0x10", "5 "})
    EXPECT_TRUE(head_of({{"Host", "x"}, {"Content-Length", length}}).problem("HTTP/1.1")) << length;
  for (const char* const coding : {"", "gzip", "gzip, chunked", "identity", "xchunked"})
    EXPECT_TRUE(head_of({{"Host", "x"}, {"Transfer-Encoding", coding}}).problem("HTTP/1.1")) << coding;
}

TEST(RequestHeadTest, OnlyLocalhostAndAddressesAreHere) {
  for (const char* const host :
       {"localhost", "LOCALHOST:9090", "127.0.0.1", "127.0.0.1:9090", "192.0.2.7:1", "[::1]", "[::1]:9090"})
    EXPECT_TRUE(head_of({{"Host", host}}).host_is_here()) << host;
  for (const char* const host : {"", "evil.example", "evil.example:9090", "localhost.evil.example",
                                 "127.0.0.1.evil.example", "x.localhost", "[::1", "[evil]", "1.2.3"})
    EXPECT_FALSE(head_of({{"Host", host}}).host_is_here()) << host;
  EXPECT_TRUE(head_of({}).host_is_here());
}

}  // namespace
}  // namespace stoa::admin

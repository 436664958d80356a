// The HTTP side, below the router.
#include "frontends/admin/admin_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string talk(int fd, const std::string& request) {
  std::size_t sent = 0;
  while (sent < request.size()) {
    const ssize_t n = ::send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  std::string answer;
  char part[4096];
  for (ssize_t n = 0; (n = recv(fd, part, sizeof part, 0)) > 0;) answer.append(part, static_cast<std::size_t>(n));
  close(fd);
  return answer;
}

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

std::string over_tcp(std::uint16_t port, const std::string& request) {
  return talk(connect_to(port), request);
}

std::string over_unix(const std::string& path, const std::string& request) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return talk(fd, request);
}

std::string http(const std::string& line, const std::string& headers = {}, const std::string& body = {}) {
  std::string text = line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer secret\r\n" + headers;
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

TEST_F(AdminTest, ConsoleComesWithItsHeadersAndWithoutABodyForHead) {
  static constexpr ConsoleFile kPage[] = {
      {.path = "/", .content_type = "text/html; charset=utf-8", .bytes = "<!doctype html>", .etag = "\"page\""}};
  service_->console = kPage;
  auto server = AdminServer::start(*service_, {.host = "127.0.0.1"});
  ASSERT_TRUE(server) << describe(server.error());
  const std::string page = over_tcp((*server)->port(), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'self'"));
  EXPECT_THAT(page, HasSubstr("Cache-Control: no-cache\r\n"));
  EXPECT_THAT(page, HasSubstr("\r\n\r\n<!doctype html>"));
  const std::string head = over_tcp((*server)->port(), "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 15\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  const std::string again =
      over_tcp((*server)->port(), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIf-None-Match: \"page\"\r\n\r\n");
  EXPECT_THAT(again, StartsWith("HTTP/1.1 304"));
}

TEST_F(AdminTest, ServesOverTcpWithARequestId) {
  const auto server = AdminServer::start(*service_, {.host = "127.0.0.1"});
  ASSERT_TRUE(server) << describe(server.error());
  const std::string answer = over_tcp((*server)->port(), http("GET /v1/version"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("1.2.3"));
  EXPECT_THAT(answer, HasSubstr("X-Request-Id: "));
  EXPECT_THAT(over_tcp((*server)->port(), http("POST /v1/users", {}, R"({"name": "ann"})")),
              StartsWith("HTTP/1.1 201"));
  EXPECT_THAT(over_tcp((*server)->port(), http("GET /v1/stat?path=%2F")), StartsWith("HTTP/1.1 200"));
}

TEST_F(AdminTest, BadHttpIsAnsweredAndNotFatal) {
  const auto server = AdminServer::start(*service_, {.host = "127.0.0.1"});
  ASSERT_TRUE(server);
  const std::uint16_t port = (*server)->port();
  EXPECT_THAT(over_tcp(port, http("BREW /v1/version")), StartsWith("HTTP/1.1 501"));
  EXPECT_THAT(over_tcp(port, http("POST /v1/users", {}, std::string((1u << 20) + 1, 'x'))), StartsWith("HTTP/1.1 413"));
  over_tcp(port, "\r\n\r\n\x01\x02 nonsense\r\n\r\n");
  EXPECT_THAT(over_tcp(port, "GET /v1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 401"));
  for (const char* const twice :
       {"GET /v1/stat?path=/&path=/a", "GET /v1/stat?path=/&p%61th=/a", "DELETE /v1/quota?path=/a&path=/b"}) {
    const std::string answer = over_tcp(port, http(twice));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << twice;
    EXPECT_THAT(answer, HasSubstr("a parameter is given twice")) << twice;
  }
  EXPECT_THAT(over_tcp(port, http("GET /healthz")), StartsWith("HTTP/1.1 200"));
}

TEST_F(AdminTest, ARequestWithoutOneEndOrHostIsRefusedAndTheConnectionCloses) {
  const auto server = AdminServer::start(*service_, {.host = "127.0.0.1"});
  ASSERT_TRUE(server);
  const std::string smuggled = "GET /v1/version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n\r\n";
  for (const char* const fields : {"Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                                   "Host: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
                                   "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n", "Host: x\r\nHost: y\r\n", ""}) {
    // Without "Connection: close": it is the server that ends the connection, and so never takes the rest for a
    // request.
    const std::string answer =
        over_tcp((*server)->port(), "POST /v1/check HTTP/1.1\r\n" + std::string(fields) + "\r\n0\r\n\r\n" + smuggled);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << fields;
    EXPECT_THAT(answer, Not(HasSubstr("HTTP/1.1 200"))) << fields;
  }
}

TEST_F(AdminTest, OnlyWhoNamesThisMachineByAddressIsTrustedForBeingOnIt) {
  const auto server = AdminServer::start(*service_, {.host = "127.0.0.1"});
  ASSERT_TRUE(server);
  const auto metrics = [&](const std::string& host, const char* more = "") {
    return over_tcp((*server)->port(),
                    "GET /metrics HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n" + more + "\r\n");
  };
  EXPECT_THAT(metrics("localhost:9090"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(metrics("127.0.0.1"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(metrics("evil.example:9090"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(metrics("nas.example.org", "Authorization: Bearer secret\r\n"), StartsWith("HTTP/1.1 200"));
}

// Clients that send a byte of a header now and then, and silent ones, hold all places.
TEST_F(AdminTest, DripsAndIdlersLockNeitherThePortNorTheLocalSocket) {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-admin-XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  const std::string path = folder + "/admin.sock";
  {
    const auto server =
        AdminServer::start(*service_, {.host = "127.0.0.1", .socket_path = path, .limits = {.connections_max = 8}});
    ASSERT_TRUE(server) << describe(server.error());
    std::vector<int> hostile;
    for (int i = 0; i < 64; ++i) {
      hostile.push_back(connect_to((*server)->port()));
      const std::string drip = i % 2 == 0 ? "GET /healthz HTTP/1.1\r\nHost: x\r\nX: " : "";
      EXPECT_EQ(::send(hostile.back(), drip.data(), drip.size(), MSG_NOSIGNAL), static_cast<ssize_t>(drip.size()));
    }
    for (int i = 0; i < 16; ++i) {
      for (const int fd : hostile) (void)::send(fd, "x", 1, MSG_NOSIGNAL);
      EXPECT_THAT(over_tcp((*server)->port(), http("GET /v1/version")), StartsWith("HTTP/1.1 200"));
      EXPECT_THAT(over_unix(path, http("GET /v1/version")), StartsWith("HTTP/1.1 200"));
    }
    for (const int fd : hostile) close(fd);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(AdminTest, AHeaderThatDoesNotEndIsCutOffHoweverManyBytesCome) {
  const auto server =
      AdminServer::start(*service_, {.host = "127.0.0.1", .limits = {.headers = std::chrono::seconds(1)}});
  ASSERT_TRUE(server);
  const int fd = connect_to((*server)->port());
  const std::string head = "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ";
  ASSERT_EQ(::send(fd, head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
  // Each byte moves the idle timer of the library (30 s), and not the deadline.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool ended = false;
  while (!ended && std::chrono::steady_clock::now() < deadline) {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    ended = poll(&one, 1, 100) == 1 || ::send(fd, "x", 1, MSG_NOSIGNAL) != 1;
  }
  EXPECT_TRUE(ended);
  close(fd);
}

TEST_F(AdminTest, ServesOverAUnixSocketWithItsModeAndRemovesItAtTheEnd) {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-admin-XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  const std::string path = folder + "/admin.sock";
  {
    const auto server = AdminServer::start(*service_, {.socket_path = path, .socket_mode = 0600});
    ASSERT_TRUE(server) << describe(server.error());
    EXPECT_EQ((*server)->port(), 0);
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_THAT(over_unix(path, http("GET /v1/version")), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "precious";
  EXPECT_FALSE(AdminServer::start(*service_, {.socket_path = path}));
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}

TEST_F(AdminTest, ATakenPortIsNamedWithTheCure) {
  const auto first = AdminServer::start(*service_, {.host = "127.0.0.1"});
  ASSERT_TRUE(first);
  const auto second = AdminServer::start(*service_, {.host = "127.0.0.1", .port = (*first)->port()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kBusy);
  EXPECT_THAT(second.error().detail, HasSubstr("admin.listen"));
  EXPECT_FALSE(AdminServer::start(*service_, {.host = "example"}));
}

}  // namespace
}  // namespace stoa::admin

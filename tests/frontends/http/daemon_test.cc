// A daemon that answers every request with the target as it came: two on one socket, one after the other.
#include "frontends/http/daemon.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace stoa::http {
namespace {

constexpr int kBacklog = 8;

struct Echo {
  std::string name;

  static void* on_uri(void*, const char* uri, MHD_Connection*) { return new std::string(uri); }
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char*, const char*, const char*,
                               const char*, std::size_t*, void** state) {
    const std::string text = static_cast<Echo*>(self)->name + " " + *static_cast<std::string*>(*state);
    MHD_Response* response =
        MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, "Connection", "close");
    const MHD_Result queued = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return queued;
  }
  static void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<std::string*>(std::exchange(*state, nullptr));
  }
  static void on_connection(void*, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode) {
    EXPECT_GE(socket_of(connection), 0);
    EXPECT_NE(address_of(connection), nullptr);
  }

  Result<std::unique_ptr<Daemon>> serve(const Listener& listener, const Certificate& certificate = {}) {
    return Daemon::start(listener, certificate,
                         {.name = "echo",
                          .flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC,
                          .connections_max = 16,
                          .idle_timeout = std::chrono::seconds(60)},
                         {.closure = this,
                          .request = &on_request,
                          .uri = &on_uri,
                          .completed = &on_completed,
                          .connection = &on_connection});
  }
};

std::string get(std::uint16_t port, const std::string& target) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};  // a test that fails must not hang
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: here\r\n\r\n";
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    char piece[512];
    for (ssize_t n = 0; (n = recv(fd, piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<std::size_t>(n));
  }
  close(fd);
  const auto body = answer.find("\r\n\r\n");
  return body == answer.npos ? "" : answer.substr(body + 4);
}

TEST(Daemon, ServesTargetsWithTheirEscapes) {
  const auto listener = listen_tcp("127.0.0.1", 0, kBacklog);
  ASSERT_TRUE(listener);
  Echo echo{"one"};
  const auto daemon = echo.serve(*listener);
  ASSERT_TRUE(daemon) << describe(daemon.error());
  EXPECT_EQ(get(listener->port(), "/a%2Fb?c=%20"), "one /a%2Fb?c=%20");
}

TEST(Daemon, AnotherOneTakesOverTheSocket) {
  const auto listener = listen_tcp("127.0.0.1", 0, kBacklog);
  ASSERT_TRUE(listener);
  Echo one{"one"}, two{"two"};
  auto first = one.serve(*listener);
  ASSERT_TRUE(first);
  EXPECT_EQ(get(listener->port(), "/"), "one /");
  const auto second = two.serve(*listener);
  ASSERT_TRUE(second);
  (*first)->stop_listening();
  (*first)->stop_listening();
  first->reset();
  EXPECT_EQ(get(listener->port(), "/"), "two /");
}

TEST(Daemon, RefusesACertificateThatIsNone) {
  const auto listener = listen_tcp("127.0.0.1", 0, kBacklog);
  ASSERT_TRUE(listener);
  Echo echo{"one"};
  const auto refused = echo.serve(*listener, {.chain = "text", .key = "text", .pin = ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalid);
  EXPECT_TRUE(echo.serve(*listener)) << "the socket is as good as before";
}

}  // namespace
}  // namespace stoa::http

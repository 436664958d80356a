// Listening sockets and the addresses of clients.
#include "frontends/http/listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontends/http/client_address.h"

namespace stoa::http {
namespace {

constexpr int kBacklog = 8;

bool connects_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  close(fd);
  return connected;
}

TEST(Listener, TakesAnyFreePortAndTellsWhyItCannotTakeAnother) {
  const auto first = listen_tcp("127.0.0.1", 0, kBacklog);
  ASSERT_TRUE(first) << describe(first.error());
  EXPECT_NE(first->port(), 0);
  EXPECT_FALSE(first->ipv6());
  EXPECT_TRUE(connects_to(first->port()));
  const auto second = listen_tcp("127.0.0.1", first->port(), kBacklog);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kBusy);
  EXPECT_NE(second.error().detail.find("127.0.0.1 port " + std::to_string(first->port())), std::string::npos);
  EXPECT_EQ(listen_tcp("localhost", 0, kBacklog).error().code, Errc::kInvalid);
}

TEST(Listener, ADuplicateKeepsThePortOpen) {
  auto first = listen_tcp("127.0.0.1", 0, kBacklog);
  ASSERT_TRUE(first);
  const std::uint16_t port = first->port();
  {
    const auto second = first->duplicate();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->port(), port);
    *first = Listener();
    EXPECT_TRUE(connects_to(port));
  }
}

TEST(Listener, AUnixSocketReplacesAnOldOneAndNothingElse) {
  const std::string path = testing::TempDir() + "stoa-listener-" + std::to_string(getpid());
  {
    const auto first = listen_unix(path, 0600, kBacklog);
    ASSERT_TRUE(first) << describe(first.error());
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  }
  EXPECT_TRUE(listen_unix(path, 0600, kBacklog)) << "an old socket stays behind a server that was killed";
  std::filesystem::remove(path);
  std::ofstream(path) << "precious";
  EXPECT_FALSE(listen_unix(path, 0600, kBacklog));
  EXPECT_EQ(std::filesystem::file_size(path), 8u);
  std::filesystem::remove(path);
  EXPECT_EQ(listen_unix(std::string(108, 'x'), 0600, kBacklog).error().code, Errc::kInvalid);
}

TEST(ClientAddress, ShowsIpv4TheSameHoweverItCame) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0x0a000001);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  inet_pton(AF_INET6, "::ffff:10.0.0.1", &v6.sin6_addr);
  const ClientAddress plain = client_address(reinterpret_cast<const sockaddr*>(&v4));
  const ClientAddress mapped = client_address(reinterpret_cast<const sockaddr*>(&v6));
  EXPECT_EQ(plain.text, "10.0.0.1");
  EXPECT_EQ(mapped.text, "10.0.0.1");
  EXPECT_EQ(plain.bytes, mapped.bytes);
  inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
  EXPECT_EQ(client_address(reinterpret_cast<const sockaddr*>(&v6)).text, "2001:db8::1");
  sockaddr_un local{.sun_family = AF_UNIX, .sun_path = {}};
  EXPECT_EQ(client_address(reinterpret_cast<const sockaddr*>(&local)).text, "");
  EXPECT_EQ(client_address(nullptr).text, "");
}

}  // namespace
}  // namespace stoa::http

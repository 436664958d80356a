// Calls to clients: failures, and limits of one host. Answers: v40_protocol/delegation_test.cc.
#include "frontends/nfs/rpc/dialer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

namespace stoa::test {
namespace {

using Address = std::array<std::uint8_t, 16>;

Address loopback(std::uint8_t last) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, last};
}

// Bound, so that the port is taken; `listens`: connections are made and never answered.
class Port {
 public:
  explicit Port(bool listens, std::uint8_t host = 1) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    if (listens) {
      EXPECT_EQ(listen(fd_, 64), 0);
    }
    socklen_t size = sizeof at;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    number = ntohs(at.sin_port);
  }
  ~Port() { close(fd_); }
  Port(const Port&) = delete;
  std::uint16_t number = 0;

 private:
  int fd_;
};

std::vector<std::byte> record() {
  return std::vector<std::byte>(24);
}

TEST(Dialer, ACallThatNobodyTakesEndsWithoutAReply) {
  const Port port(false);
  rpc::Dialer dialer;
  const auto line = dialer.line(loopback(1), port.number);
  for (int i = 0; i < 3; ++i) {
    std::promise<std::size_t> answered;
    ASSERT_TRUE(line->call_back(record(), [&](std::span<const std::byte> reply) { answered.set_value(reply.size()); }));
    EXPECT_EQ(answered.get_future().get(), 0u);
  }
}

TEST(Dialer, OneHostHasSoManyLinesAndALineSoManyCalls) {
  const Port silent(true), elsewhere(true, 2);
  rpc::Dialer dialer;
  const auto ignore = [](std::span<const std::byte>) {};
  std::vector<std::shared_ptr<rpc::BackChannel>> lines;
  for (std::size_t i = 0; i < rpc::Dialer::kOpenLinesPerHostMax; ++i) {
    lines.push_back(dialer.line(loopback(1), silent.number));
    EXPECT_TRUE(lines.back()->call_back(record(), ignore));
  }
  const auto more = dialer.line(loopback(1), silent.number);
  EXPECT_FALSE(more->call_back(record(), ignore));
  const auto other = dialer.line(loopback(2), elsewhere.number);
  EXPECT_TRUE(other->call_back(record(), ignore));
  for (std::size_t i = 1; i < rpc::Dialer::kCallsPerLineMax; ++i)
    EXPECT_TRUE(lines.front()->call_back(record(), ignore));
  EXPECT_FALSE(lines.front()->call_back(record(), ignore));
}

}  // namespace
}  // namespace stoa::test

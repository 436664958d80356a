// Calls to services of clients: their discovery, and the end of an unanswered call.
#include "frontends/nfs/rpc/remote_caller.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

#include "frontends/nfs/rpc/universal_address.h"
#include "frontends/wire/listener.h"
#include "tests/frontends/nfs/nlm/client_machine.h"

namespace stoa::test {
namespace {

constexpr std::array<std::uint8_t, 16> kIpv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
constexpr std::array<std::uint8_t, 16> kIpv6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::uint32_t kStatusMonitor = 100'024;

// A machine at one of the two addresses, and calls to it.
class RemoteCallerTest : public testing::TestWithParam<std::array<std::uint8_t, 16>> {
 protected:
  ~RemoteCallerTest() override { dialer.stop(); }
  using Ended = std::promise<Errc>;  // Errc{}: with results
  bool start(Ended& ended, std::uint32_t program = kStatusMonitor) {
    return caller.call({GetParam(), program, 1, 6, Bytes(4)}, [&](const Result<std::span<const std::byte>>& results) {
      ended.set_value(results ? Errc{} : results.error().code);
    });
  }
  Errc call(std::uint32_t program = kStatusMonitor) {
    Ended ended;
    EXPECT_TRUE(start(ended, program));
    return ended.get_future().get();
  }

  ClientMachine machine{GetParam() == kIpv4 ? "127.0.0.1" : "::1"};
  rpc::Dialer dialer;
  rpc::RemoteCaller caller{dialer, machine.port()};
};

TEST_P(RemoteCallerTest, ACallGoesOverTcp) {
  EXPECT_EQ(call(), Errc{});
  EXPECT_TRUE(machine.take().tcp);
}

TEST_P(RemoteCallerTest, WhoIsNotThereOverTcpIsCalledOverUdp) {
  machine.tcp = false;
  EXPECT_EQ(call(), Errc{});
  EXPECT_FALSE(machine.take().tcp);
}

TEST_P(RemoteCallerTest, ARefusedCallIsTriedOverUdp) {
  machine.mute = 1;
  EXPECT_EQ(call(), Errc{});
  EXPECT_FALSE(machine.take().tcp);
  machine.mute = 2;
  EXPECT_EQ(call(), Errc::kIo);
}

TEST_P(RemoteCallerTest, AServiceThatNobodyKnowsIsAnError) {
  machine.tcp = machine.udp = false;
  EXPECT_EQ(call(), Errc::kNotFound);
  machine.udp = true;
  EXPECT_EQ(call(100'005), Errc::kNotSupported);
  EXPECT_FALSE(machine.called());
}

TEST_P(RemoteCallerTest, ManyAtOnceShareALine) {
  std::vector<Ended> ended(rpc::RemoteCaller::kCallsPerHostMax);
  for (Ended& one : ended) EXPECT_TRUE(start(one));
  for (Ended& one : ended) EXPECT_EQ(one.get_future().get(), Errc{});
}

INSTANTIATE_TEST_SUITE_P(Ip, RemoteCallerTest, testing::Values(kIpv4, kIpv6),
                         [](const auto& info) { return info.param == kIpv4 ? "v4" : "v6"; });

TEST(RemoteCaller, NobodyIsReachedAtAnAddressOfALink) {
  rpc::Dialer dialer;
  rpc::RemoteCaller caller(dialer);
  std::promise<Errc> ended;
  std::array<std::uint8_t, 16> link{0xfe, 0x80};
  link[15] = 9;
  EXPECT_TRUE(caller.call({link, kStatusMonitor, 1, 6, {}}, [&](const Result<std::span<const std::byte>>& results) {
    ended.set_value(results.error().code);
  }));
  EXPECT_EQ(ended.get_future().get(), Errc::kTimeout);
  dialer.stop();
}

// Takes connections, and answers nothing.
class MuteMachine {
 public:
  MuteMachine() {
    const auto bound = wire::listen_tcp({"0.0.0.0", 0});
    EXPECT_TRUE(bound);
    fd_ = bound->fd;
    port = bound->port;
  }
  ~MuteMachine() { close(fd_); }
  std::uint16_t port = 0;

 private:
  int fd_ = -1;
};

TEST(RemoteCaller, WhoDoesNotAnswerKeepsNoPlaceOfOthers) {
  const MuteMachine machine;
  rpc::Dialer dialer;
  rpc::RemoteCaller caller(dialer, machine.port);
  const auto call = [&](std::uint8_t host, bool answer) {
    rpc::RemoteCall made{.address = kIpv4, .program = kStatusMonitor, .version = 1, .procedure = 6, .answer = answer};
    made.address.back() = host;
    return caller.call(std::move(made), [](const auto&) {});
  };
  for (std::size_t i = 0; i < rpc::RemoteCaller::kCallsPerHostMax; ++i) ASSERT_TRUE(call(1, i % 2 == 0));
  EXPECT_FALSE(call(1, false));
  std::size_t answers = rpc::RemoteCaller::kCallsPerHostMax / 2;
  for (std::uint8_t host = 2; host < 6; ++host) {
    for (std::size_t i = 0; i < rpc::RemoteCaller::kCallsPerHostMax && answers < rpc::RemoteCaller::kAnswersMax;
         ++i, ++answers) {
      ASSERT_TRUE(call(host, true));
    }
  }
  EXPECT_FALSE(call(9, true));
  EXPECT_TRUE(call(9, false));
  dialer.stop();
}

TEST(RemoteCaller, NothingIsCalledOnceTheDialerHasStopped) {
  rpc::Dialer dialer;
  rpc::RemoteCaller caller(dialer);
  dialer.stop();
  EXPECT_FALSE(caller.call({kIpv4, kStatusMonitor, 1, 6, {}}, [](const auto&) { ADD_FAILURE(); }));
}

TEST(UniversalAddress, IsAHostAndAPort) {
  const auto v4 = rpc::parse_universal_address("127.0.0.1.8.1", false);
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->host, kIpv4);
  EXPECT_EQ(v4->port, 0x801);
  EXPECT_EQ(rpc::to_text(*v4), "127.0.0.1.8.1");
  const auto v6 = rpc::parse_universal_address("::1.255.255", true);
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, kIpv6);
  EXPECT_EQ(v6->port, 0xffff);
  EXPECT_EQ(rpc::to_text(*v6), "::1.255.255");
  for (const char* const bad : {"", "1", "1.2", "::1.8", "::1.8.256", "::1.8.-1", "127.0.0.1.8.1", "::1.8.1 "}) {
    EXPECT_FALSE(rpc::parse_universal_address(bad, true)) << bad;
  }
  EXPECT_FALSE(rpc::parse_universal_address("::1.8.1", false));
}

}  // namespace
}  // namespace stoa::test

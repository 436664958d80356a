// Calls over UDP: accepted credentials.
#include "frontends/nfs/rpc/datagram_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontends/wire/peer.h"
#include "tests/frontends/nfs/no_scope.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kToy = 400'100;
constexpr std::array<std::uint8_t, 16> kHere{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};

class CountingProgram final : public PlainProgram {
 public:
  std::uint32_t number() const override { return kToy; }
  std::string_view name() const override { return "toy"; }
  std::uint32_t version_low() const override { return 1; }
  std::uint32_t version_high() const override { return 1; }
  std::span<const rpc::Procedure> procedures() const override {
    static constexpr std::array<rpc::Procedure, 1> kList{{{"null"}}};
    return kList;
  }
  rpc::CostClass cost_class(const rpc::CallHeader&) const override { return rpc::CostClass::kMemory; }
  rpc::Outcome run(const PlainCall&, rpc::Reply&) override {
    ++calls;
    return {};
  }
  void encode_not_durable(const rpc::CallHeader&, Errc, rpc::XdrWriter&) override {}
  std::atomic<int> calls{0};
};

class DatagramServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = rpc::DatagramServer::start(
        {"127.0.0.1", 0},
        {.programs = plain_programs({&program}), .sync = [](const core::PendingDurability&) { return Status{}; }},
        metrics);
    ASSERT_TRUE(started);
    server = std::move(*started);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    const wire::SocketAddress to = wire::socket_address(kHere, server->port());
    ASSERT_EQ(connect(fd, to.get(), to.bytes), 0);
  }
  void TearDown() override { close(fd); }
  std::optional<WireReply> call(const CallSpec& spec) {
    const Bytes record = encode(spec);
    if (::send(fd, record.data(), record.size(), 0) != static_cast<ssize_t>(record.size())) return std::nullopt;
    Bytes reply(rpc::DatagramServer::kBytesMax);
    const ssize_t got = recv(fd, reply.data(), reply.size(), 0);
    return got > 0 ? WireClient::parse(std::span(reply).first(static_cast<std::size_t>(got))) : std::nullopt;
  }

  CountingProgram program;
  MetricRegistry metrics;
  std::unique_ptr<rpc::DatagramServer> server;
  int fd = -1;
};

TEST_F(DatagramServerTest, CallsAreRun) {
  const auto reply = call({.program = kToy, .version = 1});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->reply_status, 0u);
  EXPECT_EQ(program.calls, 1);
}

TEST_F(DatagramServerTest, CallsInAContextAreRefused) {
  const Xdr credential = Xdr().u32(1).u32(0).u32(1).u32(1).string("handle");
  const auto reply = call({.program = kToy,
                           .version = 1,
                           .auth_flavor = 6,
                           .auth_body = credential.bytes(),
                           .verifier_flavor = 6,
                           .verifier_body = Bytes(16)});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->reply_status, 1u);
  EXPECT_EQ(reply->reject_status, 1u);
  EXPECT_EQ(reply->auth_status, static_cast<std::uint32_t>(rpc::AuthStatus::kBadCredential));
  EXPECT_EQ(program.calls, 0);
}

}  // namespace
}  // namespace stoa::test

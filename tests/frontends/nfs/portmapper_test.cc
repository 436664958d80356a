#include "frontends/nfs/rpc/portmapper.h"

#include <gtest/gtest.h>

#include <map>

#include "frontends/nfs/rpc/server.h"
#include "tests/frontends/nfs/no_scope.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::rpc {
namespace {

// A portmapper of our own, on our own server: program 100000 versions 2 and 3.
class FakePortmapper final : public test::PlainProgram {
 public:
  std::uint32_t number() const override { return 100'000; }
  std::string_view name() const override { return "portmap"; }
  std::uint32_t version_low() const override { return 2; }
  std::uint32_t version_high() const override { return 3; }
  std::span<const Procedure> procedures() const override {
    static constexpr std::array<Procedure, 3> kList{{{"null"}, {"set"}, {"unset"}}};
    return kList;
  }
  CostClass cost_class(const CallHeader&) const override { return CostClass::kMemory; }
  Outcome run(const test::PlainCall& call, Reply& reply) override {
    XdrReader in(call.header.arguments);
    const std::uint32_t program = in.u32();
    const std::uint32_t version = in.u32();
    if (call.header.version == 3) {
      const std::string network(in.string(16)), address(in.string(64));
      in.string(64);
      if (!in.ok()) return {.accept = AcceptStatus::kGarbageArguments};
      const bool done = call.header.procedure == 1 ? addresses.emplace(program, std::pair(network, address)).second
                                                   : addresses.erase(program) > 0;
      reply.out.boolean(done);
      return {};
    }
    const std::uint32_t protocol = in.u32();
    const std::uint32_t port = in.u32();
    if (!in.ok() || protocol != 6) return {.accept = AcceptStatus::kGarbageArguments};
    const std::pair key(program, version);
    const bool done = call.header.procedure == 1 ? ports.emplace(key, port).second : ports.erase(key) > 0;
    reply.out.boolean(done);
    return {};
  }
  void encode_not_durable(const CallHeader&, Errc, XdrWriter&) override {}

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ports;
  std::map<std::uint32_t, std::pair<std::string, std::string>> addresses;  // network, universal address
};

TEST(Portmapper, IsToldAndUntold) {
  MetricRegistry metrics;
  FakePortmapper fake;
  auto server = Server::start(
      {}, {.programs = test::plain_programs({&fake}), .sync = [](const core::PendingDurability&) { return Status{}; }},
      metrics);
  ASSERT_TRUE(server);
  const std::uint16_t at = (*server)->ports().front();
  const PortMapping mapping{100'003, 3, 2049};
  EXPECT_TRUE(register_port(mapping, at));
  EXPECT_EQ((fake.ports[{100'003, 3}]), 2049u);
  EXPECT_EQ(register_port(mapping, at).error().code, Errc::kExists);
  EXPECT_TRUE(unregister_port(mapping, at));
  EXPECT_TRUE(fake.ports.empty());
  EXPECT_EQ(unregister_port(mapping, at).error().code, Errc::kNotFound);

  const PortMapping ipv6{.program = 100'021, .version = 4, .udp = true, .ipv6 = "::.8.1"};
  EXPECT_TRUE(register_port(ipv6, at));
  EXPECT_EQ(fake.addresses[100'021], (std::pair<std::string, std::string>("udp6", "::.8.1")));
  EXPECT_EQ(register_port(ipv6, at).error().code, Errc::kExists);
  EXPECT_TRUE(unregister_port(ipv6, at));
  EXPECT_TRUE(fake.addresses.empty());
}

TEST(Portmapper, ThatIsNotThereIsAnError) {
  std::uint16_t free_port = 0;
  {
    MetricRegistry metrics;
    FakePortmapper fake;
    auto server = Server::start(
        {},
        {.programs = test::plain_programs({&fake}), .sync = [](const core::PendingDurability&) { return Status{}; }},
        metrics);
    ASSERT_TRUE(server);
    free_port = (*server)->ports().front();
  }
  EXPECT_FALSE(register_port({100'003, 3, 2049}, free_port));
}

}  // namespace
}  // namespace stoa::rpc

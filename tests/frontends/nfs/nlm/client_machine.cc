#include "tests/frontends/nfs/nlm/client_machine.h"

#include <gtest/gtest.h>

#include "tests/frontends/nfs/no_scope.h"

namespace stoa::test {

namespace {

constexpr std::uint32_t kPortmap = 100'000;

}  // namespace

class ClientMachine::Service final : public PlainProgram {
 public:
  Service(ClientMachine& machine, std::uint32_t program, std::uint32_t version)
      : machine_(machine), program_(program), version_(version), list_(24, rpc::Procedure{"any"}) {}
  std::uint32_t number() const override { return program_; }
  std::string_view name() const override { return "client"; }
  std::uint32_t version_low() const override { return program_ == kPortmap ? 2 : version_; }
  std::uint32_t version_high() const override { return version_; }
  std::span<const rpc::Procedure> procedures() const override { return list_; }
  rpc::CostClass cost_class(const rpc::CallHeader&) const override { return rpc::CostClass::kMemory; }
  void encode_not_durable(const rpc::CallHeader&, Errc, rpc::XdrWriter&) override {}
  rpc::Outcome run(const PlainCall& call, rpc::Reply& reply) override {
    const auto arguments = call.header.arguments;
    rpc::XdrReader in(arguments);
    if (program_ == kPortmap) {
      in.u64();
      if (call.header.version == 2) {
        reply.out.u32(knows(in.u32() == 6) ? machine_.port() : 0);
        return {};
      }
      const auto network = in.string(16);
      const std::string port = std::to_string(machine_.port() >> 8) + "." + std::to_string(machine_.port() & 0xff);
      // Some portmappers name the address that they listen at; it is not to be believed.
      reply.out.string(knows(network == "tcp6") ? "2001:db8::1." + port : "");
      return {};
    }
    if (machine_.mute.fetch_sub(1) > 0) return {.accept = rpc::AcceptStatus::kSystemError};
    machine_.mute = 0;
    if (program_ == 100'021 && call.header.procedure == 5) {
      nlm::write_answer(reply.out, nlm::read_test(in).cookie, machine_.answer);
    }
    const std::lock_guard lock(machine_.mutex_);
    machine_.calls_.push_back(
        {program_, call.header.procedure, call.back != nullptr, {arguments.begin(), arguments.end()}});
    machine_.came_.notify_one();
    return {};
  }

 private:
  bool knows(bool tcp) const { return tcp ? machine_.tcp : machine_.udp; }

  ClientMachine& machine_;
  const std::uint32_t program_, version_;
  const std::vector<rpc::Procedure> list_;
};

ClientMachine::ClientMachine(const std::string& address) {
  std::vector<PlainProgram*> programs;
  for (const auto& [program, version] : {std::pair{kPortmap, 3u}, {100'021u, 4u}, {100'024u, 1u}}) {
    services_.push_back(std::make_unique<Service>(*this, program, version));
    programs.push_back(services_.back().get());
  }
  const rpc::Service service{.programs = plain_programs(std::move(programs)),
                             .sync = [](const core::PendingDurability&) { return Status{}; }};
  // Both on one port, which another process may have over UDP.
  while (datagrams_ == nullptr) {
    auto started = rpc::Server::start({.listen = {{address, 0}}}, service, metrics_);
    EXPECT_TRUE(started);
    server_ = std::move(*started);
    auto beside = rpc::DatagramServer::start({address, port()}, service, metrics_);
    if (beside) datagrams_ = std::move(*beside);
  }
}

ClientMachine::~ClientMachine() = default;

CallIn ClientMachine::take() {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [&] { return !calls_.empty(); });
  CallIn first = std::move(calls_.front());
  calls_.pop_front();
  return first;
}

bool ClientMachine::called() const {
  const std::lock_guard lock(mutex_);
  return !calls_.empty();
}

}  // namespace stoa::test

#include "tests/frontends/nfs/nlm/client_machine.h"

#include <gtest/gtest.h>

namespace stoa::test {

class ClientMachine::Service final : public rpc::Program {
 public:
  Service(ClientMachine& machine, std::uint32_t program, std::uint32_t version)
      : machine_(machine), program_(program), version_(version), list_(24, rpc::Procedure{"any"}) {}
  std::uint32_t number() const override { return program_; }
  std::string_view name() const override { return "client"; }
  std::uint32_t version_low() const override { return version_; }
  std::uint32_t version_high() const override { return version_; }
  std::span<const rpc::Procedure> procedures() const override { return list_; }
  rpc::Weight weigh(const rpc::CallHeader&) const override { return rpc::Weight::kMemory; }
  void encode_not_durable(const rpc::CallHeader&, rpc::XdrWriter&) override {}
  rpc::Outcome run(const rpc::Call& call, rpc::Reply& reply) override {
    const auto arguments = call.header.arguments;
    rpc::XdrReader in(arguments);
    if (program_ == 100'000) {
      in.u64();
      const bool tcp = in.u32() == 6;
      reply.out.u32(tcp && machine_.tcp ? machine_.port() : 0);
      return {};
    }
    if (machine_.mute.fetch_sub(1) > 0) return {.accept = rpc::AcceptStatus::kSystemError};
    machine_.mute = 0;
    if (program_ == 100'021 && call.header.procedure == 5) {
      nlm::write_answer(reply.out, nlm::read_test(in).cookie, machine_.answer);
    }
    const std::lock_guard lock(machine_.mutex_);
    machine_.calls_.push_back({program_, call.header.procedure, {arguments.begin(), arguments.end()}});
    machine_.came_.notify_one();
    return {};
  }

 private:
  ClientMachine& machine_;
  const std::uint32_t program_, version_;
  const std::vector<rpc::Procedure> list_;
};

namespace {

class NoScope final : public rpc::WorkerScope {
 public:
  void refresh() override {}
};

}  // namespace

ClientMachine::ClientMachine() {
  rpc::Service service{.programs = {},
                       .make_scope = [] { return std::make_unique<NoScope>(); },
                       .settle = [](const core::Unsettled&) { return Status{}; }};
  for (const auto& [program, version] : {std::pair{100'000u, 2u}, {100'021u, 4u}, {100'024u, 1u}}) {
    services_.push_back(std::make_unique<Service>(*this, program, version));
    service.programs.push_back(services_.back().get());
  }
  auto started = rpc::Server::start({}, std::move(service), metrics_);
  EXPECT_TRUE(started);
  server_ = std::move(*started);
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

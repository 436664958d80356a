#include "frontends/nfs/v4/program.h"

#include <array>

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kNull = 0, kCompound = 1 };

constexpr std::array<rpc::Procedure, 2> kProcedures{{{"null"}, {"compound"}}};

}  // namespace

Nfs4Program::Nfs4Program(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles,
                         rpc::Dialer& dialer, MetricRegistry& metrics,
                         std::function<ClientTable::Clock::time_point()> clock, const StateidLimits& stateids)
    : clients_(state, dialer, static_cast<std::uint32_t>(ns.boot_verifier()), metrics, std::move(clock)),
      metrics_(metrics),
      offloads_(ns, ns.boot_verifier(), metrics),
      environment_{ns, state, handles, clients_, ns.boot_verifier(), &offloads_, &metrics_, stateids} {}

std::span<const rpc::Procedure> Nfs4Program::procedures() const { return kProcedures; }

rpc::Weight Nfs4Program::weigh(const rpc::CallHeader& header) const {
  return header.procedure == kNull ? rpc::Weight::kMemory : weigh_compound(header);
}

bool Nfs4Program::idempotent(const rpc::CallHeader& header) const {
  return header.procedure == kNull || is_idempotent_compound(header);
}

rpc::Outcome Nfs4Program::run(const rpc::Call& call, rpc::Reply& reply) {
  if (call.header.procedure == kNull) return {};
  return run_compound(environment_, call, reply);
}

void Nfs4Program::encode_not_durable(const rpc::CallHeader& header, rpc::XdrWriter& out) {
  rpc::XdrReader in(header.arguments);
  const auto tag = in.opaque(kTagBytesMax);
  out.u32(static_cast<std::uint32_t>(Nfs4Status::kIo));
  out.opaque(tag);
  out.u32(0);
}

}  // namespace stoa::nfs4

#include "frontends/nfs/v4/program.h"

#include <array>

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kNull = 0, kCompound = 1 };

constexpr std::array<rpc::Procedure, 2> kProcedures{{{"null"}, {"compound"}}};

}  // namespace

Nfs4Program::Nfs4Program(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles,
                         rpc::Dialer& dialer, MetricRegistry& metrics,
                         std::function<ClientTable::Clock::time_point()> clock, const StateidLimits& stateids,
                         std::chrono::seconds lease)
    : offloads_(ns, metrics),
      clients_(state, dialer, static_cast<std::uint32_t>(ns.boot_verifier()), lease, metrics, std::move(clock),
               [this](const Client& client) { offloads_.end(client); }),
      metrics_(metrics),
      environment_{ns, state, handles, clients_, &offloads_, &metrics_, &clients_.delegated_writes(), stateids, lease} {
}

std::span<const rpc::Procedure> Nfs4Program::procedures() const {
  return kProcedures;
}

rpc::CostClass Nfs4Program::cost_class(const rpc::CallHeader& header) const {
  return header.procedure == kNull ? rpc::CostClass::kMemory : cost_class_of(header);
}

bool Nfs4Program::idempotent(const rpc::CallHeader& header) const {
  return header.procedure == kNull || is_idempotent_compound(header);
}

void Nfs4Program::charge(const nfs::Call& call, rpc::Charge& charge) {
  if (call.header.procedure == kNull) return;
  const CompoundPrice compound = price_compound(call.header);
  if (compound.price.free() || compound.handle.empty()) return;
  const auto ref = environment_.handles.decode(compound.handle);
  if (!ref) return;
  charge.price = compound.price;
  call.scope.find_qos_classes(call, *ref, environment_.ns, charge.path);
}

// The first operation was not begun, so neither a slot nor the seqid of an owner is used up (RFC 8881 15.1.1.3).
void Nfs4Program::encode_busy(const rpc::CallHeader& header, rpc::XdrWriter& out) {
  rpc::XdrReader in(header.arguments);
  const auto tag = in.opaque(kTagBytesMax);
  in.u32();  // minor version
  in.u32();  // number of operations
  out.u32(static_cast<std::uint32_t>(Nfs4Status::kDelay));
  out.opaque(tag);
  out.u32(1);
  out.u32(in.u32());
  out.u32(static_cast<std::uint32_t>(Nfs4Status::kDelay));
}

rpc::Outcome Nfs4Program::run(const nfs::Call& call, rpc::Reply& reply) {
  if (call.header.procedure == kNull) return {};
  return run_compound(environment_, call, reply);
}

void Nfs4Program::encode_not_durable(const rpc::CallHeader& header, Errc why, rpc::XdrWriter& out) {
  rpc::XdrReader in(header.arguments);
  const auto tag = in.opaque(kTagBytesMax);
  out.u32(static_cast<std::uint32_t>(why == Errc::kNoSpace ? Nfs4Status::kNoSpc : Nfs4Status::kIo));
  out.opaque(tag);
  out.u32(0);
}

}  // namespace stoa::nfs4

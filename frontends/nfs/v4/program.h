// NFS version 4 as an RPC program: NULL and COMPOUND (RFC 8881 chapter 16).
#pragma once

#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/compound.h"
#include "frontends/nfs/v4/offloads.h"
#include "frontends/nfs/v4/operation_metrics.h"

namespace stoa::nfs4 {

inline constexpr std::uint32_t kNfsProgram = 100003;
inline constexpr std::uint32_t kNfsVersion = 4;
inline constexpr std::uint32_t kMinorMax = 2;

class Nfs4Program final : public nfs::Program {
 public:
  Nfs4Program(core::Namespace& ns, core::StateTable& state, const core::HandleCodec& handles, rpc::Dialer& dialer,
              MetricRegistry& metrics, std::function<ClientTable::Clock::time_point()> clock = nullptr,
              const StateidLimits& stateids = {}, std::chrono::seconds lease = std::chrono::seconds(90));

  std::uint32_t number() const override { return kNfsProgram; }
  std::string_view name() const override { return "nfs4"; }
  std::uint32_t version_low() const override { return kNfsVersion; }
  std::uint32_t version_high() const override { return kNfsVersion; }
  std::span<const rpc::Procedure> procedures() const override;
  rpc::CostClass cost_class(const rpc::CallHeader& header) const override;
  bool idempotent(const rpc::CallHeader& header) const override;
  void charge(const nfs::Call& call, rpc::Charge& charge) override;
  rpc::Outcome run(const nfs::Call& call, rpc::Reply& reply) override;
  void encode_busy(const rpc::CallHeader& header, rpc::XdrWriter& out) override;
  void encode_not_durable(const rpc::CallHeader& header, Errc why, rpc::XdrWriter& out) override;

  // For administrators, and for other programs that meet state of our clients.
  ClientTable& clients() { return clients_; }

 private:
  Offloads offloads_;  // before the members that call it
  ClientTable clients_;
  OperationMetrics metrics_;
  const Environment environment_;
};

// One COMPOUND from its tag to its last result.
rpc::Outcome run_compound(const Environment& environment, const nfs::Call& call, rpc::Reply& reply);
// Its cost class, as far as its first operations tell.
rpc::CostClass cost_class_of(const rpc::CallHeader& header);
// The begin of its WRITE's data in the record; 0: none, or unknown from this prefix.
std::size_t write_payload_offset(std::span<const std::byte> prefix);
// Its price, and the handle of its file: the first one given. I/O of other files, and operations behind those that
// are not looked through, are not included and pay when they run (io_price.h).
struct CompoundPrice {
  std::span<const std::byte> handle{};
  qos::Price price{};
};
CompoundPrice price_compound(const rpc::CallHeader& header);
// False for calls that must not run twice and have no session to prevent it.
bool is_idempotent_compound(const rpc::CallHeader& header);

}  // namespace stoa::nfs4

// NSM version 1 (Protocols for Interworking: XNFS, Version 3W, chapter 11) as an RPC program: receives notices of
// restarts from clients.
//
// Monitoring of others (SM_MON and the like) is a service to programs of the same machine and not offered: this
// server keeps its own list, see core::StateTable::remember_client.
#pragma once

#include <functional>

#include "frontends/nfs/export_access.h"

namespace stoa::nsm {

inline constexpr std::uint32_t kNsmProgram = 100024;
inline constexpr std::uint32_t kNsmVersion = 1;
inline constexpr std::uint32_t kNotifyProcedure = 6;

// Odd while a machine is up; grows with each start.
inline std::uint32_t state_of_start(std::uint32_t start_number) {
  return (2 * start_number - 1) & 0x7fff'ffff;
}

class NsmProgram final : public nfs::Program {
 public:
  // A machine at this address, which calls itself `name`, has started anew, and has this state.
  using Restarted = std::function<void(const rpc::Peer& peer, std::string_view name, std::uint32_t state)>;
  NsmProgram(std::uint32_t state, Restarted restarted) : state_(state), restarted_(std::move(restarted)) {}

  std::uint32_t number() const override { return kNsmProgram; }
  std::string_view name() const override { return "nsm"; }
  std::uint32_t version_low() const override { return kNsmVersion; }
  std::uint32_t version_high() const override { return kNsmVersion; }
  std::span<const rpc::Procedure> procedures() const override;
  rpc::CostClass cost_class(const rpc::CallHeader& header) const override;
  rpc::Outcome run(const nfs::Call& call, rpc::Reply& reply) override;
  void encode_not_durable(const rpc::CallHeader&, Errc, rpc::XdrWriter&) override {}

 private:
  const std::uint32_t state_;
  const Restarted restarted_;
};

}  // namespace stoa::nsm

// NFS version 3 as an RPC program (RFC 1813).
#pragma once

#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

inline constexpr std::uint32_t kNfsProgram = 100003;
inline constexpr std::uint32_t kNfsVersion = 3;
inline constexpr std::uint32_t kNullProcedure = 0;
inline constexpr std::uint32_t kReadProcedure = 6;
inline constexpr std::uint32_t kWriteProcedure = 7;
inline constexpr std::uint32_t kCommitProcedure = 21;

class Nfs3Program final : public nfs::Program {
 public:
  Nfs3Program(core::Namespace& ns, const core::HandleCodec& handles) : environment_{ns, handles, ns.volume_id()} {}

  std::uint32_t number() const override { return kNfsProgram; }
  std::string_view name() const override { return "nfs3"; }
  std::uint32_t version_low() const override { return kNfsVersion; }
  std::uint32_t version_high() const override { return kNfsVersion; }
  std::span<const rpc::Procedure> procedures() const override;
  rpc::CostClass cost_class(const rpc::CallHeader& header) const override;
  void charge(const nfs::Call& call, rpc::Charge& charge) override;
  rpc::Outcome run(const nfs::Call& call, rpc::Reply& reply) override;
  void encode_busy(const rpc::CallHeader& header, rpc::XdrWriter& out) override;
  void encode_not_durable(const rpc::CallHeader& header, Errc why, rpc::XdrWriter& out) override;

 private:
  const Environment environment_;
};

// The begin of a WRITE call's data in its record; 0: no WRITE, or unknown from this prefix.
std::size_t write_payload_offset(std::span<const std::byte> prefix);

}  // namespace stoa::nfs3

// RQUOTA versions 1 and 2 as an RPC program: reports to NFS clients the limits of a user or group below a directory
// of an export.
//
// The answer is the tightest of all quotas that apply there, of the directory and of all above it, because a write
// meets that one. Sizes are in blocks of at least 1024 bytes, larger ones when numbers would not fit into 32 bits,
// rounded up; 0 is no limit. Callers other than the superuser may query only themselves and their groups (Q_EPERM).
#pragma once

#include "core/api/namespace.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::rquota {

inline constexpr std::uint32_t kRquotaProgram = 100011;
inline constexpr std::uint32_t kFirstVersion = 1;   // users only
inline constexpr std::uint32_t kVersion = 2;        // with a type: users and groups
inline constexpr std::size_t kPathBytesMax = 1024;  // RQ_PATHLEN
inline constexpr std::uint32_t kGetQuota = 1;
inline constexpr std::uint32_t kGetActiveQuota = 2;

enum class Status : std::uint32_t { kOk = 1, kNoQuota = 2, kPerm = 3 };
enum class QuotaType : std::uint32_t { kUser = 0, kGroup = 1 };

class RquotaProgram final : public nfs::Program {
 public:
  explicit RquotaProgram(core::Namespace& ns) : ns_(ns) {}

  std::uint32_t number() const override { return kRquotaProgram; }
  std::string_view name() const override { return "rquota"; }
  std::uint32_t version_low() const override { return kFirstVersion; }
  std::uint32_t version_high() const override { return kVersion; }
  std::span<const rpc::Procedure> procedures() const override;
  rpc::CostClass cost_class(const rpc::CallHeader&) const override { return rpc::CostClass::kMemory; }
  rpc::Outcome run(const nfs::Call& call, rpc::Reply& reply) override;
  void encode_not_durable(const rpc::CallHeader&, Errc, rpc::XdrWriter&) override {}  // it changes nothing

 private:
  struct Asked {
    std::string_view path;
    core::QuotaOf of = core::QuotaOf::kUser;
    std::uint32_t id = 0;
  };
  Result<core::StatfsReply> look(const nfs::Call& call, const Asked& asked);

  core::Namespace& ns_;
};

}  // namespace stoa::rquota

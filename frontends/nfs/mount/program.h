// MOUNT version 3 as an RPC program (RFC 1813 appendix I): turns a path into the first handle.
#pragma once

#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/mount/mount_list.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::mount3 {

inline constexpr std::uint32_t kMountProgram = 100005;
inline constexpr std::uint32_t kMountVersion = 3;
inline constexpr std::size_t kPathBytesMax = 1024;  // MNTPATHLEN
inline constexpr std::size_t kMountsListed = 1024;

class MountProgram final : public nfs::Program {
 public:
  MountProgram(core::Namespace& ns, const core::HandleCodec& handles)
      : ns_(ns), handles_(handles), mounts_(kMountsListed) {}

  std::uint32_t number() const override { return kMountProgram; }
  std::string_view name() const override { return "mount3"; }
  std::uint32_t version_low() const override { return kMountVersion; }
  std::uint32_t version_high() const override { return kMountVersion; }
  std::span<const rpc::Procedure> procedures() const override;
  rpc::CostClass cost_class(const rpc::CallHeader&) const override { return rpc::CostClass::kMemory; }
  rpc::Outcome run(const nfs::Call& call, rpc::Reply& reply) override;
  void encode_not_durable(const rpc::CallHeader& header, Errc why, rpc::XdrWriter& out) override;

 private:
  rpc::Outcome mnt(const nfs::Call& call, rpc::XdrWriter& out);
  rpc::Outcome dump(rpc::XdrWriter& out);
  rpc::Outcome umnt(const nfs::Call& call);
  rpc::Outcome umntall(const nfs::Call& call);
  rpc::Outcome list_exports(const nfs::Call& call, rpc::XdrWriter& out);

  core::Namespace& ns_;
  const core::HandleCodec& handles_;
  MountList mounts_;
};

}  // namespace stoa::mount3

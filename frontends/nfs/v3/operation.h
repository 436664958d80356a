// One NFSv3 call in progress: the state that every procedure needs, and the ways in which it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "frontends/nfs/export_access.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/v3/attributes.h"
#include "frontends/nfs/v3/status.h"
#include "frontends/wire/record_pool.h"

namespace stoa::nfs3 {

inline constexpr std::size_t kHandleBytesMax = 64;               // NFS3_FHSIZE
inline constexpr std::uint32_t kIoBytesMax = 1u << 20;           // rtmax, wtmax
inline constexpr std::uint32_t kCopiedReadBytesMax = 64u << 10;  // longer reads go out without a copy
inline constexpr std::uint32_t kListBytesMax = 1u << 20;         // of one READDIR or READDIRPLUS reply

// The objects that the program was made with.
struct Environment {
  core::Namespace& ns;
  const core::HandleCodec& handles;
  std::uint64_t fsid;
};

class Operation {
 public:
  Operation(const Environment& environment, const nfs::Call& call, rpc::Reply& reply, std::string_view procedure)
      : env(environment),
        ns(environment.ns),
        access(call.scope),
        ctx(access.context()),
        in(call.header.arguments),
        out(reply.out),
        reply(reply),
        call_(call),
        procedure_(procedure) {}

  const Environment& env;
  core::Namespace& ns;
  nfs::ExportAccess& access;
  core::OpContext& ctx;  // valid once a handle was resolved
  rpc::XdrReader in;
  rpc::XdrWriter& out;
  rpc::Reply& reply;

  // --- arguments
  // ---------------------------------------------------------------------------------------------------------
  std::span<const std::byte> read_handle() { return in.opaque(kHandleBytesMax); }
  // Any length that came: too long a name is an error of the procedure, not of the encoding.
  std::string_view read_name() { return in.string(~std::size_t{0} >> 1); }

  // The file, under the rules of the export in the handle: sets `ctx`. kBadHandle, kStale, kAccess. `at_mount`: for
  // calls to the export's root before clients use the required security flavor (RFC 2623 2.3.2).
  Result<core::FileId> resolve(std::span<const std::byte> handle, bool at_mount = false);
  // The memory of these arguments, where it may be kept beyond the call.
  core::LentMemory lend(std::span<const std::byte> part) const {
    return call_.memory != nullptr ? call_.memory->lend(part) : core::LentMemory{};
  }
  // A second handle of the same call (RENAME, LINK): kCrossDevice when it belongs to another export.
  Result<core::FileId> resolve_beside(std::span<const std::byte> handle);

  // --- results
  // -------------------------------------------------------------------------------------------------------------
  void ok() { out.u32(static_cast<std::uint32_t>(NfsStatus::kOk)); }
  void encode_handle(const core::Attributes& attr);
  void post_op(const core::Attributes& attr) { encode_post_op(out, &attr, env.fsid); }
  void wcc(const core::BeforeAttributes& before, const core::Attributes& after) {
    encode_wcc(out, &before, &after, env.fsid);
  }
  // After a failure: the present attributes of the object, if available.
  void post_op_now(core::FileId id);
  void wcc_now(core::FileId id);

  // The status of an error of the core. Where a lease is in the way, its file is remembered: the call may wait for it.
  NfsStatus status_of(const Error& error) {
    if (error.code == Errc::kRecallPending) recalled_ = core::FileId{error.subject};
    return to_nfs_status(error.code);
  }
  core::FileId recalled() const { return recalled_; }

  // Whole failures: the status, and then nothing, attributes, or weak cache consistency data. Without an id (the handle
  // was not good) those are absent.
  rpc::Outcome failed(NfsStatus status);
  rpc::Outcome failed_with_attributes(NfsStatus status, std::optional<core::FileId> id = {});
  rpc::Outcome failed_with_wcc(NfsStatus status, std::optional<core::FileId> id = {});
  rpc::Outcome failed(const Error& error) { return failed(status_of(error)); }
  rpc::Outcome failed_with_attributes(const Error& error, std::optional<core::FileId> id = {}) {
    return failed_with_attributes(status_of(error), id);
  }
  rpc::Outcome failed_with_wcc(const Error& error, std::optional<core::FileId> id = {}) {
    return failed_with_wcc(status_of(error), id);
  }

  // The status for a name that the server itself refuses: a directory that is gone, or is none, takes precedence.
  NfsStatus bad_name_status(core::FileId dir, NfsStatus why);

 private:
  const nfs::Call& call_;
  const std::string_view procedure_;  // its name
  core::FileId recalled_ = core::kNoFile;
};

inline rpc::Outcome garbage() {
  return {.accept = rpc::AcceptStatus::kGarbageArguments};
}

// Checks a name of any procedure (RFC 1813 3.2, "General comments on filenames"); kOk: valid. "." and ".." are names
// here.
NfsStatus check_name(std::string_view name);
inline bool is_dot(std::string_view name) {
  return name == ".";
}
inline bool is_dot_dot(std::string_view name) {
  return name == "..";
}

// The procedures, one file each.
rpc::Outcome op_null(Operation& op);
rpc::Outcome op_getattr(Operation& op);
rpc::Outcome op_setattr(Operation& op);
rpc::Outcome op_lookup(Operation& op);
rpc::Outcome op_access(Operation& op);
rpc::Outcome op_readlink(Operation& op);
rpc::Outcome op_read(Operation& op);
rpc::Outcome op_write(Operation& op);
rpc::Outcome op_create(Operation& op);
rpc::Outcome op_mkdir(Operation& op);
rpc::Outcome op_symlink(Operation& op);
rpc::Outcome op_mknod(Operation& op);
rpc::Outcome op_remove(Operation& op);
rpc::Outcome op_rmdir(Operation& op);
rpc::Outcome op_rename(Operation& op);
rpc::Outcome op_link(Operation& op);
rpc::Outcome op_readdir(Operation& op);
rpc::Outcome op_readdirplus(Operation& op);
rpc::Outcome op_fsstat(Operation& op);
rpc::Outcome op_fsinfo(Operation& op);
rpc::Outcome op_pathconf(Operation& op);
rpc::Outcome op_commit(Operation& op);

}  // namespace stoa::nfs3

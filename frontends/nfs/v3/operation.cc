#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

Result<core::FileId> Operation::resolve(std::span<const std::byte> handle, bool at_mount) {
  STOA_TRY(ref, env.handles.decode(handle));
  const Status entered = access.enter(call_, ref.scope);
  if (!entered && entered.error().code != Errc::kAccess) return fail(entered.error());
  if (entered && (access.flavor_allowed() || (at_mount && ref.id == access.entered().root))) return ref.id;
  access.report_refused(call_, ns, *access.snapshot().find_export(ref.scope), "nfs3 " + std::string(procedure_));
  return fail(Errc::kAccess);
}

Result<core::FileId> Operation::resolve_beside(std::span<const std::byte> handle) {
  STOA_TRY(ref, env.handles.decode(handle));
  if (ref.scope != access.entered().id) return fail(Errc::kCrossDevice);
  return ref.id;
}

void Operation::encode_handle(const core::Attributes& attr) {
  out.opaque(env.handles.encode({attr.id, attr.generation, access.entered().id}));
}

void Operation::post_op_now(core::FileId id) {
  const auto now = ns.getattr(ctx, {.id = id});
  encode_post_op(out, now ? &now->attr : nullptr, env.fsid);
}

void Operation::wcc_now(core::FileId id) {
  const auto now = ns.getattr(ctx, {.id = id});
  encode_wcc(out, nullptr, now ? &now->attr : nullptr, env.fsid);
}

rpc::Outcome Operation::failed(NfsStatus status) {
  out.u32(static_cast<std::uint32_t>(status));
  return {.failed = true};
}

rpc::Outcome Operation::failed_with_attributes(NfsStatus status, std::optional<core::FileId> id) {
  out.u32(static_cast<std::uint32_t>(status));
  if (id) {
    post_op_now(*id);
  } else {
    encode_post_op(out, nullptr, env.fsid);
  }
  return {.failed = true};
}

rpc::Outcome Operation::failed_with_wcc(NfsStatus status, std::optional<core::FileId> id) {
  out.u32(static_cast<std::uint32_t>(status));
  if (id) {
    wcc_now(*id);
  } else {
    encode_wcc(out, nullptr, nullptr, env.fsid);
  }
  return {.failed = true};
}

NfsStatus Operation::bad_name_status(core::FileId dir, NfsStatus why) {
  const auto now = ns.getattr(ctx, {.id = dir});
  if (!now) return to_nfs_status(now.error().code);
  return now->attr.type == core::FileType::kDirectory ? why : NfsStatus::kNotDir;
}

NfsStatus check_name(std::string_view name) {
  // The empty name, and names with characters that no file system can store, are refused with
  // NFS3ERR_ACCES.
  if (name.empty() || name.find('/') != name.npos || name.find('\0') != name.npos) return NfsStatus::kAccess;
  if (name.size() > core::kNameBytesMax) return NfsStatus::kNameTooLong;
  return NfsStatus::kOk;
}

}  // namespace stoa::nfs3

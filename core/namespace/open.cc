#include "core/access/access.h"
#include "core/namespace/operations.h"

namespace stoa::core {

Result<OpenReply> open(VolumeContext& volume, const OpContext& ctx, const OpenRequest& req) {
  const bool may_create = req.disposition == OpenDisposition::kCreate ||
                          req.disposition == OpenDisposition::kOpenOrCreate ||
                          req.disposition == OpenDisposition::kOverwriteOrCreate;
  OpenReply reply{};
  if (may_create) {
    const CreateMode mode = req.disposition == OpenDisposition::kCreate ? CreateMode::kGuarded : CreateMode::kUnchecked;
    CreateRequest create_request{.parent = req.parent, .name = req.name, .mode = mode, .set = req.set};
    create_request.set.size.reset();
    STOA_TRY(created, create(volume, ctx, create_request));
    reply = created;
  } else {
    STOA_TRY(found, lookup(volume, ctx, {.parent = req.parent, .name = req.name}));
    if (found.attr.type == FileType::kDirectory) return fail(Errc::kIsDirectory);
    reply.attr = found.attr;
    reply.parent = found.parent;
    reply.parent_before = {found.parent.size, found.parent.mtime, found.parent.ctime, found.parent.change};
  }
  if (reply.created) return reply;  // whoever makes a file may use it, whatever mode it gives (POSIX open)

  STOA_TRY(granted, access(volume, ctx, {.id = reply.attr.id, .wanted = req.access}));
  if (granted.read_only && (req.access & (kAccessModify | kAccessExtend)) != 0) return fail(Errc::kReadOnly);
  if (granted.granted != req.access) return fail(Errc::kAccess);
  const bool overwrite =
      req.disposition == OpenDisposition::kOverwrite || req.disposition == OpenDisposition::kOverwriteOrCreate;
  if (overwrite) {
    STOA_TRY(cut, setattr(volume, ctx, {.id = reply.attr.id, .set = {.size = 0}}));
    reply.attr = cut.attr;
  }
  return reply;
}

Status may_open(VolumeContext& volume, const OpContext& ctx, const MayOpenRequest& req) {
  if (req.write && ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(reply,
           access(volume, ctx, {.id = req.id, .wanted = kAccessRead | kAccessExecute | kAccessModify | kAccessExtend}));
  if (req.write && reply.read_only) return fail(Errc::kReadOnly);
  const bool may_read = (reply.granted & (kAccessRead | kAccessExecute)) != 0;
  const bool may_write = (reply.granted & (kAccessModify | kAccessExtend)) != 0;
  return (req.read && !may_read) || (req.write && !may_write) ? fail(Errc::kAccess) : Status{};
}

}  // namespace stoa::core

// RFC 8881 18.25: removes a file or a directory.
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_remove(Compound& c) {
  const auto name = c.read_name();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto dir = c.file();
  if (dir.status != Nfs4Status::kOk) return dir.status;
  if (const Nfs4Status bad = check_name(name); bad != Nfs4Status::kOk) return bad;

  const core::RemoveRequest request{.parent = dir.id, .name = name};
  auto reply = c.ns.unlink(c.ctx, request);
  if (!reply && reply.error().code == Errc::kIsDirectory) {
    reply = c.ns.rmdir(c.ctx, request);
    // Another object took the name meanwhile: the client may ask again.
    if (!reply && reply.error().code == Errc::kNotDirectory) return Nfs4Status::kDelay;
  }
  if (!reply) return c.status_of(reply.error());
  c.change_info(reply->parent_before, reply->parent);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 18.14
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_lookupp(Compound& c) {
  const core::FileId root = c.current && !c.current->pseudo_root() ? c.access.entered().root : core::kNoFile;
  // The pseudo root takes every flavour.
  if (c.wrong_security && c.current->ref.id == root) return c.set_current(Handle{});
  const auto dir = c.file(Nfs4Status::kNoEnt);
  if (dir.status != Nfs4Status::kOk) return dir.status;

  const auto reply = c.ns.lookup(c.ctx, {.parent = dir.id, .name = "..", .root = root});
  if (!reply) return directory_status(c, dir.id, reply.error());
  if (dir.id == root) return c.set_current(Handle{});
  c.set_current_file(reply->attr);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 18.9
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_link(Compound& c) {
  const auto name = c.read_name();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto dir = c.file();
  if (dir.status != Nfs4Status::kOk) return dir.status;
  const auto file = c.saved_file();
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const Nfs4Status bad = check_name(name); bad != Nfs4Status::kOk) return bad;

  const auto reply = c.ns.link(c.ctx, {.id = file.id, .parent = dir.id, .name = name});
  if (!reply) return c.status_of(reply.error());
  c.change_info(reply->parent_before, reply->parent);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

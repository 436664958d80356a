// RFC 8881 18.13
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/pseudo_root.h"

namespace stoa::nfs4 {

Nfs4Status op_lookup(Compound& c) {
  const auto name = c.read_name();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const Nfs4Status bad = check_name(name); bad != Nfs4Status::kOk) return bad;

  if (c.current->pseudo_root()) {
    const ExportRoot root = find_in_pseudo_root(c, name);
    if (root.status != Nfs4Status::kOk) return root.status;
    if (!c.access.flavor_allowed()) return Nfs4Status::kWrongSec;
    c.set_current_file(root.attr);
    return Nfs4Status::kOk;
  }
  if (c.wrong_security) return Nfs4Status::kWrongSec;
  const core::FileId dir = c.current->ref.id;
  const auto reply = c.ns.lookup(c.ctx, {.parent = dir, .name = name, .root = c.access.entered().root});
  if (!reply) return directory_status(c, dir, reply.error());
  c.set_current_file(reply->attr);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 18.29
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/pseudo_root.h"
#include "frontends/nfs/v4/security.h"

namespace stoa::nfs4 {

Nfs4Status op_secinfo(Compound& c) {
  const auto name = c.read_name();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const Nfs4Status bad = check_name(name); bad != Nfs4Status::kOk) return bad;

  if (c.current->pseudo_root()) {
    const ExportRoot root = find_in_pseudo_root(c, name);
    if (root.status != Nfs4Status::kOk) return root.status;
  } else {
    const auto reply = c.ns.lookup(c.ctx, {.parent = c.current->ref.id, .name = name, .root = c.access.entered().root});
    if (!reply) return c.status_of(reply.error());
  }
  answer_security(c, nfs::flavors_of(c.access.entered(), c.access.rules()));
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

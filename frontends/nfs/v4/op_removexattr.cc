// RFC 8276 8.4.4
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/xattr_name.h"

namespace stoa::nfs4 {

Nfs4Status op_removexattr(Compound& c) {
  const auto key = c.read_name();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file();
  if (file.status != Nfs4Status::kOk) return file.status;
  const XattrName name = to_core_xattr(key);
  if (name.status != Nfs4Status::kOk) return name.status;

  const auto reply = c.ns.remove_xattr(c.ctx, {.id = file.id, .name = name.name});
  if (!reply) return c.status_of(reply.error());
  c.change_info(reply->before, reply->attr);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

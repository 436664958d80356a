// RFC 8881 18.45
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/security.h"

namespace stoa::nfs4 {

Nfs4Status op_secinfo_no_name(Compound& c) {
  enum : std::uint32_t { kCurrentFilehandle = 0, kParent = 1 };
  const std::uint32_t style = c.in.u32();
  if (!c.in.ok() || style > kParent) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;

  bool pseudo_root = c.current->pseudo_root();
  if (style == kParent) {
    if (c.current->pseudo_root()) return Nfs4Status::kNoEnt;
    const auto reply = c.ns.lookup(c.ctx, {.parent = c.current->ref.id, .name = "..", .root = c.access.entered().root});
    if (!reply) return c.status_of(reply.error());
    pseudo_root = c.current->ref.id == c.access.entered().root;
  }
  const nfs::IdentityRules& rules = c.access.rules();
  answer_security(c, pseudo_root ? nfs::all_flavors(rules) : nfs::flavors_of(c.access.entered(), rules));
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 18.7
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/pseudo_root.h"

namespace stoa::nfs4 {

Nfs4Status op_getattr(Compound& c) {
  const Bitmap wanted = Bitmap::decode(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (wanted.meets(kWriteOnly)) return Nfs4Status::kInval;

  if (c.current->pseudo_root()) {
    const core::Attributes attr = pseudo_root_attributes(c);
    return encode_attributes(c, wanted, pseudo_root_subject(attr));
  }
  const auto reply = c.ns.getattr(c.ctx, {.id = c.current->ref.id});
  if (!reply) return to_nfs4_status(reply.error().code);
  return encode_attributes(c, wanted, subject_in_export(c, reply->attr));
}

}  // namespace stoa::nfs4

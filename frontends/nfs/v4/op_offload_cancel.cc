// RFC 7862 15.8
#include "frontends/nfs/v4/offloads.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_offload_cancel(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  const bool found = c.env.offloads != nullptr && c.client != nullptr && c.env.offloads->cancel(*c.client, stateid);
  return found ? Nfs4Status::kOk : Nfs4Status::kBadStateId;
}

}  // namespace stoa::nfs4

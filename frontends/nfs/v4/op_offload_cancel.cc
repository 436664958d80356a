// RFC 7862 15.8: copies are done when COPY is answered, so no stateid is of one that is under way.
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_offload_cancel(Compound& c) {
  read_stateid(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  return c.current ? Nfs4Status::kBadStateId : Nfs4Status::kNoFileHandle;
}

}  // namespace stoa::nfs4

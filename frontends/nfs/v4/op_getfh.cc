// RFC 8881 18.8
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_getfh(Compound& c) {
  if (!c.current) return Nfs4Status::kNoFileHandle;
  c.out.opaque(c.env.handles.encode(c.current->ref));
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

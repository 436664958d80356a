// RFC 8881 18.28; the current stateid is saved with it (16.2.3.1.2).
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_savefh(Compound& c) {
  if (!c.current) return Nfs4Status::kNoFileHandle;
  c.saved = c.current;
  c.saved_stateid = c.current_stateid;
  c.has_saved_stateid = c.has_current_stateid;
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 18.27; the saved stateid comes back with it (16.2.3.1.2).
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_restorefh(Compound& c) {
  // RFC 7530 16.28 has an error of its own.
  if (!c.saved) return c.minor == 0 ? Nfs4Status::kRestoreFh : Nfs4Status::kNoFileHandle;
  if (const Nfs4Status status = c.set_current(*c.saved); status != Nfs4Status::kOk) return status;
  c.current_stateid = c.saved_stateid;
  c.has_current_stateid = c.has_saved_stateid;
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

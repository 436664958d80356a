// RFC 8881 18.19
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_putfh(Compound& c) {
  const auto bytes = c.in.opaque(kHandleBytesMax);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;

  const auto ref = c.env.handles.decode(bytes);
  if (!ref) return c.status_of(ref.error());
  return c.set_current(Handle{*ref});
}

}  // namespace stoa::nfs4

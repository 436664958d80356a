// RFC 8881 18.20: the public filehandle is that of the pseudo root.
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_putpubfh(Compound& c) {
  return c.set_current(Handle{});
}

}  // namespace stoa::nfs4

// RFC 8881 18.21
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_putrootfh(Compound& c) {
  return c.set_current(Handle{});
}

}  // namespace stoa::nfs4

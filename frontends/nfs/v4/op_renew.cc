// RFC 7530 16.30. Without delegations there is no callback path that could be down.
#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {

Nfs4Status op_renew(Compound& c) {
  const std::uint64_t client = c.in.u64();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  return identify(c, client);
}

}  // namespace stoa::nfs4

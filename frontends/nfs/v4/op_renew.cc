// RFC 7530 16.30: the lease is renewed in any case, and the client gets an error when its delegations could
// not be recalled.
#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {

Nfs4Status op_renew(Compound& c) {
  const std::uint64_t client = c.in.u64();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (const auto status = identify(c, client); status != Nfs4Status::kOk) return status;
  const bool unreachable = c.client->delegation_count.load() > 0 && c.client->recalls.all_lost();
  return unreachable ? Nfs4Status::kCbPathDown : Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

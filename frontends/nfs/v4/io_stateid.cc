#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {

Nfs4Status check_io_stateid(Compound& c, const Stateid& given, core::FileId file, bool write) {
  c.ctx.holder = c.holder;
  c.ctx.open = core::kNoOpen;
  Stateid stateid = given;
  if (const Nfs4Status status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  if (is_anonymous(stateid) || is_bypass(stateid)) return Nfs4Status::kOk;
  if (const Nfs4Status status = identify(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  const StateRecord& state = *found.state;
  if (state.file.id != file) return Nfs4Status::kBadStateId;
  if (state.kind == StateKind::kDelegation) {
    if (c.env.state.lease_revoked(state.lease)) return Nfs4Status::kDelegRevoked;
    return write && state.lease_kind != core::LeaseKind::kWrite ? Nfs4Status::kOpenMode : Nfs4Status::kOk;
  }
  const StateRecord& open = state.kind == StateKind::kLock ? *state.base : state;
  if (!is_confirmed(open)) return Nfs4Status::kBadStateId;
  // Who may write may read what is around it: clients read whole pages (9.1.2 leaves it to the server).
  if (write && (open.access & core::kShareWrite) == 0) return Nfs4Status::kOpenMode;
  c.ctx.open = open.open;
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

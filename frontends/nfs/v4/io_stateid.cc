#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

// Share reservations of others (RFC 7530 9.1.6, RFC 8881 9.1.2); those of expired clients yield.
Nfs4Status check_shares(Compound& c, core::FileId file, core::OpenId through, bool write) {
  for (bool again = false;; again = true) {
    const Status may = c.env.state.check_denied(file, through, write ? core::kShareWrite : core::kShareRead);
    if (may) return Nfs4Status::kOk;
    if (again || !c.env.clients.end_expired(file)) return Nfs4Status::kLocked;
  }
}

}  // namespace

Nfs4Status check_io_stateid(Compound& c, const Stateid& given, core::FileId file, bool write) {
  c.ctx.holder = c.holder;
  c.ctx.open = core::kNoOpen;
  Stateid stateid = given;
  if (const Nfs4Status status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  // A read with all ones ignores share reservations; a write with it is as one with all zeros (RFC 7530 9.1.4.3).
  if (is_bypass(stateid) && !write) return Nfs4Status::kOk;
  if (is_anonymous(stateid) || is_bypass(stateid)) return check_shares(c, file, core::kNoOpen, write);
  if (const Nfs4Status status = identify(c, stateid); status != Nfs4Status::kOk) return status;
  {
    Client& client = *c.client;
    const std::lock_guard lock(client.mutex);
    const FoundState found = find_state(client, stateid);
    if (found.status != Nfs4Status::kOk) return found.status;
    const StateRecord& state = *found.state;
    if (state.file.id != file) return Nfs4Status::kBadStateId;
    if (state.kind == StateKind::kDelegation) {
      // The client itself enforces share modes among its own opens (10.4).
      if (c.env.state.lease_revoked(state.lease)) return Nfs4Status::kDelegRevoked;
      return write && !state.writes ? Nfs4Status::kOpenMode : Nfs4Status::kOk;
    }
    const StateRecord& open = state.kind == StateKind::kLock ? *state.base : state;
    if (!is_confirmed(open)) return Nfs4Status::kBadStateId;
    // An open for writing may read: clients read whole pages (9.1.2 leaves it to the server).
    if (write && (open.access & core::kShareWrite) == 0) return Nfs4Status::kOpenMode;
    c.ctx.open = open.open;
    // The access that an open has was compared with all other opens, and they with it.
    if (write || (open.access & core::kShareRead) != 0) return Nfs4Status::kOk;
  }
  return check_shares(c, file, c.ctx.open, write);
}

}  // namespace stoa::nfs4

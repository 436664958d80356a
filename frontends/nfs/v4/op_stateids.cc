// TEST_STATEID (RFC 8881 18.48), FREE_STATEID (18.38), DELEGRETURN (18.6)
#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {

Nfs4Status op_test_stateid(Compound& c) {
  const std::uint32_t count = c.in.u32();
  if (count > c.in.left() / 16) return Nfs4Status::kBadXdr;
  const Client& client = *c.client;
  c.out.u32(count);
  const std::lock_guard lock(c.client->mutex);
  for (std::uint32_t i = 0; i < count; ++i) {
    const FoundState found = find_state(client, read_stateid(c.in));
    Nfs4Status status = found.status;
    if (found.state && found.state->kind == StateKind::kDelegation && c.env.state.lease_revoked(found.state->lease)) {
      status = Nfs4Status::kDelegRevoked;
    }
    c.out.u32(static_cast<std::uint32_t>(status));
  }
  return Nfs4Status::kOk;
}

Nfs4Status op_free_stateid(Compound& c) {
  Stateid stateid = read_stateid(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  if (forget_revoked(client, stateid)) return Nfs4Status::kOk;
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  switch (found.state->kind) {
    case StateKind::kOpen:
      return Nfs4Status::kLocksHeld;
    case StateKind::kLock:
      if (holds_locks(c.env.state, client, *found.state)) return Nfs4Status::kLocksHeld;
      break;
    case StateKind::kDelegation:
      if (!c.env.state.lease_revoked(found.state->lease)) return Nfs4Status::kLocksHeld;
      c.env.state.return_lease(found.state->lease);
      break;
  }
  forget_state(client, found.state);
  return Nfs4Status::kOk;
}

Nfs4Status op_delegreturn(Compound& c) {
  Stateid stateid = read_stateid(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kBadStateId);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const auto status = identify(c, stateid); status != Nfs4Status::kOk) return status;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  if (found.state->kind != StateKind::kDelegation || found.state->file.id != file.id) return Nfs4Status::kBadStateId;
  const bool revoked = c.env.state.lease_revoked(found.state->lease);
  // In minor version 0 nothing else frees one that was revoked.
  if (revoked && c.minor != 0) return Nfs4Status::kDelegRevoked;
  c.env.state.return_lease(found.state->lease);
  forget_state(client, found.state);
  return revoked ? Nfs4Status::kDelegRevoked : Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

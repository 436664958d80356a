// RFC 7530 16.37
#include <vector>

#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {

Nfs4Status op_release_lockowner(Compound& c) {
  const std::uint64_t client_id = c.in.u64();
  const auto name = c.in.string(kOwnerBytesMax);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (const auto status = identify(c, client_id); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  std::vector<StateRef> of_owner;
  for (auto it = client.locks.lower_bound({std::string(name), core::FileId{}}); it != client.locks.end(); ++it) {
    if (it->first.first != name) break;
    if (holds_locks(c.env.state, client, *it->second)) return Nfs4Status::kLocksHeld;
    of_owner.push_back(it->second);
  }
  for (const StateRef& locks : of_owner) forget_state(client, locks);
  if (const OwnerRef owner = client.owners.find(OwnerKind::kLock, name)) client.owners.forget(owner);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

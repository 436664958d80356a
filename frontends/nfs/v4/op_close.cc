// CLOSE (RFC 8881 18.2), OPEN_DOWNGRADE (18.18)
#include <vector>

#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/seqid_slot.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

// The open that the stateid names, of the current file (client.mutex held).
FoundState find_open(const Client& client, const Stateid& stateid, core::FileId file) {
  FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found;
  if (found.state->kind != StateKind::kOpen || found.state->file.id != file) return {Nfs4Status::kBadStateId, nullptr};
  if (!is_confirmed(*found.state)) return {Nfs4Status::kBadStateId, nullptr};
  return found;
}

}  // namespace

Nfs4Status op_close(Compound& c) {
  const std::uint32_t seqid = c.in.u32();
  Stateid stateid = read_stateid(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, stateid, seqid)) return *answer;
  const auto file = c.file(Nfs4Status::kBadStateId);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  core::OpenId open{};
  Stateid result;
  {
    const std::lock_guard lock(client.mutex);
    const FoundState found = find_open(client, stateid, file.id);
    if (found.status != Nfs4Status::kOk) return found.status;
    std::vector<StateRef> of_locks;
    if (found.state->lock_states > 0) {
      for (const auto& [key, locks] : client.locks) {
        if (locks->base == found.state) of_locks.push_back(locks);
      }
    }
    for (const StateRef& locks : of_locks) release_locks(c.env.state, client, locks);
    open = found.state->open;
    if (++found.state->seqid == 0) found.state->seqid = 1;
    result = stateid_of(client, *found.state);
    if (const OwnerRef owner = owner_in_turn(c)) client.owners.set_closed(owner, found.state->serial);
    forget_state(client, found.state);
  }
  c.env.state.close(open);  // may delete a file that has no name any more
  // 18.2.4: the returned stateid is invalid; in minor version 0 it is the next of the closed one (16.2.4).
  if (c.minor != 0) result = {.seqid = ~0u};
  write_stateid(c.out, result);
  c.set_current_stateid(result);
  return Nfs4Status::kOk;
}

Nfs4Status op_open_downgrade(Compound& c) {
  Stateid stateid = read_stateid(c.in);
  const std::uint32_t seqid = c.in.u32();
  const std::uint32_t access = c.in.u32() & ~want_flags(c);
  const std::uint32_t deny = c.in.u32();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, stateid, seqid)) return *answer;
  const auto file = c.file(Nfs4Status::kBadStateId);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (access == core::kShareNone || access > core::kShareBoth || deny > core::kShareBoth) return Nfs4Status::kInval;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_open(client, stateid, file.id);
  if (found.status != Nfs4Status::kOk) return found.status;
  StateRecord& open = *found.state;
  // 18.18.3: the rest must be a union of modes of some of the OPENs.
  std::uint32_t reachable_access = 0, reachable_deny = 0, kept = 0;
  for (std::uint32_t a = 0; a <= core::kShareBoth; ++a) {
    for (std::uint32_t d = 0; d <= core::kShareBoth; ++d) {
      const std::uint32_t bit = 1u << (a * 4 + d);
      if ((open.combinations & bit) == 0 || (a & ~access) != 0 || (d & ~deny) != 0) continue;
      reachable_access |= a;
      reachable_deny |= d;
      kept |= bit;
    }
  }
  if (reachable_access != access || reachable_deny != deny) return Nfs4Status::kInval;
  if (const Status changed = c.env.state.change_open(open.open, access, deny); !changed) {
    return c.status_of(changed.error());
  }
  open.access = access;
  open.deny = deny;
  open.combinations = kept;
  if (++open.seqid == 0) open.seqid = 1;
  const Stateid result = stateid_of(client, open);
  write_stateid(c.out, result);
  c.set_current_stateid(result);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

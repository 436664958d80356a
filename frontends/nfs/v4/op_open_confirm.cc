// RFC 7530 16.18
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/seqid_slot.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {

Nfs4Status op_open_confirm(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  const std::uint32_t seqid = c.in.u32();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, stateid, seqid)) return *answer;
  const auto file = c.file(Nfs4Status::kBadStateId);
  if (file.status != Nfs4Status::kOk) return file.status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  StateRecord& open = *found.state;
  if (open.kind != StateKind::kOpen || open.file.id != file.id || is_confirmed(open)) return Nfs4Status::kBadStateId;
  open.sequenced_by->confirmed = true;
  if (++open.seqid == 0) open.seqid = 1;
  write_stateid(c.out, stateid_of(client, open));
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

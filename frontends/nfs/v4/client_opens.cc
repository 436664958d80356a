#include "frontends/nfs/v4/client_opens.h"

#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/grace.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/seqid_slot.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

Nfs4Status gone_status(const Compound& c) {
  return c.minor == 0 ? Nfs4Status::kExpired : Nfs4Status::kBadSession;
}

}  // namespace

Nfs4Status check_room_for_open(Compound& c, const OpenArguments& arguments, core::FileId current) {
  if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
  {
    const std::lock_guard lock(c.client->mutex);
    if (c.client->gone) return gone_status(c);
    if (has_room_for_state(c)) return Nfs4Status::kOk;
  }
  core::FileId file = current;
  if (arguments.names_file()) {
    const auto found = c.ns.lookup(c.ctx, {.parent = current, .name = arguments.name});
    const bool makes = !found && found.error().code == Errc::kNotFound && arguments.create;
    if (!found) return makes ? no_room_for_state(c) : c.status_of(found.error());
    file = found->attr.id;
  }
  const std::lock_guard lock(c.client->mutex);
  const bool adds = c.client->opens.contains({std::string(arguments.owner), file});
  return adds ? Nfs4Status::kOk : no_room_for_state(c);
}

Nfs4Status keep_open(Compound& c, const OpenArguments& arguments, const core::FileRef& file, core::OpenId opened,
                     Stateid& stateid) {
  Client& client = *c.client;
  const std::uint32_t combination = 1u << (arguments.access * 4 + arguments.deny);
  for (;;) {
    if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
    const std::lock_guard lock(client.mutex);
    if (client.gone) return gone_status(c);
    // Forgotten since, because it held nothing.
    if (!client.remembered.load(std::memory_order_acquire) && !client.unrecorded.load(std::memory_order_acquire))
      continue;
    const auto known = client.opens.find({std::string(arguments.owner), file.id});
    if (known == client.opens.end()) {
      const StateRef open = add_state(client, StateKind::kOpen, file, std::string(arguments.owner), owner_in_turn(c));
      open->open = opened;
      open->access = arguments.access;
      open->deny = arguments.deny;
      open->combinations = combination;
      stateid = stateid_of(client, *open);
      return Nfs4Status::kOk;
    }
    StateRecord& open = *known->second;
    c.env.state.join_opens(open.open, opened);
    open.access |= arguments.access;
    open.deny |= arguments.deny;
    open.combinations |= combination;
    if (++open.seqid == 0) open.seqid = 1;
    stateid = stateid_of(client, open);
    return Nfs4Status::kOk;
  }
}

}  // namespace stoa::nfs4

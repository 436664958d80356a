#include "frontends/nfs/v4/delegations.h"

#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kLimitSize = 1;  // nfs_space_limit4

// nfsace4 that lets nobody in without asking: the server decides on ACCESS and OPEN (10.4.3 leaves it to us).
void encode_no_permissions(rpc::XdrWriter& out) {
  out.u32(0);  // ALLOW
  out.u32(0);
  out.u32(0);
  out.u32(0);  // who
}

}  // namespace

Delegated grant_delegation(Compound& c, const core::FileRef& file, std::uint64_t change, std::uint32_t type,
                           Reclaimed reclaimed) {
  if (type == kDelegationNone) return {.why = NoDelegation::kNotWanted};
  Client& client = *c.client;
  const bool recalled = reclaimed == Reclaimed::kYes && client.recalls.all_lost();
  if (reclaimed == Reclaimed::kNo && !client.recalls.channel_up()) return {};
  const bool writes = type == kDelegationWrite;
  const std::lock_guard lock(client.mutex);
  if (client.gone || !client.remembered || !has_room_for_state(c)) return {};
  if (const auto held = client.delegations.find(static_cast<std::uint64_t>(file.id));
      held != client.delegations.end()) {
    if (held->second->writes == writes) return {};
    return {.why = writes ? NoDelegation::kNotSuppUpgrade : NoDelegation::kNotSuppDowngrade};
  }
  const std::uint32_t bits = core::kReadCaching | (writes ? core::kWriteCaching : 0u);
  const auto lease = c.env.state.grant_lease(file.id, {.holder = c.holder, .key = {}},
                                             {.bits = bits, .kind = core::LeaseKind::kDelegation});
  if (!lease) {
    client.recalls.returned(file.id);
    return {.why = NoDelegation::kContention};
  }
  const StateRef delegation = add_state(client, StateKind::kDelegation, file, {}, nullptr);
  delegation->lease = lease->id;
  delegation->writes = writes;
  const core::HandleBytes handle = c.env.handles.encode(file);
  client.recalls.granted(file.id, stateid_of(client, *delegation), handle);
  if (writes) client.delegated_writes->add(c.client, file, stateid_of(client, *delegation), handle, change);
  return {.delegation = delegation, .recalled = recalled};
}

void encode_delegation(Compound& c, const Delegated& delegated, bool explain) {
  if (delegated.delegation != nullptr) {
    const bool writes = delegated.delegation->writes;
    c.out.u32(writes ? kDelegationWrite : kDelegationRead);
    write_stateid(c.out, stateid_of(*c.client, *delegated.delegation));
    c.out.boolean(delegated.recalled);
    if (writes) {
      c.out.u32(kLimitSize);
      c.out.u64(0);  // what is cached is written before CLOSE, so that quota and space are known
    }
    return encode_no_permissions(c.out);
  }
  if (!explain) return c.out.u32(kDelegationNone);
  c.out.u32(kDelegationNoneExt);
  c.out.u32(static_cast<std::uint32_t>(delegated.why));
  // Neither pushed later nor told of when it might be had.
  if (delegated.why == NoDelegation::kContention || delegated.why == NoDelegation::kResource) c.out.boolean(false);
}

}  // namespace stoa::nfs4

#include "frontends/nfs/v4/delegations.h"

#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kLimitSize = 1;  // nfs_space_limit4

// nfsace4 without rights: the server decides on ACCESS and OPEN (10.4.3 leaves it to us).
void encode_no_permissions(rpc::XdrWriter& out) {
  out.u32(0);  // ALLOW
  out.u32(0);
  out.u32(0);
  out.u32(0);  // the `who` of the ACE
}

}  // namespace

core::LeaseRequest lease_request(Compound& c, const DelegationRequest& wanted) {
  core::LeaseRequest lease{.bits = core::kLeaseNone, .kind = core::LeaseKind::kDelegation};
  if (wanted.type == kDelegationNone) return lease;
  if (wanted.reclaimed == Reclaimed::kNo && !c.client->recalls.channel_up()) return lease;
  lease.bits = core::kReadCaching | (wanted.type == kDelegationWrite ? core::kWriteCaching : 0u);
  return lease;
}

Delegated keep_delegation(Compound& c, const core::FileRef& file, std::uint64_t change, const DelegationRequest& wanted,
                          const std::optional<core::GrantedLease>& lease) {
  if (wanted.type == kDelegationNone) return {.why = wanted.why};
  Client& client = *c.client;
  const bool writes = wanted.type == kDelegationWrite;
  const bool recalled = wanted.reclaimed == Reclaimed::kYes && client.recalls.all_lost();
  if (!lease && wanted.reclaimed == Reclaimed::kNo && !client.recalls.channel_up()) return {};
  const std::lock_guard lock(client.mutex);
  if (client.gone || !client.remembered || !has_room_for_state(c)) {
    if (!lease) return {};
    c.env.state.return_lease(lease->id);
    client.recalls.returned(file.id);
    return {};
  }
  if (!lease) {
    const auto held = client.delegations.find(static_cast<std::uint64_t>(file.id));
    if (held == client.delegations.end()) return {.why = NoDelegation::kContention};
    if (held->second->writes == writes) return {};
    return {.why = writes ? NoDelegation::kNotSuppUpgrade : NoDelegation::kNotSuppDowngrade};
  }
  const StateRef delegation = add_state(client, StateKind::kDelegation, file, {}, nullptr);
  delegation->lease = lease->id;
  delegation->writes = writes;
  const core::HandleBytes handle = c.env.handles.encode(file);
  client.recalls.granted(file.id, stateid_of(client, *delegation), handle);
  if (writes) client.delegated_writes->add(c.client, file, stateid_of(client, *delegation), handle, change);
  return {.delegation = delegation, .recalled = recalled};
}

Nfs4Status check_delegation(Compound& c, Stateid stateid, core::FileId file) {
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  const StateRecord& delegation = *found.state;
  const bool is_of_file = file == core::kNoFile || delegation.file.id == file;
  if (delegation.kind != StateKind::kDelegation || !is_of_file) return Nfs4Status::kBadStateId;
  if (c.env.state.lease_revoked(delegation.lease)) return Nfs4Status::kDelegRevoked;
  return Nfs4Status::kOk;
}

void encode_delegation(Compound& c, const Delegated& delegated, bool explain) {
  if (delegated.delegation != nullptr) {
    const bool writes = delegated.delegation->writes;
    c.out.u32(writes ? kDelegationWrite : kDelegationRead);
    write_stateid(c.out, stateid_of(*c.client, *delegated.delegation));
    c.out.boolean(delegated.recalled);
    if (writes) {
      c.out.u32(kLimitSize);
      c.out.u64(0);  // cached data is written before CLOSE, so that quota and space are known
    }
    return encode_no_permissions(c.out);
  }
  if (!explain) return c.out.u32(kDelegationNone);
  c.out.u32(kDelegationNoneExt);
  c.out.u32(static_cast<std::uint32_t>(delegated.why));
  // Neither pushed later nor announced when available.
  if (delegated.why == NoDelegation::kContention || delegated.why == NoDelegation::kResource) c.out.boolean(false);
}

}  // namespace stoa::nfs4

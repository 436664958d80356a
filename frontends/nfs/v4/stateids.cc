#include "frontends/nfs/v4/stateids.h"

#include <algorithm>

namespace stoa::nfs4 {
namespace {

bool all(const Stateid& stateid, std::uint8_t byte) {
  return std::ranges::all_of(stateid.other, [&](std::byte b) { return b == std::byte{byte}; });
}

std::uint32_t serial_of(const Stateid& stateid) {
  return rpc::load_be32(stateid.other.data() + 8);
}

}  // namespace

Stateid stateid_of(const Client& client, const StateRecord& state) {
  Stateid stateid{.seqid = state.seqid};
  rpc::store_be32(stateid.other.data(), static_cast<std::uint32_t>(client.id >> 32));
  rpc::store_be32(stateid.other.data() + 4, static_cast<std::uint32_t>(client.id));
  rpc::store_be32(stateid.other.data() + 8, state.serial);
  return stateid;
}

std::uint64_t client_of(const Stateid& stateid) {
  return std::uint64_t{rpc::load_be32(stateid.other.data())} << 32 | rpc::load_be32(stateid.other.data() + 4);
}

OwnerRef owner_of(const Client& client, const Stateid& stateid) {
  if (client_of(stateid) != client.id) return nullptr;
  const auto found = client.states.find(serial_of(stateid));
  return found != client.states.end() ? found->second->sequenced_by : client.owners.of_closed(serial_of(stateid));
}

FoundState find_state(const Client& client, const Stateid& stateid) {
  if (client_of(stateid) != client.id) return {Nfs4Status::kBadStateId, nullptr};
  const auto found = client.states.find(serial_of(stateid));
  if (found == client.states.end()) {
    return {is_revoked(client, stateid) ? Nfs4Status::kAdminRevoked : Nfs4Status::kBadStateId, nullptr};
  }
  // 8.2.2: with sessions, zero means the newest; the counter wraps around, past zero.
  const bool newest = client.has_sessions && stateid.seqid == 0;
  const std::uint32_t ahead = found->second->seqid - stateid.seqid;
  if (!newest && ahead != 0) {
    return {ahead < 1u << 31 ? Nfs4Status::kOldStateId : Nfs4Status::kBadStateId, nullptr};
  }
  return {Nfs4Status::kOk, found->second};
}

bool is_revoked(const Client& client, const Stateid& stateid) {
  return client_of(stateid) == client.id && client.revoked.contains(serial_of(stateid));
}

bool forget_revoked(Client& client, const Stateid& stateid) {
  if (!is_revoked(client, stateid)) return false;
  client.revoked.erase(serial_of(stateid));
  client.has_revoked.store(!client.revoked.empty());
  return true;
}

bool is_special(const Stateid& stateid) {
  return all(stateid, 0) || all(stateid, 0xff);
}
bool is_anonymous(const Stateid& stateid) {
  return stateid.seqid == 0 && all(stateid, 0);
}
bool is_bypass(const Stateid& stateid) {
  return stateid.seqid == ~0u && all(stateid, 0xff);
}

Nfs4Status resolve_current(const Compound& c, Stateid& stateid) {
  if (c.minor == 0 || stateid.seqid != 1 || !all(stateid, 0)) return Nfs4Status::kOk;
  if (!c.has_current_stateid) return Nfs4Status::kBadStateId;
  stateid = c.current_stateid;
  return Nfs4Status::kOk;
}

bool has_room_for_state(const Compound& c) {
  const StateidLimits& limits = c.env.stateids;
  return c.client->states.size() < limits.of_client && c.client->share->states.load() < limits.of_peer;
}

Nfs4Status no_room_for_state(const Compound& c) {
  return c.minor == 0 ? Nfs4Status::kResource : Nfs4Status::kDelay;
}

StateRef add_state(Client& client, StateKind kind, const core::FileRef& file, std::string owner,
                   OwnerRef sequenced_by) {
  while (client.next_serial == 0 || client.states.contains(client.next_serial) ||
         client.revoked.contains(client.next_serial)) {
    client.next_serial = (client.next_serial + 1) % kCopySerials;
  }
  auto state = std::make_shared<StateRecord>();
  state->kind = kind;
  state->serial = client.next_serial;
  client.next_serial = (client.next_serial + 1) % kCopySerials;
  state->file = file;
  state->owner = std::move(owner);
  if (sequenced_by != nullptr) client.owners.use(sequenced_by);
  state->sequenced_by = std::move(sequenced_by);
  client.states.emplace(state->serial, state);
  client.share->states.fetch_add(1, std::memory_order_relaxed);
  const std::pair key(state->owner, file.id);
  if (kind == StateKind::kOpen) client.opens[key] = state;
  if (kind == StateKind::kLock) client.locks[key] = state;
  if (kind == StateKind::kDelegation) {
    client.delegations[static_cast<std::uint64_t>(file.id)] = state;
    client.delegation_count.fetch_add(1, std::memory_order_relaxed);
  }
  return state;
}

void forget_state(Client& client, const StateRef& state) {
  if (client.states.erase(state->serial) != 0) client.share->states.fetch_sub(1, std::memory_order_relaxed);
  if (state->sequenced_by != nullptr) client.owners.release(state->sequenced_by);
  const std::pair key(state->owner, state->file.id);
  if (state->kind == StateKind::kOpen) client.opens.erase(key);
  if (state->kind == StateKind::kLock) {
    client.locks.erase(key);
    --state->base->lock_states;
  }
  if (state->kind == StateKind::kDelegation) {
    client.delegations.erase(static_cast<std::uint64_t>(state->file.id));
    client.delegation_count.fetch_sub(1, std::memory_order_relaxed);
    client.recalls.returned(state->file.id);
    client.delegated_writes->remove(state->file.id, client.holder);
  }
}

bool is_confirmed(const StateRecord& open) {
  return open.sequenced_by == nullptr || open.sequenced_by->confirmed;
}

}  // namespace stoa::nfs4

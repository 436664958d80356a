// LOCK (RFC 8881 18.10), LOCKT (18.11), LOCKU (18.12)
#include "frontends/nfs/v4/caller.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/seqid_slot.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kReadLock = 1, kWriteLock = 2, kReadLockWait = 3, kWriteLockWait = 4 };

bool is_lock_type(std::uint32_t type) {
  return type >= kReadLock && type <= kWriteLockWait;
}
// The client will poll until it is granted (9.6).
bool is_blocking(std::uint32_t type) {
  return type == kReadLockWait || type == kWriteLockWait;
}
bool is_exclusive(std::uint32_t type) {
  return type == kWriteLock || type == kWriteLockWait;
}

// nfs_lock_length4: all ones reach to the end regardless of the size; otherwise the last byte must be below
// 2^64-1 (18.10.3).
bool is_range(std::uint64_t offset, std::uint64_t length) {
  return length != 0 && (length == core::LockRange::kToEnd || length <= ~std::uint64_t{0} - offset);
}

std::string name_in_table(std::uint64_t client, std::string_view owner) {
  std::string name(kOwnerClientBytes, '\0');
  rpc::store_be32(reinterpret_cast<std::byte*>(name.data()), static_cast<std::uint32_t>(client >> 32));
  rpc::store_be32(reinterpret_cast<std::byte*>(name.data()) + 4, static_cast<std::uint32_t>(client));
  return name.append(owner);
}

Nfs4Status denied(Compound& c, const core::HeldLock& held) {
  c.error_body = true;
  c.out.u64(held.range.offset);
  c.out.u64(held.range.length);
  c.out.u32(held.exclusive ? kWriteLock : kReadLock);
  std::string_view owner = held.owner.name;
  std::uint64_t client = 0;  // an owner of another protocol
  const auto* bytes = reinterpret_cast<const std::byte*>(owner.data());
  if (owner.size() >= kOwnerClientBytes && rpc::load_be32(bytes) == c.env.clients.boot()) {
    client = std::uint64_t{rpc::load_be32(bytes)} << 32 | rpc::load_be32(bytes + 4);
    owner.remove_prefix(kOwnerClientBytes);
  }
  c.out.u64(client);
  c.out.string(owner);
  return Nfs4Status::kDenied;
}

// The current file, for an operation on locks: only regular files have them.
Compound::File lockable_file(Compound& c) {
  const Compound::File file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file;
  const auto found = c.ns.getattr(c.ctx, {.id = file.id});
  if (!found) return {c.status_of(found.error()), file.id};
  switch (found->attr.type) {
    case core::FileType::kRegular:
      return file;
    case core::FileType::kDirectory:
      return {Nfs4Status::kIsDir, file.id};
    case core::FileType::kSymlink:
      return {c.minor == 0 ? Nfs4Status::kInval : Nfs4Status::kSymlink, file.id};  // RFC 7530 16.10.5
    default:
      return {Nfs4Status::kWrongType, file.id};
  }
}

Nfs4Status check_lock_grace(Compound& c, bool reclaim) {
  Client& client = *c.client;
  if (reclaim) {
    const bool may = !client.reclaim_complete && c.env.state.may_reclaim(core::Protocol::kNfs, client.name);
    return may ? Nfs4Status::kOk : Nfs4Status::kNoGrace;
  }
  return c.env.state.in_grace() ? Nfs4Status::kGrace : Nfs4Status::kOk;
}

// The handle in the client's callback. Empty: it cannot be called, and polls.
std::optional<core::HandleBytes> handle_to_call(const Compound& c) {
  if (c.minor == 0 || !c.client->recalls.channel_up()) return std::nullopt;
  return c.env.handles.encode(c.current->ref);
}

}  // namespace

Nfs4Status op_lock(Compound& c) {
  rpc::XdrReader& in = c.in;
  const std::uint32_t type = in.u32();
  const bool reclaim = in.boolean();
  const core::LockRange range{.offset = in.u64(), .length = in.u64()};
  const bool new_owner = in.boolean();
  const std::uint32_t open_seqid = new_owner ? in.u32() : 0;
  Stateid stateid = read_stateid(in);
  const std::uint32_t lock_seqid = in.u32();
  std::string_view owner;
  std::uint64_t of_owner = 0;
  if (new_owner) {
    of_owner = in.u64();
    owner = in.string(kOwnerBytesMax);
  }
  if (!in.ok() || !is_lock_type(type)) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  // The client is the one of the stateid; since minor version 1 this field is ignored (18.10.3).
  if (new_owner && c.minor == 0) {
    if (const auto status = identify(c, of_owner); status != Nfs4Status::kOk) return status;
    if (!is_special(stateid) && client_of(stateid) >> 32 == c.env.clients.boot() && client_of(stateid) != of_owner)
      return Nfs4Status::kBadStateId;
  }
  if (const auto answer = take_turn(c, stateid, new_owner ? open_seqid : lock_seqid)) return *answer;
  if (new_owner) {
    if (const auto answer = take_turn_of_lock_owner(c, owner, lock_seqid)) return *answer;
  }
  const auto file = lockable_file(c);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (!is_range(range.offset, range.length)) return Nfs4Status::kInval;
  if (const auto status = check_lock_grace(c, reclaim); status != Nfs4Status::kOk) return status;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;

  Client& client = *c.client;
  for (;;) {
    std::unique_lock lock(client.mutex);
    const FoundState found = find_state(client, stateid);
    if (found.status != Nfs4Status::kOk) return found.status;
    StateRef locks;
    StateRef open;
    if (new_owner) {
      open = found.state;
      if (open->kind != StateKind::kOpen) return Nfs4Status::kBadStateId;
      const auto known = client.locks.find({std::string(owner), file.id});
      if (known != client.locks.end()) locks = known->second;
    } else {
      locks = found.state;
      if (locks->kind != StateKind::kLock) return Nfs4Status::kBadStateId;
      open = locks->base;
      owner = locks->owner;
    }
    if (open->file.id != file.id || !is_confirmed(*open)) return Nfs4Status::kBadStateId;
    const bool exclusive = is_exclusive(type);
    if ((open->access & (exclusive ? core::kShareWrite : core::kShareRead)) == 0) return Nfs4Status::kOpenMode;
    if (locks == nullptr && !has_room_for_state(c)) return no_room_for_state(c);
    const core::LockRequest wanted{file.id, {c.holder, name_in_table(client.id, owner)}, range, exclusive};
    const auto held = is_blocking(type) ? c.env.state.lock_in_turn(wanted, handle_to_call(c))
                                        : c.env.state.lock(wanted.file, wanted.owner, range, exclusive);
    if (!held) return c.status_of(held.error());
    if (held->has_value()) {
      lock.unlock();
      if (c.env.clients.end_expired((*held)->owner.holder)) continue;
      return denied(c, **held);
    }
    if (locks == nullptr) {
      locks = add_state(client, StateKind::kLock, open->file, std::string(owner), lock_owner_in_turn(c));
      locks->base = open;
      ++open->lock_states;
    } else if (++locks->seqid == 0) {
      locks->seqid = 1;
    }
    const Stateid result = stateid_of(client, *locks);
    write_stateid(c.out, result);
    c.set_current_stateid(result);
    return Nfs4Status::kOk;
  }
}

Nfs4Status op_lockt(Compound& c) {
  rpc::XdrReader& in = c.in;
  const std::uint32_t type = in.u32();
  const core::LockRange range{.offset = in.u64(), .length = in.u64()};
  const std::uint64_t client = in.u64();
  const auto owner = in.string(kOwnerBytesMax);
  if (!in.ok() || !is_lock_type(type)) return Nfs4Status::kBadXdr;
  if (const auto status = identify(c, client); status != Nfs4Status::kOk) return status;
  const auto file = lockable_file(c);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (!is_range(range.offset, range.length)) return Nfs4Status::kInval;
  if (const auto status = check_lock_grace(c, false); status != Nfs4Status::kOk) return status;
  const core::LockOwner asker{c.holder, name_in_table(c.client->id, owner)};
  for (;;) {
    const auto held = c.env.state.test_lock(file.id, asker, range, is_exclusive(type));
    if (!held) return c.status_of(held.error());
    if (!held->has_value()) return Nfs4Status::kOk;
    if (!c.env.clients.end_expired((*held)->owner.holder)) return denied(c, **held);
  }
}

Nfs4Status op_locku(Compound& c) {
  rpc::XdrReader& in = c.in;
  const std::uint32_t type = in.u32();
  const std::uint32_t seqid = in.u32();
  Stateid stateid = read_stateid(in);
  const core::LockRange range{.offset = in.u64(), .length = in.u64()};
  if (!in.ok() || !is_lock_type(type)) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, stateid, seqid)) return *answer;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (!is_range(range.offset, range.length)) return Nfs4Status::kInval;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  StateRecord& locks = *found.state;
  if (locks.kind != StateKind::kLock || locks.file.id != file.id) return Nfs4Status::kBadStateId;
  if (const Status unlocked = c.env.state.unlock(file.id, {c.holder, name_in_table(client.id, locks.owner)}, range);
      !unlocked) {
    return c.status_of(unlocked.error());
  }
  if (++locks.seqid == 0) locks.seqid = 1;
  const Stateid result = stateid_of(client, locks);
  write_stateid(c.out, result);
  c.set_current_stateid(result);
  return Nfs4Status::kOk;
}

void release_locks(core::StateTable& table, Client& client, const StateRef& locks) {
  table.unlock_all(locks->file.id, {client.holder, name_in_table(client.id, locks->owner)});
  forget_state(client, locks);
}

bool holds_locks(const core::StateTable& table, const Client& client, const StateRecord& locks) {
  return table.has_locks(locks.file.id, {client.holder, name_in_table(client.id, locks.owner)});
}

}  // namespace stoa::nfs4

// RFC 8881 18.16
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/delegations.h"
#include "frontends/nfs/v4/grace.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/seqid_slot.h"
#include "frontends/nfs/v4/stateids.h"

namespace stoa::nfs4 {
namespace {

constexpr int kCreateAttempts = 8;  // while others make and remove the same name

enum class How : std::uint32_t { kUnchecked = 0, kGuarded = 1, kExclusive = 2, kExclusive41 = 3 };
enum class Claim : std::uint32_t {
  kNull = 0,
  kPrevious = 1,
  kDelegateCur = 2,
  kDelegatePrev = 3,
  kFh = 4,
  kDelegCurFh = 5,
  kDelegPrevFh = 6,
};
enum : std::uint32_t {
  kResultConfirm = 0x2,
  kResultLockTypePosix = 0x4,
  kResultPreserveUnlinked = 0x8,
  kResultMayNotifyLock = 0x20
};

struct Arguments {
  std::uint32_t seqid = 0;
  std::uint64_t client = 0;
  std::uint32_t access = 0, deny = 0, wants = 0;
  std::string_view owner;
  bool create = false;
  How how = How::kUnchecked;
  DecodedAttributes attributes{};
  std::uint64_t verifier = 0;
  Claim claim = Claim::kNull;
  Stateid delegation{};
  std::uint32_t held_delegation = kDelegationNone;  // to be had back
  std::string_view name;
};

Nfs4Status read_arguments(Compound& c, Arguments& arguments) {
  rpc::XdrReader& in = c.in;
  arguments.seqid = in.u32();
  const std::uint32_t access = in.u32();
  arguments.access = access & ~want_flags(c);
  arguments.wants = access & want_flags(c);
  arguments.deny = in.u32();
  arguments.client = in.u64();
  arguments.owner = in.string(kOwnerBytesMax);
  const std::uint32_t type = in.u32();
  if (type > 1) in.reject();
  arguments.create = type == 1;
  if (arguments.create) {
    const std::uint32_t how = in.u32();
    if (how > static_cast<std::uint32_t>(c.minor == 0 ? How::kExclusive : How::kExclusive41)) in.reject();
    arguments.how = static_cast<How>(how);
    if (arguments.how == How::kExclusive || arguments.how == How::kExclusive41) arguments.verifier = in.u64();
    if (arguments.how != How::kExclusive) {
      arguments.attributes = decode_attributes(in, c.minor, SetPurpose::kCreate, id_names(c));
    }
  }
  const std::uint32_t claim = in.u32();
  if (c.minor == 0 && claim > static_cast<std::uint32_t>(Claim::kDelegatePrev)) in.reject();
  arguments.claim = static_cast<Claim>(claim);
  switch (arguments.claim) {
    case Claim::kNull:
    case Claim::kDelegatePrev:
      arguments.name = c.read_name();
      break;
    case Claim::kPrevious:
      arguments.held_delegation = in.u32();
      if (arguments.held_delegation > kDelegationWrite) in.reject();
      break;
    case Claim::kDelegateCur:
      arguments.delegation = read_stateid(in);
      arguments.name = c.read_name();
      break;
    case Claim::kDelegCurFh:
      arguments.delegation = read_stateid(in);
      break;
    case Claim::kFh:
    case Claim::kDelegPrevFh:
      break;
    default:
      in.reject();
  }
  return in.ok() ? Nfs4Status::kOk : Nfs4Status::kBadXdr;
}

// What the file is, and what the directory was and is.
struct Target {
  core::Attributes attr{};
  bool created = false;
  bool truncate = false;
  core::BeforeAttributes before{};
  core::Attributes directory{};
  Bitmap set{};
};

Nfs4Status find_by_name(Compound& c, core::FileId directory, std::string_view name, Target& target) {
  const auto found = c.ns.lookup(c.ctx, {.parent = directory, .name = name, .root = c.access.entered().root});
  if (!found) return to_nfs4_status(found.error().code);
  target.attr = found->attr;
  target.directory = found->parent;
  target.before.change = found->parent.change;
  return Nfs4Status::kOk;
}

// Whether one more open of the client could be kept.
Nfs4Status check_room(Compound& c) {
  if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
  const std::lock_guard lock(c.client->mutex);
  if (c.client->gone) return c.minor == 0 ? Nfs4Status::kExpired : Nfs4Status::kBadSession;
  return has_room_for_state(c) ? Nfs4Status::kOk : no_room_for_state(c);
}

Nfs4Status create(Compound& c, core::FileId directory, const Arguments& arguments, Target& target) {
  // An OPEN that is refused for want of room leaves no file behind: this one adds to an open that is there, or nothing.
  if (const auto refused = check_room(c); refused != Nfs4Status::kOk) {
    if (arguments.how != How::kUnchecked) return refused;
    const Nfs4Status found = find_by_name(c, directory, arguments.name, target);
    target.truncate = arguments.attributes.set.size == std::uint64_t{0};
    return found == Nfs4Status::kNoEnt ? refused : found;
  }
  const bool exclusive = arguments.how == How::kExclusive || arguments.how == How::kExclusive41;
  core::CreateRequest request{.parent = directory,
                              .name = arguments.name,
                              .mode = exclusive ? core::CreateMode::kExclusive : core::CreateMode::kGuarded,
                              .set = arguments.attributes.set,
                              .verifier = arguments.verifier};
  for (int attempt = 0; attempt < kCreateAttempts; ++attempt) {
    const auto made = c.ns.create(c.ctx, request);
    if (made) {
      target.attr = made->attr;
      target.created = made->created;
      target.before = made->parent_before;
      target.directory = made->parent;
      target.set = arguments.attributes.given;
      return Nfs4Status::kOk;
    }
    if (made.error().code != Errc::kExists || arguments.how != How::kUnchecked)
      return to_nfs4_status(made.error().code);
    // An existing file is taken as it is; its size is changed only when the open has been granted.
    const Nfs4Status found = find_by_name(c, directory, arguments.name, target);
    if (found == Nfs4Status::kNoEnt) continue;
    target.truncate = arguments.attributes.set.size == std::uint64_t{0};
    return found;
  }
  return Nfs4Status::kDelay;
}

Nfs4Status check_type(const Compound& c, const core::Attributes& attr) {
  switch (attr.type) {
    case core::FileType::kRegular:
      return Nfs4Status::kOk;
    case core::FileType::kDirectory:
      return Nfs4Status::kIsDir;
    case core::FileType::kSymlink:
      return Nfs4Status::kSymlink;
    default:
      return c.minor == 0 ? Nfs4Status::kSymlink : Nfs4Status::kWrongType;  // RFC 7530 16.16.5
  }
}

Nfs4Status check_access(Compound& c, const core::Attributes& attr, std::uint32_t access) {
  const Status may = c.ns.may_open(
      c.ctx, {.id = attr.id, .read = (access & core::kShareRead) != 0, .write = (access & core::kShareWrite) != 0});
  return may ? Nfs4Status::kOk : to_nfs4_status(may.error().code);
}

// The open in the table of all protocols, and its stateid. An owner has one open of a file: a second OPEN adds to it
// (9.9).
struct Taken {
  Stateid stateid;
  core::OpenId open = core::kNoOpen;
  bool fresh = false;  // not added to an open that was there
  struct Before {      // of the open that it was added to
    std::uint32_t seqid, access, deny, combinations;
  } before{};
};

Nfs4Status add_to_open(Compound& c, const Arguments& arguments, StateRecord& open, Taken& taken) {
  // The owner's own open is no exception (9.7; RFC 7530 9.9).
  if ((arguments.access & open.deny) != 0 || (arguments.deny & open.access) != 0) return Nfs4Status::kShareDenied;
  const std::uint32_t access = open.access | arguments.access, deny = open.deny | arguments.deny;
  if (access != open.access || deny != open.deny) {
    const Status changed = c.env.state.change_open(open.open, access, deny);
    if (!changed) return to_nfs4_status(changed.error().code);
  }
  const Taken::Before before{open.seqid, open.access, open.deny, open.combinations};
  open.access = access;
  open.deny = deny;
  open.combinations |= 1u << (arguments.access * 4 + arguments.deny);
  if (++open.seqid == 0) open.seqid = 1;
  taken = {stateid_of(*c.client, open), open.open, false, before};
  return Nfs4Status::kOk;
}

constexpr core::OpenId kNotOpened{};

// What the client's state says. Nothing: the file is to be opened in the table first. `opened`: it was; taken out when
// it is kept. `created`: there was room when the file was made, and others that came at the same time do not take it
// away.
std::optional<Nfs4Status> keep_open(Compound& c, const Arguments& arguments, const core::FileRef& file, bool created,
                                    core::OpenId& opened, Taken& taken) {
  Client& client = *c.client;
  for (;;) {
    if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
    const std::lock_guard lock(client.mutex);
    if (client.gone) return c.minor == 0 ? Nfs4Status::kExpired : Nfs4Status::kBadSession;
    if (!client.remembered.load(std::memory_order_acquire)) continue;
    const auto known = client.opens.find({std::string(arguments.owner), file.id});
    if (known != client.opens.end()) return add_to_open(c, arguments, *known->second, taken);
    if (!created && !has_room_for_state(c)) return no_room_for_state(c);
    if (opened == kNotOpened) return std::nullopt;
    const StateRef open = add_state(client, StateKind::kOpen, file, std::string(arguments.owner), owner_in_turn(c));
    open->open = std::exchange(opened, kNotOpened);
    open->access = arguments.access;
    open->deny = arguments.deny;
    open->combinations = 1u << (arguments.access * 4 + arguments.deny);
    taken = {stateid_of(client, *open), open->open, true, {}};
    return Nfs4Status::kOk;
  }
}

bool has_open(Client& client, std::string_view owner, core::FileId file) {
  const std::lock_guard lock(client.mutex);
  return client.opens.contains({std::string(owner), file});
}

Nfs4Status take_open(Compound& c, const Arguments& arguments, const core::FileRef& file, bool created, Taken& taken) {
  core::StateTable& table = c.env.state;
  core::OpenId opened = kNotOpened;
  Nfs4Status status{};
  for (bool again = false;;) {
    if (const auto kept = keep_open(c, arguments, file, created, opened, taken)) {
      status = *kept;
    } else {
      // The store may be read: without the client's mutex.
      const auto fresh = table.open({file.id, c.holder, arguments.access, arguments.deny});
      if (fresh) {
        opened = *fresh;
        continue;
      }
      status = to_nfs4_status(fresh.error().code);
      // Another OPEN of the owner was quicker: this one adds to it.
      if (status == Nfs4Status::kShareDenied && has_open(*c.client, arguments.owner, file.id)) continue;
    }
    if (again || status != Nfs4Status::kShareDenied || !c.env.clients.end_expired(file.id)) break;
    again = true;
  }
  if (opened != kNotOpened) table.close(opened);
  return status == Nfs4Status::kShareDenied && arguments.claim == Claim::kPrevious ? Nfs4Status::kReclaimConflict
                                                                                   : status;
}

// The OPEN failed after all: its client never hears of the open, or of what was added to it. Not when another OPEN of
// the same owner has come behind it and was answered.
void undo_open(Compound& c, const Taken& taken) {
  Client& client = *c.client;
  core::OpenId open{};
  {
    const std::lock_guard lock(client.mutex);
    const FoundState found = find_state(client, taken.stateid);
    if (found.status != Nfs4Status::kOk) return;
    open = found.state->open;
    if (!taken.fresh) {
      StateRecord& state = *found.state;
      if (!c.env.state.change_open(open, taken.before.access, taken.before.deny)) return;
      state.seqid = taken.before.seqid;
      state.access = taken.before.access;
      state.deny = taken.before.deny;
      state.combinations = taken.before.combinations;
      return;
    }
    forget_state(client, found.state);
  }
  c.env.state.close(open);
}

// A delegation where it is of use and can be recalled (10.4): for reading to whoever opens for reading, for writing to
// those who ask for it, because it makes every other protocol wait for this client.
Delegated take_delegation(Compound& c, const Arguments& arguments, const core::FileRef& file, std::uint64_t change) {
  // What was held before the restart is had back also while the client cannot be called (10.2.1).
  if (arguments.claim == Claim::kPrevious)
    return grant_delegation(c, file, change, arguments.held_delegation, Reclaimed::kYes);
  const std::uint32_t wanted = arguments.wants & kWantMask;
  if (wanted == kWantNone) return {.why = NoDelegation::kNotWanted};
  if (wanted == kWantCancel) return {.why = NoDelegation::kCancelled};
  const bool writes = (arguments.access & core::kShareWrite) != 0;
  if (writes && wanted != kWantWrite && wanted != kWantAny) return {.why = NoDelegation::kResource};
  // RFC 7530 9.1.11: not with an open that may turn out to be an old one.
  const OwnerRef owner = owner_in_turn(c);
  if (owner != nullptr && !owner->confirmed) return {.why = NoDelegation::kResource};
  return grant_delegation(c, file, change, writes ? kDelegationWrite : kDelegationRead, Reclaimed::kNo);
}

// CLAIM_DELEGATE_CUR, CLAIM_DELEG_CUR_FH: opens that the client has made by itself under its delegation (10.4.1).
Nfs4Status check_delegation(Compound& c, const Arguments& arguments, core::FileId file) {
  Stateid stateid = arguments.delegation;
  if (const auto status = resolve_current(c, stateid); status != Nfs4Status::kOk) return status;
  Client& client = *c.client;
  const std::lock_guard lock(client.mutex);
  const FoundState found = find_state(client, stateid);
  if (found.status != Nfs4Status::kOk) return found.status;
  const StateRecord& delegation = *found.state;
  if (delegation.kind != StateKind::kDelegation || delegation.file.id != file) return Nfs4Status::kBadStateId;
  if (c.env.state.lease_revoked(delegation.lease)) return Nfs4Status::kDelegRevoked;
  return Nfs4Status::kOk;
}

std::uint32_t result_flags(Compound& c, Claim claim) {
  if (c.minor != 0) {
    const std::uint32_t notified = c.client->recalls.channel_up() ? kResultMayNotifyLock : 0u;
    return kResultLockTypePosix | kResultPreserveUnlinked | notified;
  }
  const OwnerRef owner = owner_in_turn(c);
  const std::lock_guard lock(c.client->mutex);
  // RFC 7530 9.1.11: a reclaim needs no confirmation.
  owner->confirmed = owner->confirmed || claim == Claim::kPrevious;
  return owner->confirmed ? std::uint32_t{kResultLockTypePosix} : kResultLockTypePosix | kResultConfirm;
}

}  // namespace

Nfs4Status op_open(Compound& c) {
  Arguments arguments;
  if (const auto status = read_arguments(c, arguments); status != Nfs4Status::kOk) return status;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, arguments.client, arguments.owner, arguments.seqid)) return *answer;
  if (arguments.access == core::kShareNone || arguments.access > core::kShareBoth ||
      arguments.deny > core::kShareBoth) {
    return Nfs4Status::kInval;
  }
  if (arguments.create && arguments.claim != Claim::kNull) return Nfs4Status::kInval;
  const bool by_name = arguments.claim == Claim::kNull || arguments.claim == Claim::kDelegateCur;
  const auto current = c.file(by_name && !arguments.create ? Nfs4Status::kIsDir : Nfs4Status::kRoFs);
  if (current.status != Nfs4Status::kOk) return current.status;
  // Delegations of an earlier incarnation of the client are not kept (10.2.1).
  if (arguments.claim == Claim::kDelegatePrev || arguments.claim == Claim::kDelegPrevFh) return Nfs4Status::kNotSupp;
  if (by_name) {
    if (const auto status = check_name(arguments.name); status != Nfs4Status::kOk) return status;
  }
  if (arguments.attributes.status != Nfs4Status::kOk) return arguments.attributes.status;
  if (arguments.how == How::kExclusive41 && arguments.attributes.given.exceeds(exclusive_create_attributes(c.minor))) {
    return Nfs4Status::kInval;
  }
  if (const auto status = check_grace(c, arguments.claim == Claim::kPrevious); status != Nfs4Status::kOk) return status;

  Target target;
  Nfs4Status status = Nfs4Status::kOk;
  if (arguments.create) {
    status = create(c, current.id, arguments, target);
  } else if (by_name) {
    status = find_by_name(c, current.id, arguments.name, target);
  } else {
    const auto found = c.ns.getattr(c.ctx, {.id = current.id});
    if (!found) return to_nfs4_status(found.error().code);
    target.attr = found->attr;
  }
  if (status != Nfs4Status::kOk) return status;
  if (status = check_type(c, target.attr); status != Nfs4Status::kOk) return status;
  // Who makes a file may use it whatever its mode; a reclaim was allowed when the open was.
  if (!target.created && arguments.claim != Claim::kPrevious) {
    if (status = check_access(c, target.attr, arguments.access); status != Nfs4Status::kOk) return status;
  }

  const core::FileRef file{target.attr.id, target.attr.generation, c.access.entered().id};
  if (arguments.claim == Claim::kDelegateCur || arguments.claim == Claim::kDelegCurFh) {
    if (status = check_delegation(c, arguments, file.id); status != Nfs4Status::kOk) return status;
  }
  Taken taken;
  if (status = take_open(c, arguments, file, target.created, taken); status != Nfs4Status::kOk) return status;
  if (target.truncate) {
    // To cut it is to write, whatever access this open asked for.
    if (const Status may = c.env.state.check_denied(file.id, taken.open, core::kShareWrite); !may) {
      undo_open(c, taken);
      return to_nfs4_status(may.error().code);
    }
    const auto cut = c.ns.setattr(c.ctx, {.id = file.id, .set = {.size = 0}});
    if (!cut) {
      undo_open(c, taken);
      // A lock that binds everybody: OPEN has no LOCKED.
      return cut.error().code == Errc::kLocked ? Nfs4Status::kShareDenied : to_nfs4_status(cut.error().code);
    }
    target.attr = cut->attr;
    target.set.add(Attr::kSize);
  }
  const Delegated delegated = take_delegation(c, arguments, file, target.attr.change);
  c.set_current_file(target.attr);
  c.set_current_stateid(taken.stateid);

  write_stateid(c.out, taken.stateid);
  if (by_name) {
    c.change_info(target.before, target.directory);
  } else {
    c.change_info({.change = target.attr.change}, target.attr);
  }
  c.out.u32(result_flags(c, arguments.claim));
  target.set.encode(c.out);
  // Who says nothing of what he wants is told no reasons.
  encode_delegation(c, delegated, (arguments.wants & kWantMask) != 0);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

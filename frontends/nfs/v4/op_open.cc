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
  std::uint32_t held_delegation = kDelegationNone;  // to be recalled
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

bool names_file(const Arguments& arguments) {
  return arguments.claim == Claim::kNull || arguments.claim == Claim::kDelegateCur;
}

Nfs4Status check_arguments(Compound& c, const Arguments& arguments) {
  if (arguments.access == core::kShareNone || arguments.access > core::kShareBoth ||
      arguments.deny > core::kShareBoth) {
    return Nfs4Status::kInval;
  }
  if (arguments.create && arguments.claim != Claim::kNull) return Nfs4Status::kInval;
  const bool named = names_file(arguments);
  const auto current = c.file(named && !arguments.create ? Nfs4Status::kIsDir : Nfs4Status::kRoFs);
  if (current.status != Nfs4Status::kOk) return current.status;
  // Delegations of an earlier incarnation of the client are not kept (10.2.1).
  if (arguments.claim == Claim::kDelegatePrev || arguments.claim == Claim::kDelegPrevFh) return Nfs4Status::kNotSupp;
  if (named) {
    if (const auto status = check_name(arguments.name); status != Nfs4Status::kOk) return status;
  }
  if (arguments.attributes.status != Nfs4Status::kOk) return arguments.attributes.status;
  if (arguments.how == How::kExclusive41 && arguments.attributes.given.exceeds(exclusive_create_attributes(c.minor))) {
    return Nfs4Status::kInval;
  }
  return check_grace(c, arguments.claim == Claim::kPrevious);
}

Nfs4Status gone_status(const Compound& c) {
  return c.minor == 0 ? Nfs4Status::kExpired : Nfs4Status::kBadSession;
}

// Whether the client may have one more open. An OPEN that is refused for want of room leaves no file behind; without
// room it adds to an open that is there.
Nfs4Status check_room(Compound& c, const Arguments& arguments, core::FileId current) {
  if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
  {
    const std::lock_guard lock(c.client->mutex);
    if (c.client->gone) return gone_status(c);
    if (has_room_for_state(c)) return Nfs4Status::kOk;
  }
  core::FileId file = current;
  if (names_file(arguments)) {
    const auto found = c.ns.lookup(c.ctx, {.parent = current, .name = arguments.name});
    const bool makes = !found && found.error().code == Errc::kNotFound && arguments.create;
    if (!found) return makes ? no_room_for_state(c) : to_nfs4_status(found.error().code);
    file = found->attr.id;
  }
  const std::lock_guard lock(c.client->mutex);
  const bool adds = c.client->opens.contains({std::string(arguments.owner), file});
  return adds ? Nfs4Status::kOk : no_room_for_state(c);
}

core::OpenDisposition disposition_of(const Arguments& arguments) {
  if (!arguments.create) return core::OpenDisposition::kOpen;
  switch (arguments.how) {
    case How::kGuarded:
      return core::OpenDisposition::kCreate;
    case How::kExclusive:
    case How::kExclusive41:
      return core::OpenDisposition::kCreateExclusive;
    case How::kUnchecked:
      break;
  }
  // An existing file is taken unchanged, except for this size (18.16.3).
  const bool cuts = arguments.attributes.set.size == std::uint64_t{0};
  return cuts ? core::OpenDisposition::kOverwriteOrCreate : core::OpenDisposition::kOpenOrCreate;
}

// A delegation where it is useful and can be recalled (10.4): for reading to a client that opens for reading. For
// writing only to one that asks for it, because every other client must then wait for this one.
DelegationRequest delegation_request(Compound& c, const Arguments& arguments) {
  // State held before the restart is reclaimed even while the client cannot be called (10.2.1).
  if (arguments.claim == Claim::kPrevious) {
    return {.type = arguments.held_delegation, .reclaimed = Reclaimed::kYes, .why = NoDelegation::kNotWanted};
  }
  const std::uint32_t wanted = arguments.wants & kWantMask;
  if (wanted == kWantNone) return {.why = NoDelegation::kNotWanted};
  if (wanted == kWantCancel) return {.why = NoDelegation::kCancelled};
  const bool writes = (arguments.access & core::kShareWrite) != 0;
  if (writes && wanted != kWantWrite && wanted != kWantAny) return {};
  // RFC 7530 9.1.11: not with an open that may turn out to be an old one.
  const OwnerRef owner = owner_in_turn(c);
  if (owner != nullptr && !owner->confirmed) return {};
  return {.type = writes ? kDelegationWrite : kDelegationRead};
}

Nfs4Status open_failed(Compound& c, const Arguments& arguments, const Error& error) {
  switch (error.code) {
    case Errc::kShareConflict:
      return arguments.claim == Claim::kPrevious ? Nfs4Status::kReclaimConflict : Nfs4Status::kShareDenied;
    case Errc::kLocked:
      return Nfs4Status::kShareDenied;  // a mandatory lock: OPEN has no LOCKED
    case Errc::kWrongType: {
      const auto now = c.ns.getattr(c.ctx, {.id = core::FileId{error.subject}});
      const bool symlink = now && now->attr.type == core::FileType::kSymlink;
      return symlink || c.minor == 0 ? Nfs4Status::kSymlink : Nfs4Status::kWrongType;  // RFC 7530 16.16.5
    }
    default:
      return to_nfs4_status(error.code);
  }
}

// The open as the client knows it: an owner has one of a file, and a second OPEN adds to it (9.9).
Nfs4Status keep_open(Compound& c, const Arguments& arguments, const core::FileRef& file, core::OpenId opened,
                     Stateid& stateid) {
  Client& client = *c.client;
  const std::uint32_t combination = 1u << (arguments.access * 4 + arguments.deny);
  for (;;) {
    if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
    const std::lock_guard lock(client.mutex);
    if (client.gone) return gone_status(c);
    // Forgotten since, because it had no state.
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

bool is_under_delegation(const Arguments& arguments) {
  return arguments.claim == Claim::kDelegateCur || arguments.claim == Claim::kDelegCurFh;
}

// CLAIM_DELEGATE_CUR, CLAIM_DELEG_CUR_FH: opens that the client has made by itself under its delegation (10.4.1).
// kNoFile: of any file.
Nfs4Status check_delegation(Compound& c, const Arguments& arguments, core::FileId file) {
  Stateid stateid = arguments.delegation;
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

// In the table of all protocols first, then with the client.
Nfs4Status take_open(Compound& c, const Arguments& arguments, core::FileId current, const DelegationRequest& wanted,
                     core::OpenReply& opened, Stateid& stateid) {
  const bool named = names_file(arguments);
  const core::OpenRequest request{.id = named ? core::kNoFile : current,
                                  .parent = named ? current : core::kNoFile,
                                  .name = arguments.name,
                                  .disposition = disposition_of(arguments),
                                  .access = arguments.access,
                                  .deny = arguments.deny,
                                  .reclaim = arguments.claim == Claim::kPrevious,
                                  .lease = lease_request(c, wanted),
                                  .set = arguments.attributes.set,
                                  .verifier = arguments.verifier};
  // Before leases of others are recalled.
  if (is_under_delegation(arguments)) {
    if (const auto status = check_delegation(c, arguments, core::kNoFile); status != Nfs4Status::kOk) return status;
  }
  auto reply = c.ns.open(c.ctx, request);
  // State of an expired client does not keep others out.
  if (!reply && reply.error().code == Errc::kShareConflict &&
      c.env.clients.end_expired(core::FileId{reply.error().subject})) {
    reply = c.ns.open(c.ctx, request);
  }
  if (!reply) return open_failed(c, arguments, reply.error());
  opened = *reply;
  const core::FileRef file{opened.attr.id, opened.attr.generation, c.access.entered().id};
  Nfs4Status status = Nfs4Status::kOk;
  if (is_under_delegation(arguments)) status = check_delegation(c, arguments, file.id);
  if (status == Nfs4Status::kOk) status = keep_open(c, arguments, file, opened.open, stateid);
  if (status != Nfs4Status::kOk) {
    if (opened.lease) {
      c.env.state.return_lease(opened.lease->id);
      c.client->recalls.returned(file.id);
    }
    c.env.state.close(opened.open);
  }
  return status;
}

}  // namespace

Nfs4Status op_open(Compound& c) {
  Arguments arguments;
  if (const auto status = read_arguments(c, arguments); status != Nfs4Status::kOk) return status;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, arguments.client, arguments.owner, arguments.seqid)) return *answer;
  if (const auto status = check_arguments(c, arguments); status != Nfs4Status::kOk) return status;
  const core::FileId current = c.file(Nfs4Status::kIsDir).id;
  if (const auto status = check_room(c, arguments, current); status != Nfs4Status::kOk) return status;

  const DelegationRequest wanted = delegation_request(c, arguments);
  core::OpenReply opened;
  Stateid stateid{};
  if (const auto status = take_open(c, arguments, current, wanted, opened, stateid); status != Nfs4Status::kOk) {
    return status;
  }
  const core::FileRef file{opened.attr.id, opened.attr.generation, c.access.entered().id};
  const Delegated delegated = keep_delegation(c, file, opened.attr.change, wanted, opened.lease);
  c.set_current_file(opened.attr);
  c.set_current_stateid(stateid);

  write_stateid(c.out, stateid);
  if (names_file(arguments)) {
    c.change_info(opened.parent_before, opened.parent);
  } else {
    c.change_info({.change = opened.attr.change}, opened.attr);
  }
  c.out.u32(result_flags(c, arguments.claim));
  // An exclusive create that is sent again is answered as the first time.
  const bool made = opened.created || disposition_of(arguments) == core::OpenDisposition::kCreateExclusive;
  Bitmap set = made ? arguments.attributes.given : Bitmap{};
  if (opened.truncated) set.add(Attr::kSize);
  set.encode(c.out);
  // A client without want flags gets no reasons.
  encode_delegation(c, delegated, (arguments.wants & kWantMask) != 0);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

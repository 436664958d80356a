// RFC 8881 18.16
#include "frontends/nfs/v4/client_opens.h"
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/operations_state.h"
#include "frontends/nfs/v4/seqid_slot.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t {
  kResultConfirm = 0x2,
  kResultLockTypePosix = 0x4,
  kResultPreserveUnlinked = 0x8,
  kResultMayNotifyLock = 0x20
};

// A delegation where it is of use and can be recalled (10.4): for reading to a client that opens for reading, for
// writing to one that asks for it, because it makes every other client wait for this one.
DelegationRequest delegation_request(Compound& c, const OpenArguments& arguments) {
  // What was held before the restart is had back also while the client cannot be called (10.2.1).
  if (arguments.reclaims()) {
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

Nfs4Status open_failed(Compound& c, const OpenArguments& arguments, const Error& error) {
  switch (error.code) {
    case Errc::kShareConflict:
      return arguments.reclaims() ? Nfs4Status::kReclaimConflict : Nfs4Status::kShareDenied;
    case Errc::kLocked:
      return Nfs4Status::kShareDenied;  // a mandatory lock: OPEN has no LOCKED
    case Errc::kWrongType: {
      const auto now = c.ns.getattr(c.ctx, {.id = core::FileId{error.subject}});
      const bool symlink = now && now->attr.type == core::FileType::kSymlink;
      return symlink || c.minor == 0 ? Nfs4Status::kSymlink : Nfs4Status::kWrongType;  // RFC 7530 16.16.5
    }
    default:
      return c.status_of(error);
  }
}

std::uint32_t result_flags(Compound& c, const OpenArguments& arguments) {
  if (c.minor != 0) {
    const std::uint32_t notified = c.client->recalls.channel_up() ? kResultMayNotifyLock : 0u;
    return kResultLockTypePosix | kResultPreserveUnlinked | notified;
  }
  const OwnerRef owner = owner_in_turn(c);
  const std::lock_guard lock(c.client->mutex);
  // RFC 7530 9.1.11: a reclaim needs no confirmation.
  owner->confirmed = owner->confirmed || arguments.reclaims();
  return owner->confirmed ? std::uint32_t{kResultLockTypePosix} : kResultLockTypePosix | kResultConfirm;
}

// In the table of all protocols first, then with the client.
Nfs4Status take_open(Compound& c, const OpenArguments& arguments, core::FileId current, const DelegationRequest& wanted,
                     core::OpenReply& opened, Stateid& stateid) {
  const bool named = arguments.names_file();
  const core::OpenRequest request{.id = named ? core::kNoFile : current,
                                  .parent = named ? current : core::kNoFile,
                                  .name = arguments.name,
                                  .disposition = arguments.disposition(),
                                  .access = arguments.access,
                                  .deny = arguments.deny,
                                  .reclaim = arguments.reclaims(),
                                  .lease = lease_request(c, wanted),
                                  .set = arguments.attributes.set,
                                  .verifier = arguments.verifier};
  // Before leases of others are recalled.
  if (arguments.under_delegation()) {
    if (const auto status = check_delegation(c, arguments.delegation, core::kNoFile); status != Nfs4Status::kOk)
      return status;
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
  if (arguments.under_delegation()) status = check_delegation(c, arguments.delegation, file.id);
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
  OpenArguments arguments;
  if (const auto status = read_open_arguments(c, arguments); status != Nfs4Status::kOk) return status;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (const auto answer = take_turn(c, arguments.client, arguments.owner, arguments.seqid)) return *answer;
  if (const auto status = check_open_arguments(c, arguments); status != Nfs4Status::kOk) return status;
  const core::FileId current = c.file(Nfs4Status::kIsDir).id;
  if (const auto status = check_room_for_open(c, arguments, current); status != Nfs4Status::kOk) return status;

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
  if (arguments.names_file()) {
    c.change_info(opened.parent_before, opened.parent);
  } else {
    c.change_info({.change = opened.attr.change}, opened.attr);
  }
  c.out.u32(result_flags(c, arguments));
  // An exclusive create that is sent again is answered as the first time.
  const bool made = opened.created || arguments.disposition() == core::OpenDisposition::kCreateExclusive;
  Bitmap set = made ? arguments.attributes.given : Bitmap{};
  if (opened.truncated) set.add(Attr::kSize);
  set.encode(c.out);
  // A client without want flags gets no reasons.
  encode_delegation(c, delegated, (arguments.wants & kWantMask) != 0);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 8881 18.49. A delegation is given now or not at all: there is no list of waiting requests, so none is
// pushed later (CB_PUSH_DELEG), and there is nothing to cancel.
#include "frontends/nfs/v4/client_table.h"
#include "frontends/nfs/v4/delegations.h"
#include "frontends/nfs/v4/grace.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kClaimPrevious = 1, kClaimFh = 4, kClaimDelegPrevFh = 6 };

// The holder of a delegation opens the file without asking, so it must have the right to.
Nfs4Status check_file(Compound& c, core::FileId id, bool writes, core::FileRef& file, std::uint64_t& change) {
  const auto found = c.ns.getattr(c.ctx, {.id = id});
  if (!found) return c.status_of(found.error());
  if (found->attr.type != core::FileType::kRegular) return Nfs4Status::kWrongType;
  if (writes && c.ctx.read_only) return Nfs4Status::kAccess;
  const std::uint32_t wanted = core::kAccessRead | (writes ? core::kAccessModify : 0u);
  const auto access = c.ns.access(c.ctx, {.id = id, .wanted = wanted});
  if (!access) return c.status_of(access.error());
  file = {id, found->attr.generation, c.access.entered().id};
  change = found->attr.change;
  return access->granted == wanted ? Nfs4Status::kOk : Nfs4Status::kAccess;
}

}  // namespace

Nfs4Status op_want_delegation(Compound& c) {
  const std::uint32_t want = c.in.u32();
  const std::uint32_t claim = c.in.u32();
  std::uint32_t held = kDelegationNone;
  if (claim == kClaimPrevious) {
    held = c.in.u32();
    if (held > kDelegationWrite) c.in.reject();
  } else if (claim != kClaimFh && claim != kClaimDelegPrevFh) {
    c.in.reject();
  }
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto current = c.file(Nfs4Status::kWrongType);
  if (current.status != Nfs4Status::kOk) return current.status;
  if (claim == kClaimDelegPrevFh) return Nfs4Status::kNotSupp;
  const std::uint32_t kind = want & kWantMask;
  if ((want & ~want_flags(c)) != 0) return Nfs4Status::kInval;
  if (kind == kWantCancel) {
    encode_delegation(c, {.why = NoDelegation::kCancelled}, true);
    return Nfs4Status::kOk;
  }
  const bool reclaimed = claim == kClaimPrevious;
  if (reclaimed ? held == kDelegationNone : kind != kWantRead && kind != kWantWrite && kind != kWantAny)
    return Nfs4Status::kInval;
  if (const auto status = check_grace(c, reclaimed); status != Nfs4Status::kOk) return status;
  const std::uint32_t type = reclaimed ? held : kind == kWantWrite ? kDelegationWrite : kDelegationRead;
  core::FileRef file{};
  std::uint64_t change = 0;
  if (const auto status = check_file(c, current.id, type == kDelegationWrite, file, change); status != Nfs4Status::kOk)
    return status;
  if (const auto status = be_remembered(c); status != Nfs4Status::kOk) return status;
  const DelegationRequest wanted{.type = type, .reclaimed = reclaimed ? Reclaimed::kYes : Reclaimed::kNo};
  const core::LeaseRequest lease = lease_request(c, wanted);
  std::optional<core::GrantedLease> granted;
  if (lease.bits != core::kLeaseNone) granted = c.env.state.grant_lease(file.id, {c.holder, {}}, lease);
  encode_delegation(c, keep_delegation(c, file, change, wanted, granted), true);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// Delegations as OPEN and WANT_DELEGATION give them out (RFC 8881 10.4, 18.16, 18.49; RFC 7530 10.4).
#pragma once

#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {

// open_delegation_type4
enum : std::uint32_t { kDelegationNone = 0, kDelegationRead = 1, kDelegationWrite = 2, kDelegationNoneExt = 3 };
// The wanted in share_access and wda_want
enum : std::uint32_t {
  kWantMask = 0xff00,
  kWantRead = 0x100,
  kWantWrite = 0x200,
  kWantAny = 0x300,
  kWantNone = 0x400,
  kWantCancel = 0x500
};
// why_no_delegation4
enum class NoDelegation : std::uint32_t {
  kNotWanted = 0,
  kContention = 1,
  kResource = 2,
  kNotSuppUpgrade = 5,
  kNotSuppDowngrade = 6,
  kCancelled = 7,
};

struct Delegated {
  StateRef delegation = nullptr;
  bool recalled = false;  // it is to be given back at once
  NoDelegation why = NoDelegation::kResource;
};

// State held before a restart is granted again even while the client cannot be called.
enum class Reclaimed : bool { kNo, kYes };
struct DelegationRequest {
  std::uint32_t type = kDelegationNone;
  Reclaimed reclaimed = Reclaimed::kNo;
  NoDelegation why = NoDelegation::kResource;  // when there is none
};
// The same as a request to the core. None: not wanted, or the client cannot be called.
core::LeaseRequest lease_request(Compound& c, const DelegationRequest& wanted);
// Encodes the lease that the core has granted, or the reason for none. `change`: of the file.
Delegated keep_delegation(Compound& c, const core::FileRef& file, std::uint64_t change, const DelegationRequest& wanted,
                          const std::optional<core::GrantedLease>& lease);
// Whether a client may claim opens under the delegation that this stateid names (10.4.1). kNoFile: of whichever file.
Nfs4Status check_delegation(Compound& c, Stateid stateid, core::FileId file);
// open_delegation4. `explain`: give the reason for none; not in minor version 0.
void encode_delegation(Compound& c, const Delegated& delegated, bool explain);

}  // namespace stoa::nfs4

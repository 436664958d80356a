// The arguments of OPEN (RFC 8881 18.16.1; RFC 7530 16.16.1), and the rules that need no look at the file.
#pragma once

#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/delegations.h"

namespace stoa::nfs4 {

enum class CreateHow : std::uint32_t { kUnchecked = 0, kGuarded = 1, kExclusive = 2, kExclusive41 = 3 };
enum class OpenClaim : std::uint32_t {
  kNull = 0,
  kPrevious = 1,
  kDelegateCur = 2,
  kDelegatePrev = 3,
  kFh = 4,
  kDelegCurFh = 5,
  kDelegPrevFh = 6,
};

struct OpenArguments {
  std::uint32_t seqid = 0;
  std::uint64_t client = 0;
  std::uint32_t access = 0, deny = 0, wants = 0;
  std::string_view owner;
  bool create = false;
  CreateHow how = CreateHow::kUnchecked;
  DecodedAttributes attributes{};
  std::uint64_t verifier = 0;
  OpenClaim claim = OpenClaim::kNull;
  Stateid delegation{};
  std::uint32_t held_delegation = kDelegationNone;  // to be had back
  std::string_view name;

  // By its name in the current directory; else it is the current file.
  bool names_file() const { return claim == OpenClaim::kNull || claim == OpenClaim::kDelegateCur; }
  // An open that the client has made by itself under its delegation (10.4.1).
  bool under_delegation() const { return claim == OpenClaim::kDelegateCur || claim == OpenClaim::kDelegCurFh; }
  bool reclaims() const { return claim == OpenClaim::kPrevious; }
  // A file that is there already is taken as it is, but for a size of zero (18.16.3).
  core::OpenDisposition disposition() const;
};

// kBadXdr.
Nfs4Status read_open_arguments(Compound& c, OpenArguments& arguments);
// There is a current filehandle.
Nfs4Status check_open_arguments(Compound& c, const OpenArguments& arguments);

}  // namespace stoa::nfs4

#include "frontends/nfs/v4/open_arguments.h"

#include "frontends/nfs/v4/grace.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

void read_create(Compound& c, OpenArguments& arguments) {
  rpc::XdrReader& in = c.in;
  const std::uint32_t how = in.u32();
  if (how > static_cast<std::uint32_t>(c.minor == 0 ? CreateHow::kExclusive : CreateHow::kExclusive41)) in.reject();
  arguments.how = static_cast<CreateHow>(how);
  if (arguments.how == CreateHow::kExclusive || arguments.how == CreateHow::kExclusive41) {
    arguments.verifier = in.u64();
  }
  if (arguments.how != CreateHow::kExclusive) {
    arguments.attributes = decode_attributes(in, c.minor, SetPurpose::kCreate, id_names(c));
  }
}

void read_claim(Compound& c, OpenArguments& arguments) {
  rpc::XdrReader& in = c.in;
  const std::uint32_t claim = in.u32();
  if (c.minor == 0 && claim > static_cast<std::uint32_t>(OpenClaim::kDelegatePrev)) in.reject();
  arguments.claim = static_cast<OpenClaim>(claim);
  switch (arguments.claim) {
    case OpenClaim::kNull:
    case OpenClaim::kDelegatePrev:
      arguments.name = c.read_name();
      break;
    case OpenClaim::kPrevious:
      arguments.held_delegation = in.u32();
      if (arguments.held_delegation > kDelegationWrite) in.reject();
      break;
    case OpenClaim::kDelegateCur:
      arguments.delegation = read_stateid(in);
      arguments.name = c.read_name();
      break;
    case OpenClaim::kDelegCurFh:
      arguments.delegation = read_stateid(in);
      break;
    case OpenClaim::kFh:
    case OpenClaim::kDelegPrevFh:
      break;
    default:
      in.reject();
  }
}

}  // namespace

core::OpenDisposition OpenArguments::disposition() const {
  if (!create) return core::OpenDisposition::kOpen;
  switch (how) {
    case CreateHow::kGuarded:
      return core::OpenDisposition::kCreate;
    case CreateHow::kExclusive:
    case CreateHow::kExclusive41:
      return core::OpenDisposition::kCreateExclusive;
    case CreateHow::kUnchecked:
      break;
  }
  const bool cuts = attributes.set.size == std::uint64_t{0};
  return cuts ? core::OpenDisposition::kOverwriteOrCreate : core::OpenDisposition::kOpenOrCreate;
}

Nfs4Status read_open_arguments(Compound& c, OpenArguments& arguments) {
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
  if (arguments.create) read_create(c, arguments);
  read_claim(c, arguments);
  return in.ok() ? Nfs4Status::kOk : Nfs4Status::kBadXdr;
}

Nfs4Status check_open_arguments(Compound& c, const OpenArguments& arguments) {
  if (arguments.access == core::kShareNone || arguments.access > core::kShareBoth ||
      arguments.deny > core::kShareBoth) {
    return Nfs4Status::kInval;
  }
  if (arguments.create && arguments.claim != OpenClaim::kNull) return Nfs4Status::kInval;
  const bool named = arguments.names_file();
  const auto current = c.file(named && !arguments.create ? Nfs4Status::kIsDir : Nfs4Status::kRoFs);
  if (current.status != Nfs4Status::kOk) return current.status;
  // Delegations of an earlier incarnation of the client are not kept (10.2.1).
  if (arguments.claim == OpenClaim::kDelegatePrev || arguments.claim == OpenClaim::kDelegPrevFh) {
    return Nfs4Status::kNotSupp;
  }
  if (named) {
    if (const auto status = check_name(arguments.name); status != Nfs4Status::kOk) return status;
  }
  if (arguments.attributes.status != Nfs4Status::kOk) return arguments.attributes.status;
  if (arguments.how == CreateHow::kExclusive41 &&
      arguments.attributes.given.exceeds(exclusive_create_attributes(c.minor))) {
    return Nfs4Status::kInval;
  }
  return check_grace(c, arguments.reclaims());
}

}  // namespace stoa::nfs4

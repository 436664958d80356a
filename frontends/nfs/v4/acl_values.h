// Attributes acl and dacl on the wire (RFC 8881 6.2): nfsace4<>, and nfsacl41 for dacl.
#pragma once

#include "core/api/acl.h"
#include "frontends/nfs/rpc/xdr.h"
#include "frontends/nfs/v4/id_names.h"

namespace stoa::nfs4 {

enum class AclForm : std::uint8_t { kAcl, kDacl };  // acl knows neither flags of the list nor ACE4_INHERITED_ACE

void put_acl(rpc::XdrWriter& out, AclForm form, const core::Acl& acl, const IdNames& names);

// Reads all of it, even after an error. Errors: kAttrNotSupp (AUDIT and ALARM), kInval (unknown types, flags, rights),
// kBadOwner (neither known nor of the shape name@domain or S-1-...), kNoSpc (over the limit). Unresolved identities are
// kept as text.
struct DecodedAcl {
  Nfs4Status status = Nfs4Status::kOk;
  core::Acl acl{};
};
DecodedAcl read_acl(rpc::XdrReader& in, AclForm form, const IdNames& names);

}  // namespace stoa::nfs4

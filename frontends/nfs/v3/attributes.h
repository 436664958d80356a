// fattr3, sattr3 and weak cache consistency data on the wire (RFC 1813 2.5 and 2.6).
#pragma once

#include <optional>

#include "core/api/attributes.h"
#include "frontends/nfs/rpc/xdr.h"

namespace stoa::nfs3 {

inline constexpr std::size_t kAttributesBytes = 84;  // fattr3

// nfstime3 is unsigned: times before 1970 are shown as its first moment, those after 2106 as its last.
void encode_time(rpc::XdrWriter& out, Timestamp time);
void encode_attributes(rpc::XdrWriter& out, const core::Attributes& attr, std::uint64_t fsid);
void encode_post_op(rpc::XdrWriter& out, const core::Attributes* attr, std::uint64_t fsid);
void encode_wcc(rpc::XdrWriter& out, const core::BeforeAttributes* before, const core::Attributes* after,
                std::uint64_t fsid);

// A time with 10^9 nanoseconds or more is no time: nothing is returned, and the reader stays good.
std::optional<Timestamp> decode_time(rpc::XdrReader& in);

struct DecodedAttributes {
  core::SetAttributes set{};
  bool valid = true;  // false: well-formed on the wire, but not to be carried out (NFS3ERR_INVAL)
};
DecodedAttributes decode_set_attributes(rpc::XdrReader& in);

}  // namespace stoa::nfs3

#include "frontends/nfs/v4/compare_attributes.h"

#include <algorithm>

#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/pseudo_root.h"

namespace stoa::nfs4 {
namespace {

Nfs4Status encode_current(Compound& c, const Bitmap& wanted) {
  if (c.current->pseudo_root()) {
    const core::Attributes attr = pseudo_root_attributes(c);
    return encode_attributes(c, wanted, pseudo_root_subject(attr));
  }
  const auto reply = c.ns.getattr(c.ctx, {.id = c.current->ref.id});
  if (!reply) return c.status_of(reply.error());
  return encode_attributes(c, wanted, subject_in_export(c, reply->attr));
}

}  // namespace

Nfs4Status compare_attributes(Compound& c) {
  const Bitmap given = Bitmap::decode(c.in);
  const auto values = c.in.opaque(~std::uint32_t{0});
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (given.exceeds(supported_attributes(c.minor))) return Nfs4Status::kAttrNotSupp;
  // Attributes that can only be set, or that are no property of the object.
  if (given.meets(kWriteOnly) || given.has(Attr::kRdattrError)) return Nfs4Status::kInval;
  if (values.size() < attribute_value_bytes_min(given)) return Nfs4Status::kBadXdr;

  // There is one way to write each value, so the bytes can be compared.
  const std::size_t begin = c.out.size();
  const Nfs4Status status = encode_current(c, given);
  bool same = false;
  if (status == Nfs4Status::kOk) {
    const std::size_t values_at = begin + given.encoded_bytes() + 4;
    same = std::ranges::equal(c.out.written_since(values_at), values);
  }
  c.out.truncate(begin);
  if (status != Nfs4Status::kOk) return status;
  return same ? Nfs4Status::kSame : Nfs4Status::kNotSame;
}

}  // namespace stoa::nfs4

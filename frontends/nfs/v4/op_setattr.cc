// RFC 8881 18.30
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

Nfs4Status set_attributes(Compound& c, const Stateid& stateid, const DecodedAttributes& wanted) {
  const auto file = c.file();
  if (file.status != Nfs4Status::kOk) return file.status;
  if (wanted.status != Nfs4Status::kOk) return wanted.status;
  // The stateid counts for a size only.
  if (wanted.set.size) {
    if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, true); bad != Nfs4Status::kOk) return bad;
  }
  if (wanted.given.empty()) {
    const auto now = c.ns.getattr(c.ctx, {.id = file.id});
    return now ? Nfs4Status::kOk : c.status_of(now.error());
  }

  const auto reply = c.ns.setattr(c.ctx, {.id = file.id, .set = wanted.set});
  if (reply) return Nfs4Status::kOk;
  const Errc code = reply.error().code;
  // The list of errors has no ISDIR since 4.1.
  if (code == Errc::kIsDirectory) return c.minor == 0 ? Nfs4Status::kIsDir : Nfs4Status::kWrongType;
  const Nfs4Status status = data_status(c, file.id, reply.error());
  return status == Nfs4Status::kSymlink ? Nfs4Status::kWrongType : status;  // nor SYMLINK
}

}  // namespace

Nfs4Status op_setattr(Compound& c) {
  c.error_body = true;  // attrsset
  const Stateid stateid = read_stateid(c.in);
  const DecodedAttributes wanted = decode_attributes(c.in, c.minor, SetPurpose::kSetattr, id_names(c));
  const Nfs4Status status = c.in.ok() ? set_attributes(c, stateid, wanted) : Nfs4Status::kBadXdr;
  // All or nothing was set.
  const Bitmap set = status == Nfs4Status::kOk ? wanted.given : Bitmap{};
  set.encode(c.out);
  return status;
}

}  // namespace stoa::nfs4

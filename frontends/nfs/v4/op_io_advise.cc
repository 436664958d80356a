// RFC 7862 15.5: advice is heard, and none of it is promised to be followed.
#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_io_advise(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  c.in.u64();  // offset
  c.in.u64();  // count
  Bitmap::decode(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, false); bad != Nfs4Status::kOk) return bad;

  Bitmap{}.encode(c.out);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

// RFC 7862 15.4
#include <algorithm>

#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_deallocate(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  const std::uint64_t offset = c.in.u64();
  std::uint64_t length = c.in.u64();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (const Nfs4Status bad = check_io_stateid(c, stateid, file.id, true); bad != Nfs4Status::kOk) return bad;
  if (offset > ~std::uint64_t{0} - length) return Nfs4Status::kInval;

  // No file reaches behind the largest offset, so there is nothing to take away.
  if (offset <= core::kFileBytesMax) length = std::min(length, core::kFileBytesMax - offset);
  const auto reply = c.ns.punch(c.ctx, {.id = file.id, .offset = offset, .length = length});
  return reply ? Nfs4Status::kOk : data_status(c, file.id, reply.error());
}

}  // namespace stoa::nfs4

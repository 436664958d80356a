// RFC 7862 15.13
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_clone(Compound& c) {
  const Stateid from_stateid = read_stateid(c.in);
  const Stateid to_stateid = read_stateid(c.in);
  const std::uint64_t from_offset = c.in.u64();
  const std::uint64_t to_offset = c.in.u64();
  const std::uint64_t count = c.in.u64();  // 0: to the end of the source
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto to = c.file(Nfs4Status::kIsDir);
  if (to.status != Nfs4Status::kOk) return to.status;
  const auto from = c.saved_file();
  if (from.status != Nfs4Status::kOk) return from.status;
  if (const Nfs4Status bad = check_io_stateid(c, from_stateid, from.id, false); bad != Nfs4Status::kOk) return bad;
  if (const Nfs4Status bad = check_io_stateid(c, to_stateid, to.id, true); bad != Nfs4Status::kOk) return bad;

  const auto reply = c.ns.copy_range(c.ctx, {.from = from.id,
                                             .from_offset = from_offset,
                                             .to = to.id,
                                             .to_offset = to_offset,
                                             .length = count,
                                             .share = true});
  if (reply) return Nfs4Status::kOk;
  // The wrong type of either.
  const Nfs4Status status = data_status(c, to.id, reply.error());
  return status == Nfs4Status::kInval ? data_status(c, from.id, reply.error()) : status;
}

}  // namespace stoa::nfs4

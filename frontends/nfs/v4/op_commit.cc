// RFC 8881 18.3
#include "frontends/nfs/v4/object_type.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_commit(Compound& c) {
  const std::uint64_t offset = c.in.u64();
  const std::uint32_t count = c.in.u32();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  const auto file = c.file(Nfs4Status::kIsDir);
  if (file.status != Nfs4Status::kOk) return file.status;
  if (offset > ~std::uint64_t{0} - count) return Nfs4Status::kInval;

  const auto reply = c.ns.commit(c.ctx, {.id = file.id, .offset = offset, .length = count});
  if (!reply) return data_status(c, file.id, reply.error());

  c.out.u64(reply->verifier);
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

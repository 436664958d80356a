// RFC 7862 15.9
#include "frontends/nfs/v4/offloads.h"
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {

Nfs4Status op_offload_status(Compound& c) {
  const Stateid stateid = read_stateid(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (c.env.offloads == nullptr || c.client == nullptr) return Nfs4Status::kBadStateId;
  const auto progress = c.env.offloads->progress(*c.client, stateid);
  if (!progress) return Nfs4Status::kBadStateId;
  c.out.u64(progress->bytes);
  c.out.u32(progress->result ? 1 : 0);
  if (progress->result) c.out.u32(static_cast<std::uint32_t>(*progress->result));
  return Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

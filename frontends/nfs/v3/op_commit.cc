// RFC 1813 3.3.21
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_commit(Operation& op) {
  const auto handle = op.read_handle();
  const std::uint64_t offset = op.in.u64();
  const std::uint32_t count = op.in.u32();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_wcc(id.error());

  const auto reply = op.ns.commit(op.ctx, {.id = *id, .offset = offset, .length = count});
  if (!reply) {
    const bool directory = reply.error().code == Errc::kIsDirectory;
    return op.failed_with_wcc(directory ? NfsStatus::kInval : op.status_of(reply.error()), *id);
  }

  op.ok();
  op.wcc(reply->before, reply->attr);
  op.out.u64(reply->verifier);
  return {};
}

}  // namespace stoa::nfs3

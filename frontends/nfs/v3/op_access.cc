// RFC 1813 3.3.4
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_access(Operation& op) {
  constexpr std::uint32_t kKnown = core::kAccessRead | core::kAccessLookup | core::kAccessModify | core::kAccessExtend |
                                   core::kAccessDelete | core::kAccessExecute;
  constexpr std::uint32_t kChanging = core::kAccessModify | core::kAccessExtend | core::kAccessDelete;
  const auto handle = op.read_handle();
  const std::uint32_t wanted = op.in.u32();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_attributes(id.error());

  const auto reply = op.ns.access(op.ctx, {.id = *id, .wanted = wanted & kKnown});
  if (!reply) return op.failed_with_attributes(reply.error(), *id);

  op.ok();
  op.post_op(reply->attr);
  // Rights that a read-only export would refuse are not granted.
  op.out.u32(op.ctx.read_only ? reply->granted & ~kChanging : reply->granted);
  return {};
}

}  // namespace stoa::nfs3

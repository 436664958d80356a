// RFC 1813 3.3.19
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_fsinfo(Operation& op) {
  enum : std::uint32_t { kLink = 0x01, kSymlink = 0x02, kHomogeneous = 0x08, kCanSetTime = 0x10 };
  constexpr std::uint32_t kMultiple = 4096;  // of the sizes that are served best
  constexpr std::uint32_t kListPreferred = 64u << 10;
  const auto handle = op.read_handle();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle, true);
  if (!id) return op.failed_with_attributes(id.error());

  const auto reply = op.ns.getattr(op.ctx, {.id = *id});
  if (!reply) return op.failed_with_attributes(reply.error());

  op.ok();
  op.post_op(reply->attr);
  for (int direction = 0; direction < 2; ++direction) {  // read, then write
    op.out.u32(kIoBytesMax);
    op.out.u32(kIoBytesMax);
    op.out.u32(kMultiple);
  }
  op.out.u32(kListPreferred);
  op.out.u64(core::kFileBytesMax);
  op.out.u32(0);  // time_delta: one nanosecond
  op.out.u32(1);
  op.out.u32(kLink | kSymlink | kHomogeneous | kCanSetTime);
  return {};
}

}  // namespace stoa::nfs3

// RFC 1813 3.3.7
#include <algorithm>

#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {
namespace {

enum class Stable : std::uint32_t { kUnstable = 0, kDataSync = 1, kFileSync = 2 };

}  // namespace

rpc::Outcome op_write(Operation& op) {
  const auto handle = op.read_handle();
  const std::uint64_t offset = op.in.u64();
  const std::uint32_t count = op.in.u32();
  const std::uint32_t stable = op.in.u32();
  const auto data = op.in.opaque(~std::uint32_t{0});
  if (!op.in.ok() || stable > static_cast<std::uint32_t>(Stable::kFileSync)) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_wcc(id.error());
  // "The size of data must equal count": the meaning of any other value is unknown.
  if (count != data.size()) return op.failed_with_wcc(NfsStatus::kInval, *id);
  if (offset > core::kFileBytesMax || count > core::kFileBytesMax - offset) {
    return op.failed_with_wcc(NfsStatus::kFBig, *id);
  }

  const bool unstable = stable == static_cast<std::uint32_t>(Stable::kUnstable);
  op.ctx.durability = unstable ? core::Durability::kApplied : core::Durability::kDurable;
  const std::span<const std::byte> buffers[] = {data.first(std::min<std::size_t>(data.size(), kIoBytesMax))};
  const auto reply = op.ns.write(op.ctx, {.id = *id, .offset = offset, .data = buffers, .memory = op.lend(buffers[0])});
  if (!reply) {
    const bool directory = reply.error().code == Errc::kIsDirectory;
    return op.failed_with_wcc(directory ? NfsStatus::kInval : op.status_of(reply.error()), *id);
  }

  op.ok();
  op.wcc(reply->before, reply->attr);
  op.out.u32(static_cast<std::uint32_t>(reply->length));
  op.out.u32(static_cast<std::uint32_t>(unstable ? Stable::kUnstable : Stable::kFileSync));
  op.out.u64(reply->verifier);
  return {};
}

}  // namespace stoa::nfs3

// RFC 8881 18.1, RFC 8276 8.5
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kXattrBits = core::kAccessReadXattrs | core::kAccessWriteXattrs | core::kAccessListXattrs;
constexpr std::uint32_t kFileBits =
    core::kAccessRead | core::kAccessModify | core::kAccessExtend | core::kAccessExecute;
constexpr std::uint32_t kDirectoryBits =
    core::kAccessRead | core::kAccessLookup | core::kAccessModify | core::kAccessExtend | core::kAccessDelete;

Nfs4Status answer(Compound& c, std::uint32_t supported, std::uint32_t granted) {
  c.out.u32(supported);
  c.out.u32(granted & supported);
  return Nfs4Status::kOk;
}

}  // namespace

Nfs4Status op_access(Compound& c) {
  const std::uint32_t wanted = c.in.u32();
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  const std::uint32_t known = kFileBits | kDirectoryBits | (c.minor >= 2 ? kXattrBits : 0);
  if ((wanted & ~known) != 0) return Nfs4Status::kInval;
  if (c.current->pseudo_root()) {
    return answer(c, wanted & (kDirectoryBits | kXattrBits), core::kAccessRead | core::kAccessLookup);
  }
  const auto reply = c.ns.access(c.ctx, {.id = c.current->ref.id, .wanted = wanted});
  if (!reply) return c.status_of(reply.error());
  // Only bits with a meaning for the type can be answered.
  const std::uint32_t own = reply->attr.type == core::FileType::kDirectory ? kDirectoryBits : kFileBits;
  return answer(c, wanted & (own | kXattrBits), reply->granted);
}

}  // namespace stoa::nfs4

// RFC 8881 18.1, RFC 8276 8.5
#include "frontends/nfs/v4/operations.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kReadXattr = 0x40, kWriteXattr = 0x80, kListXattrs = 0x100 };
constexpr std::uint32_t kXattrBits = kReadXattr | kWriteXattr | kListXattrs;
constexpr std::uint32_t kFileBits =
    core::kAccessRead | core::kAccessModify | core::kAccessExtend | core::kAccessExecute;
constexpr std::uint32_t kDirectoryBits =
    core::kAccessRead | core::kAccessLookup | core::kAccessModify | core::kAccessExtend | core::kAccessDelete;
constexpr std::uint32_t kKnownBits = kFileBits | kDirectoryBits;
constexpr std::uint32_t kChangingBits = core::kAccessModify | core::kAccessExtend | core::kAccessDelete | kWriteXattr;

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
  const std::uint32_t known = kKnownBits | (c.minor >= 2 ? kXattrBits : 0);
  if ((wanted & ~known) != 0) return Nfs4Status::kInval;
  if (c.current->pseudo_root()) {
    return answer(c, wanted & (kDirectoryBits | kXattrBits), core::kAccessRead | core::kAccessLookup);
  }

  // Extended attributes are read and written by those who may read and write the object itself.
  std::uint32_t asked = wanted & kKnownBits;
  if ((wanted & (kReadXattr | kListXattrs)) != 0) asked |= core::kAccessRead;
  if ((wanted & kWriteXattr) != 0) asked |= core::kAccessModify;
  const auto reply = c.ns.access(c.ctx, {.id = c.current->ref.id, .wanted = asked});
  if (!reply) return to_nfs4_status(reply.error().code);

  std::uint32_t granted = reply->granted;
  if ((granted & core::kAccessRead) != 0) granted |= kReadXattr | kListXattrs;
  if ((granted & core::kAccessModify) != 0) granted |= kWriteXattr;
  // What a read-only export would refuse is not granted.
  if (c.ctx.read_only) granted &= ~kChangingBits;
  // What has no meaning for the type cannot be answered.
  const std::uint32_t own = reply->attr.type == core::FileType::kDirectory ? kDirectoryBits : kFileBits;
  return answer(c, wanted & (own | kXattrBits), granted);
}

}  // namespace stoa::nfs4

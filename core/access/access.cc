#include "core/access/access.h"

namespace stoa::core {
namespace {
constexpr std::uint32_t kSticky = 01000;
constexpr std::uint32_t kAnyExecute = 0111;
}  // namespace

std::uint32_t permissions(const Credentials& cred, const Inode& inode) {
  if (cred.is_superuser()) {
    // The superuser may execute a file only when somebody may; directories are searched freely.
    const bool execute = inode.is_directory() || (inode.mode & kAnyExecute) != 0;
    return kMayRead | kMayWrite | (execute ? kMayExecute : 0u);
  }
  if (cred.uid == inode.uid) return inode.mode >> 6 & 7;
  if (cred.in_group(inode.gid)) return inode.mode >> 3 & 7;
  return inode.mode & 7;
}

Status require(const OpContext& ctx, const Inode& inode, std::uint32_t wanted) {
  if ((permissions(ctx.cred, inode) & wanted) != wanted) return fail(Errc::kAccess);
  return {};
}

Status require_io(const OpContext& ctx, const Inode& inode, std::uint32_t wanted) {
  if (ctx.cred.uid == inode.uid) return {};
  const std::uint32_t have = permissions(ctx.cred, inode);
  if ((have & wanted) == wanted) return {};
  if (wanted == kMayRead && (have & kMayExecute) != 0) return {};
  return fail(Errc::kAccess);
}

Status require_owner(const OpContext& ctx, const Inode& inode) {
  if (ctx.cred.is_superuser() || ctx.cred.uid == inode.uid) return {};
  return fail(Errc::kNotOwner);
}

Status require_writable(const OpContext& ctx) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  return {};
}

Status require_sticky(const OpContext& ctx, const Inode& dir, const Inode& victim) {
  if ((dir.mode & kSticky) == 0 || ctx.cred.is_superuser()) return {};
  if (ctx.cred.uid == dir.uid || ctx.cred.uid == victim.uid) return {};
  return fail(Errc::kNotOwner);
}

std::uint32_t access_bits(const OpContext& ctx, const Inode& inode) {
  const std::uint32_t have = permissions(ctx.cred, inode);
  std::uint32_t bits = 0;
  if ((have & kMayRead) != 0) bits |= kAccessRead;
  if ((have & kMayWrite) != 0 && !ctx.read_only) {
    bits |= kAccessModify | kAccessExtend;
    if (inode.is_directory()) bits |= kAccessDelete;
  }
  if ((have & kMayExecute) != 0) bits |= inode.is_directory() ? kAccessLookup : kAccessExecute;
  return bits;
}

}  // namespace stoa::core

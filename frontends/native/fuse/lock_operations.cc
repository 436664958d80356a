// Operations on byte-range locks and flock, but waiting (lock_waits.h).
#include <fcntl.h>

#include "frontends/native/fuse/operations.h"

namespace stoa::native::fuse {
namespace {

// The kernel's last byte of a range that has no end.
constexpr std::uint64_t kOffsetMax = (std::uint64_t{1} << 63) - 1;

std::optional<core::LockRange> range_of(const fuse_file_lock& lock) {
  if (lock.start > lock.end || lock.end > kOffsetMax) return std::nullopt;
  if (lock.end == kOffsetMax) return core::LockRange{.offset = lock.start};
  return core::LockRange{.offset = lock.start, .length = lock.end - lock.start + 1};
}

fuse_file_lock kernel_lock(const LockCall& lock) {
  fuse_file_lock out{};
  out.start = lock.range.offset;
  out.end = kOffsetMax;
  if (lock.range.length != core::LockRange::kToEnd && lock.range.length != 0 &&
      lock.range.length - 1 <= kOffsetMax - lock.range.offset) {
    out.end = lock.range.offset + lock.range.length - 1;
  }
  out.type = lock.exclusive ? F_WRLCK : F_RDLCK;
  out.pid = lock.pid;
  return out;
}

}  // namespace

std::optional<LockWish> parse_lock(Exchange& x) {
  const auto in = x.in.take<fuse_lk_in>();
  if (!in) return std::nullopt;
  const auto range = range_of(in->lk);
  if (!range) return std::nullopt;
  if (in->lk.type != F_RDLCK && in->lk.type != F_WRLCK && in->lk.type != F_UNLCK) return std::nullopt;
  return LockWish{.lock = {.file = x.open_file(in->fh),
                           .owner = in->owner,
                           .range = *range,
                           .exclusive = in->lk.type == F_WRLCK,
                           .flock = (in->lk_flags & FUSE_LK_FLOCK) != 0,
                           .pid = in->lk.pid},
                  .unlock = in->lk.type == F_UNLCK};
}

Answer handle_getlk(Exchange& x) {
  const auto wish = parse_lock(x);
  if (!wish) return x.malformed();
  const auto held = x.fs.get_lock(x.call, wish->lock);
  if (!held) return x.failed(held.error());
  fuse_lk_out out{};
  out.lk.type = F_UNLCK;
  if (*held) out.lk = kernel_lock(**held);
  return x.with(out);
}

Answer handle_setlk(Exchange& x) {
  const auto wish = parse_lock(x);
  if (!wish) return x.malformed();
  if (wish->unlock) return x.done(x.fs.unlock(x.call, wish->lock));
  const auto granted = x.fs.set_lock(x.call, wish->lock, false);
  if (!granted) return x.failed(granted.error());
  return {.error = *granted ? 0 : EAGAIN};
}

}  // namespace stoa::native::fuse

#include "frontends/native/lib/open_flags.h"

namespace stoa::native::lib {

Status check_flags(int flags) {
  constexpr int kServed =
      O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_NOFOLLOW | O_SYNC | O_DSYNC | O_CLOEXEC | O_TMPFILE;
  if ((flags & ~kServed) != 0 || (flags & O_ACCMODE) == O_ACCMODE) return fail(Errc::kInvalid);
  if ((flags & O_DIRECTORY) != 0 && !is_nameless(flags)) return fail(Errc::kInvalid);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  // open(2): a nameless file that cannot be written is of no use. O_TRUNC of a file that is only read is undefined.
  if (is_nameless(flags) && (!writes || (flags & (O_CREAT | O_TRUNC)) != 0)) return fail(Errc::kInvalid);
  if ((flags & O_TRUNC) != 0 && !writes) return fail(Errc::kInvalid);
  if ((flags & O_EXCL) != 0 && (flags & O_CREAT) == 0) return fail(Errc::kInvalid);
  return {};
}

std::uint32_t share_access(int flags) {
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return core::kShareRead;
    case O_WRONLY:
      return core::kShareWrite;
    default:
      return core::kShareBoth;
  }
}

core::OpenDisposition disposition(int flags) {
  const bool truncates = (flags & O_TRUNC) != 0;
  if (is_nameless(flags)) return core::OpenDisposition::kCreateNameless;
  if ((flags & O_CREAT) == 0) return truncates ? core::OpenDisposition::kOverwrite : core::OpenDisposition::kOpen;
  if ((flags & O_EXCL) != 0) return core::OpenDisposition::kCreate;
  return truncates ? core::OpenDisposition::kOverwriteOrCreate : core::OpenDisposition::kOpenOrCreate;
}

}  // namespace stoa::native::lib

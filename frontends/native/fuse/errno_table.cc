#include "frontends/native/fuse/errno_table.h"

#include <cerrno>

namespace stoa::native::fuse {

int errno_of(Errc code) {
  switch (code) {
    case Errc::kNotFound:
      return ENOENT;
    case Errc::kExists:
      return EEXIST;
    case Errc::kNotDirectory:
      return ENOTDIR;
    case Errc::kIsDirectory:
      return EISDIR;
    case Errc::kNotEmpty:
      return ENOTEMPTY;
    case Errc::kAccess:
      return EACCES;
    case Errc::kNotOwner:
      return EPERM;
    case Errc::kReadOnly:
      return EROFS;
    case Errc::kInvalid:
      return EINVAL;
    case Errc::kNameTooLong:
      return ENAMETOOLONG;
    case Errc::kWrongType:
      return EINVAL;
    case Errc::kQuota:
      return EDQUOT;
    case Errc::kNoSpace:
      return ENOSPC;
    case Errc::kFileTooBig:
      return EFBIG;
    case Errc::kTooManyLinks:
      return EMLINK;
    case Errc::kCrossDevice:
      return EXDEV;
    case Errc::kBadHandle:
      return ESTALE;
    case Errc::kStale:
      return ESTALE;
    case Errc::kBadCookie:
      return EINVAL;
    case Errc::kGuardMismatch:
      return EAGAIN;
    case Errc::kPreconditionFailed:
      return EAGAIN;
    case Errc::kNoAttribute:
      return ENODATA;
    case Errc::kTooLarge:
      return E2BIG;
    case Errc::kNoMoreData:
      return ENXIO;
    case Errc::kNotSupported:
      return EOPNOTSUPP;
    case Errc::kRecallPending:
      return EAGAIN;
    case Errc::kLeaseLost:
      return EIO;
    case Errc::kShareConflict:
      return EBUSY;
    case Errc::kLocked:
      return EAGAIN;
    case Errc::kDeadlock:
      return EDEADLK;
    case Errc::kBusy:
      return ENOLCK;
    case Errc::kTimeout:
      return ETIMEDOUT;
    case Errc::kIo:
      return EIO;
    case Errc::kCorrupt:
      return EIO;
    case Errc::kShutdown:
      return EIO;
  }
  return EIO;
}

int errno_of(const Error& error) {
  // ENOSYS would make the kernel give up the whole operation for the life of the mount.
  if (error.sys_errno > 0 && error.sys_errno < 512 && error.sys_errno != ENOSYS) return error.sys_errno;
  return errno_of(error.code);
}

}  // namespace stoa::native::fuse

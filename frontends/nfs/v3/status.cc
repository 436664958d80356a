#include "frontends/nfs/v3/status.h"

namespace stoa::nfs3 {

NfsStatus to_nfs_status(Errc code) {
  switch (code) {
    case Errc::kNotFound:
      return NfsStatus::kNoEnt;
    case Errc::kExists:
      return NfsStatus::kExist;
    case Errc::kNotDirectory:
      return NfsStatus::kNotDir;
    case Errc::kIsDirectory:
      return NfsStatus::kIsDir;
    case Errc::kNotEmpty:
      return NfsStatus::kNotEmpty;
    case Errc::kAccess:
    case Errc::kShareConflict:
      return NfsStatus::kAccess;
    case Errc::kNotOwner:
      return NfsStatus::kPerm;
    case Errc::kReadOnly:
      return NfsStatus::kRoFs;
    case Errc::kInvalid:
      return NfsStatus::kInval;
    case Errc::kNameTooLong:
      return NfsStatus::kNameTooLong;
    case Errc::kWrongType:
      return NfsStatus::kInval;
    case Errc::kQuota:
      return NfsStatus::kDQuot;
    case Errc::kNoSpace:
      return NfsStatus::kNoSpc;
    case Errc::kFileTooBig:
      return NfsStatus::kFBig;
    case Errc::kTooManyLinks:
      return NfsStatus::kMLink;
    case Errc::kCrossDevice:
      return NfsStatus::kXDev;
    case Errc::kBadHandle:
      return NfsStatus::kBadHandle;
    case Errc::kStale:
      return NfsStatus::kStale;
    case Errc::kBadCookie:
      return NfsStatus::kBadCookie;
    case Errc::kGuardMismatch:
      return NfsStatus::kNotSync;
    case Errc::kNotSupported:
      return NfsStatus::kNotSupp;
    // No call of this protocol uses conditions that fail with these; they would be a mistake of
    // ours.
    case Errc::kPreconditionFailed:
    case Errc::kNoAttribute:
    case Errc::kNoMoreData:
    case Errc::kDeadlock:
      return NfsStatus::kServerFault;
    case Errc::kTooLarge:
      return NfsStatus::kInval;
    // The client waits and asks again (RFC 1813 2.6, NFS3ERR_JUKEBOX).
    case Errc::kRecallPending:
    case Errc::kLeaseLost:
    case Errc::kLocked:
    case Errc::kBusy:
    case Errc::kTimeout:
    case Errc::kShutdown:
      return NfsStatus::kJukebox;
    case Errc::kIo:
    case Errc::kCorrupt:
      return NfsStatus::kIo;
  }
  return NfsStatus::kServerFault;
}

}  // namespace stoa::nfs3

#include "frontends/nfs/nlm/status.h"

namespace stoa::nlm {

NlmStatus to_nlm_status(Errc code) {
  switch (code) {
    case Errc::kBadHandle:
    case Errc::kStale:
    case Errc::kNotFound:
      return NlmStatus::kStaleHandle;
    case Errc::kReadOnly:
      return NlmStatus::kReadOnly;
    case Errc::kShareConflict:
    case Errc::kLocked:
      return NlmStatus::kDenied;
    case Errc::kDeadlock:
      return NlmStatus::kDeadlock;
    case Errc::kFileTooBig:
      return NlmStatus::kTooBig;
    // Too many, or the host was freed meanwhile.
    case Errc::kBusy:
    case Errc::kNoSpace:
    case Errc::kQuota:
    case Errc::kInvalid:
      return NlmStatus::kDeniedNoLocks;
    // There is no status for "later"; clients wait and ask again while a server is in its grace period.
    case Errc::kRecallPending:
    case Errc::kLeaseLost:
    case Errc::kTimeout:
    case Errc::kShutdown:
      return NlmStatus::kDeniedGracePeriod;
    case Errc::kExists:
    case Errc::kNotDirectory:
    case Errc::kIsDirectory:
    case Errc::kNotEmpty:
    case Errc::kAccess:
    case Errc::kNotOwner:
    case Errc::kNameTooLong:
    case Errc::kWrongType:
    case Errc::kTooManyLinks:
    case Errc::kCrossDevice:
    case Errc::kBadCookie:
    case Errc::kGuardMismatch:
    case Errc::kPreconditionFailed:
    case Errc::kNoAttribute:
    case Errc::kTooLarge:
    case Errc::kNoMoreData:
    case Errc::kNotSupported:
    case Errc::kIo:
    case Errc::kCorrupt:
      return NlmStatus::kFailed;
  }
  return NlmStatus::kFailed;
}

}  // namespace stoa::nlm

#include "frontends/admin/http_status.h"

namespace stoa::admin {

unsigned http_status(Errc code) {
  switch (code) {
    case Errc::kNotFound:
    case Errc::kStale:
    case Errc::kNoAttribute:
      return 404;
    case Errc::kExists:
    case Errc::kNotEmpty:
    case Errc::kShareConflict:
    case Errc::kLocked:
    case Errc::kDeadlock:
      return 409;
    case Errc::kNotDirectory:
    case Errc::kIsDirectory:
    case Errc::kInvalid:
    case Errc::kNameTooLong:
    case Errc::kWrongType:
    case Errc::kCrossDevice:
    case Errc::kBadHandle:
    case Errc::kBadCookie:
    case Errc::kNoMoreData:
      return 400;
    case Errc::kAccess:
    case Errc::kNotOwner:
    case Errc::kReadOnly:
      return 403;
    case Errc::kGuardMismatch:
    case Errc::kPreconditionFailed:
      return 412;
    case Errc::kFileTooBig:
    case Errc::kTooLarge:
      return 413;
    case Errc::kQuota:
    case Errc::kNoSpace:
    case Errc::kTooManyLinks:
      return 507;
    case Errc::kNotSupported:
      return 501;
    case Errc::kRecallPending:
    case Errc::kLeaseLost:
    case Errc::kBusy:
    case Errc::kShutdown:
      return 503;
    case Errc::kTimeout:
      return 504;
    case Errc::kIo:
    case Errc::kCorrupt:
      return 500;
  }
  return 500;
}

}  // namespace stoa::admin

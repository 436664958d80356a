#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace stoa {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::kNotFound:
      return "not_found";
    case Errc::kExists:
      return "exists";
    case Errc::kNotDirectory:
      return "not_directory";
    case Errc::kIsDirectory:
      return "is_directory";
    case Errc::kNotEmpty:
      return "not_empty";
    case Errc::kAccess:
      return "access";
    case Errc::kNotOwner:
      return "not_owner";
    case Errc::kReadOnly:
      return "read_only";
    case Errc::kInvalid:
      return "invalid";
    case Errc::kNameTooLong:
      return "name_too_long";
    case Errc::kWrongType:
      return "wrong_type";
    case Errc::kQuota:
      return "quota";
    case Errc::kNoSpace:
      return "no_space";
    case Errc::kFileTooBig:
      return "file_too_big";
    case Errc::kTooManyLinks:
      return "too_many_links";
    case Errc::kCrossDevice:
      return "cross_device";
    case Errc::kBadHandle:
      return "bad_handle";
    case Errc::kStale:
      return "stale";
    case Errc::kBadCookie:
      return "bad_cookie";
    case Errc::kGuardMismatch:
      return "guard_mismatch";
    case Errc::kPreconditionFailed:
      return "precondition_failed";
    case Errc::kNoAttribute:
      return "no_attribute";
    case Errc::kTooLarge:
      return "too_large";
    case Errc::kNoMoreData:
      return "no_more_data";
    case Errc::kNotSupported:
      return "not_supported";
    case Errc::kRecallPending:
      return "recall_pending";
    case Errc::kShareConflict:
      return "share_conflict";
    case Errc::kLocked:
      return "locked";
    case Errc::kDeadlock:
      return "deadlock";
    case Errc::kBusy:
      return "busy";
    case Errc::kTimeout:
      return "timeout";
    case Errc::kIo:
      return "io";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kShutdown:
      return "shutdown";
  }
  return "unknown";
}

std::unexpected<Error> fail_errno(int sys_errno, std::string detail) {
  Errc code = Errc::kIo;
  switch (sys_errno) {
    case ENOSPC:
    case EDQUOT:
      code = Errc::kNoSpace;
      break;
    case ENOENT:
      code = Errc::kNotFound;
      break;
    case EEXIST:
      code = Errc::kExists;
      break;
    case EACCES:
    case EPERM:
      code = Errc::kAccess;
      break;
    case EFBIG:
      code = Errc::kFileTooBig;
      break;
    case EROFS:
      code = Errc::kReadOnly;
      break;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      code = Errc::kBusy;
      break;
    case ENXIO:
      code = Errc::kNoMoreData;
      break;
    default:
      break;
  }
  return std::unexpected<Error>(Error{code, sys_errno, std::move(detail)});
}

std::string describe(const Error& error) {
  std::string text(to_string(error.code));
  if (!error.detail.empty()) text += ": " + error.detail;
  if (error.sys_errno != 0) text += " (" + std::generic_category().message(error.sys_errno) + ")";
  return text;
}

}  // namespace stoa

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
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
    case Errc::kLeaseLost:
      return "lease_lost";
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

namespace {

struct KnownCause {
  std::string_view word;
  Errc code;
};

constexpr KnownCause kCauses[] = {
    {"", Errc{}},
#define STOA_CAUSE(name, word, code) {word, Errc::code},
#include "base/causes.def"
#undef STOA_CAUSE
};

}  // namespace

std::uint16_t cause_count() {
  return static_cast<std::uint16_t>(std::size(kCauses) - 1);
}

std::string_view to_string(Cause cause) {
  return kCauses[static_cast<std::size_t>(cause)].word;
}

Cause cause_of(std::string_view word) {
  const auto found = std::ranges::find(kCauses, word, &KnownCause::word);
  return found == std::end(kCauses) ? Cause::kNone : static_cast<Cause>(found - kCauses);
}

Errc code_of(Cause cause) {
  return kCauses[static_cast<std::size_t>(cause)].code;
}

std::unexpected<Error> fail_because(Cause cause, std::vector<std::string> arguments) {
  return std::unexpected<Error>(Error{.code = code_of(cause), .cause = cause, .arguments = std::move(arguments)});
}

std::string describe(const Error& error) {
  std::string text(to_string(error.code));
  if (error.cause != Cause::kNone) text.append(": ").append(to_string(error.cause));
  for (std::size_t i = 0; i < error.arguments.size(); ++i) text.append(i == 0 ? " [" : ", ").append(error.arguments[i]);
  if (!error.arguments.empty()) text += ']';
  if (!error.detail.empty()) text += ": " + error.detail;
  if (error.sys_errno != 0) text += " (" + std::generic_category().message(error.sys_errno) + ")";
  return text;
}

}  // namespace stoa

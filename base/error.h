// Errors: a code that protocols translate, a cause that people can act on, and a detail for the log.
// Each front end translates Errc once, in one table of its own.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoa {

enum class Errc : std::uint16_t {
  kNotFound = 1,        // no such name, object or record
  kExists,              // the name is taken
  kNotDirectory,        // a directory was needed
  kIsDirectory,         // anything but a directory was needed
  kNotEmpty,            // the directory has entries
  kAccess,              // permission bits or ACL refuse it
  kNotOwner,            // only the owner or the superuser may do it
  kReadOnly,            // the export, or the object, is read-only
  kInvalid,             // an argument has no meaning here (rename into itself, bad offset, bad name)
  kNameTooLong,         // a name is longer than kNameBytesMax
  kWrongType,           // the object's type does not allow it (readlink of a file)
  kQuota,               // a hard quota of the directory or of one above refuses it
  kNoSpace,             // the volume is full
  kFileTooBig,          // beyond kFileBytesMax
  kTooManyLinks,        // beyond kLinksMax
  kCrossDevice,         // the two objects are not of one volume
  kBadHandle,           // a handle that this volume never issued
  kStale,               // a handle of an object that is gone
  kBadCookie,           // a directory cookie that was never given out
  kGuardMismatch,       // the guard (ctime of SETATTR) does not match
  kPreconditionFailed,  // the object is not the version that the request expects
  kNoAttribute,         // no such extended attribute
  kTooLarge,            // a value, list or request is larger than its limit
  kNoMoreData,          // seek found neither data nor hole
  kNotSupported,        // known, and not supported
  kRecallPending,       // a lease must be recalled first; retry
  kLeaseLost,           // what was cached under a lease that is gone
  kShareConflict,       // another open denies it
  kLocked,              // a mandatory byte-range lock of another open forbids it
  kDeadlock,            // the wait would never end
  kBusy,                // a queue or pool is full; retry
  kTimeout,             // the deadline passed
  kIo,                  // the disk or the network below failed
  kCorrupt,             // stored bytes are damaged
  kShutdown,            // the server is stopping
};
inline constexpr std::uint16_t kErrcFirst = 1;
inline constexpr std::uint16_t kErrcLast = static_cast<std::uint16_t>(Errc::kShutdown);

// A stable lower-case word for logs and metrics, such as "not_found".
std::string_view to_string(Errc code);

// Why, more exactly than the code says it. The list is base/causes.def.
enum class Cause : std::uint16_t {
  kNone = 0,  // the code says it all
#define STOA_CAUSE(name, word, code) name,
#include "base/causes.def"
#undef STOA_CAUSE
};

std::uint16_t cause_count();              // numbers from 1 to this one are causes
std::string_view to_string(Cause cause);  // a stable word such as "user_owns_export"; empty: kNone
Cause cause_of(std::string_view word);    // kNone: there is no such word
Errc code_of(Cause cause);                // not of kNone

struct Error {
  Errc code;
  int sys_errno = 0;     // set only when a system call failed
  std::string detail{};  // for the log; no client ever sees it
  // kRecallPending: the file with the conflicting lease, as a number (StateTable::when_clear).
  std::uint64_t subject = 0;
  Cause cause = Cause::kNone;
  std::vector<std::string> arguments{};  // names and numbers that belong to the cause, as base/causes.def lists them
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};
using Status = Result<void>;

inline std::unexpected<Error> fail(Errc code, std::string detail = {}) {
  return std::unexpected<Error>(Error{code, 0, std::move(detail)});
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

inline std::string cause_argument(std::string_view text) {
  return std::string(text);
}
inline std::string cause_argument(std::integral auto number) {
  return std::to_string(number);
}
std::unexpected<Error> fail_because(Cause cause, std::vector<std::string> arguments);
// The failure for a cause with its arguments: names, and numbers without a unit.
template <class... Arguments>
std::unexpected<Error> fail(Cause cause, const Arguments&... arguments) {
  return fail_because(cause, {cause_argument(arguments)...});
}

// The failure of a system call: maps errno (ENOSPC, EDQUOT, EIO, ...) to an Errc and keeps it.
std::unexpected<Error> fail_errno(int sys_errno, std::string detail);

// "not_found: detail (errno text)" or "exists: name_taken [user, ann]", for logs.
std::string describe(const Error& error);

}  // namespace stoa

#define STOA_CONCAT_(a, b) a##b
#define STOA_CONCAT(a, b) STOA_CONCAT_(a, b)

// STOA_TRY(x, expr): declares x with the value of expr (a lock need not be used), or returns its error.
#define STOA_TRY(name, expr)                                                  \
  auto STOA_CONCAT(stoa_try_, __LINE__) = (expr);                             \
  if (!STOA_CONCAT(stoa_try_, __LINE__)) [[unlikely]]                         \
    return ::stoa::fail(std::move(STOA_CONCAT(stoa_try_, __LINE__)).error()); \
  [[maybe_unused]] auto&& name = *std::move(STOA_CONCAT(stoa_try_, __LINE__))

// STOA_CHECK_OK(expr): returns the error of expr, if any.
#define STOA_CHECK_OK(expr)                                   \
  do {                                                        \
    if (auto stoa_check_ = (expr); !stoa_check_) [[unlikely]] \
      return ::stoa::fail(std::move(stoa_check_).error());    \
  } while (false)
